// SPDX-License-Identifier: Apache-2.0
// Times one of kafka-clients' own assignors on one group, as a line of bench-assign --list describes it, and one event;
// prints a line as bench-assign does. See assign.sh. Time is that of the calling thread on a processor, which leaves out
// garbage collection.
import java.lang.management.ManagementFactory;
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.*;

public class JavaAssign {
	static final String[] RACKS = {"rack-a", "rack-b", "rack-c", "rack-d", "rack-e", "rack-f"};
	static final int RUNS = 5;
	static final double ENOUGH_MS = 3_000; // no further run after that much

	record Shape(String assignor, String pattern, int topics, int partitions, int members, boolean racks) {}

	public static void main(String[] args) {
		measure(new Shape(args[0], args[1], Integer.parseInt(args[2]), Integer.parseInt(args[3]), Integer.parseInt(args[4]),
			args[5].equals("1")), args[6]);
	}

	static AbstractPartitionAssignor assignor(String name) {
		return switch (name) {
			case "range" -> new RangeAssignor();
			case "roundrobin" -> new RoundRobinAssignor();
			case "sticky" -> new StickyAssignor();
			default -> new CooperativeStickyAssignor();
		};
	}

	static boolean subscribes(Shape s, int members, int member, int topic, Random random) {
		return switch (s.pattern) {
			case "narrow" -> member + 1 < members || topic == 0;
			case "buckets" -> member % 5 == topic % 5;
			case "half" -> member % 2 == 0 || topic < s.topics / 2;
			case "random" -> random.nextBoolean();
			case "sparse" -> random.nextInt(16) == 0;
			default -> true;
		};
	}

	static Map<String, List<PartitionInfo>> topics(Shape s) {
		Map<String, List<PartitionInfo>> result = new HashMap<>();
		Node[] nodes = new Node[RACKS.length];
		for (int i = 0; i < nodes.length; i++)
			nodes[i] = new Node(i, "", 1, s.racks ? RACKS[i] : null);
		for (int t = 0; t < s.topics; t++) {
			String name = String.format("t%06d", t);
			List<PartitionInfo> infos = new ArrayList<>();
			for (int p = 0; p < s.partitions; p++) {
				Node[] replicas = {nodes[p % 6], nodes[(p + 1) % 6], nodes[(p + 2) % 6]};
				infos.add(new PartitionInfo(name, p, replicas[0], replicas, replicas));
			}
			result.put(name, infos);
		}
		return result;
	}

	static Map<String, List<String>> members(Shape s, int members) {
		Random random = new Random(1);
		Map<String, List<String>> result = new TreeMap<>();
		for (int m = 0; m < members; m++) {
			int member = m;
			result.put(String.format("m%06d", m), IntStream.range(0, s.topics)
				.filter(t -> subscribes(s, members, member, t, random)).mapToObj(t -> String.format("t%06d", t)).collect(Collectors.toList()));
		}
		return result;
	}

	static Map<String, Subscription> subscriptions(Shape s, Map<String, List<String>> members,
			Map<String, List<TopicPartition>> owned) {
		Map<String, Subscription> result = new HashMap<>();
		int m = 0;
		for (Map.Entry<String, List<String>> member : members.entrySet()) {
			List<TopicPartition> own = owned.getOrDefault(member.getKey(), List.of());
			java.nio.ByteBuffer userdata = null;
			if (s.assignor.equals("sticky") && !own.isEmpty()) {
				StickyAssignor sticky = new StickyAssignor();
				sticky.onAssignment(new ConsumerPartitionAssignor.Assignment(own),
					new ConsumerGroupMetadata("g", 1, member.getKey(), Optional.empty()));
				userdata = sticky.subscriptionUserData(Set.of());
			}
			result.put(member.getKey(), new Subscription(member.getValue(), userdata, own, own.isEmpty() ? -1 : 1,
				Optional.ofNullable(s.racks ? RACKS[m % 6] : null)));
			m++;
		}
		return result;
	}

	static void measure(Shape s, String event) {
		Map<String, List<PartitionInfo>> topics = topics(s);
		Map<String, List<String>> members = members(s, event.equals("leave") ? s.members + 1 : s.members);
		Map<String, List<TopicPartition>> owned = Map.of();
		if (!event.equals("fresh")) {
			Map<String, List<String>> before = new TreeMap<>(members);
			if (event.equals("join"))
				before.remove(String.format("m%06d", s.members - 1));
			owned = assignor(s.assignor).assignPartitions(topics, subscriptions(s, before, Map.of()));
			if (event.equals("leave"))
				members.remove("m000000");
		}
		List<Double> times = new ArrayList<>();
		double total = 0;
		while (times.size() < RUNS && total < ENOUGH_MS) {
			Map<String, Subscription> subscriptions = subscriptions(s, members, owned);
			AbstractPartitionAssignor assignor = assignor(s.assignor);
			long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
			assignor.assignPartitions(topics, subscriptions);
			times.add((ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start) / 1e6);
			total += times.get(times.size() - 1);
		}
		Collections.sort(times);
		System.out.printf(Locale.ROOT, "java\t%s\t%s%s\t%d\t%d\t%s\t%.3f\t-%n", s.assignor, s.pattern, s.racks ? "+racks" : "",
			s.topics * s.partitions, s.members, event, times.get(times.size() / 2));
	}
}

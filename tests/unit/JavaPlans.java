// SPDX-License-Identifier: Apache-2.0
// Writes plans of kafka-clients' range and roundrobin for random groups, in the text of story.h. The committed file is made by
//     . tests/lib/maven.sh && java -cp "$(kafka_clients_dir)/*" tests/unit/JavaPlans.java > tests/unit/java_plans.txt
import java.util.*;
import java.util.stream.*;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.*;
import org.apache.kafka.clients.consumer.*;
import org.apache.kafka.clients.consumer.internals.AbstractPartitionAssignor;
import org.apache.kafka.common.*;

public class JavaPlans {
	static final String[] RACKS = {"a", "b", "c", "d"};

	public static void main(String[] args) {
		Random random = new Random(20260412);
		for (int i = 0; i < 400; i++)
			plan(random, i % 3 == 0 ? new RoundRobinAssignor() : new RangeAssignor(), i % 3 != 1);
	}

	static void plan(Random random, AbstractPartitionAssignor assignor, boolean racks) {
		int topics = 1 + random.nextInt(5), members = 1 + random.nextInt(6), rackCount = 1 + random.nextInt(4);
		// Equal sizes and equal subscriptions must be frequent: they make topics kin.
		int size = 1 + random.nextInt(7);
		boolean sameSize = random.nextInt(3) > 0, sameTopics = random.nextBoolean();
		Map<String, List<PartitionInfo>> infos = new HashMap<>();
		Map<String, Subscription> subscriptions = new HashMap<>();
		StringBuilder group = new StringBuilder();
		for (int t = 0; t < topics; t++) {
			int count = sameSize && random.nextInt(6) > 0 ? size : 1 + random.nextInt(9);
			String name = "t" + t;
			List<PartitionInfo> partitions = new ArrayList<>();
			List<String> rackTexts = new ArrayList<>();
			for (int p = 0; p < count; p++) {
				Node[] replicas = new Node[1 + random.nextInt(2)];
				for (int r = 0; r < replicas.length; r++)
					replicas[r] = new Node(r, "", 1, racks ? RACKS[random.nextInt(rackCount)] : null);
				partitions.add(new PartitionInfo(name, p, replicas[0], replicas, replicas));
				rackTexts.add(Arrays.stream(replicas).map(Node::rack).collect(Collectors.joining("+")));
			}
			infos.put(name, partitions);
			group.append(t == 0 ? "" : " ").append(name).append(':').append(count);
			if (racks)
				group.append(':').append(String.join("/", rackTexts));
		}
		List<String> everything = infos.keySet().stream().sorted().collect(Collectors.toList());
		for (int m = 0; m < members; m++) {
			String id = "c" + m, rack = racks && random.nextInt(5) > 0 ? RACKS[random.nextInt(RACKS.length)] : null;
			String instance = random.nextInt(4) == 0 ? "i" + random.nextInt(100) + m : null;
			List<String> names = sameTopics ? everything
				: everything.stream().filter(n -> random.nextInt(3) > 0).collect(Collectors.toList());
			Subscription subscription = new Subscription(names, null, List.of(), -1, Optional.ofNullable(rack));
			subscription.setGroupInstanceId(Optional.ofNullable(instance));
			subscriptions.put(id, subscription);
			group.append(" | ").append(id).append(instance == null ? "" : "@" + instance).append(rack == null ? "" : "%" + rack)
				.append(' ').append(names.isEmpty() ? "-" : String.join(",", names));
		}
		// Java is handed only topics that somebody subscribes to.
		Set<String> wanted = subscriptions.values().stream().flatMap(s -> s.topics().stream()).collect(Collectors.toSet());
		infos.keySet().retainAll(wanted);
		Map<String, List<TopicPartition>> plan = assignor.assignPartitions(infos, subscriptions);
		System.out.println(assignor.name() + "\n" + group + "\n" + text(plan));
	}

	static String text(Map<String, List<TopicPartition>> plan) {
		return new TreeMap<>(plan).entrySet().stream().map(entry -> {
			Map<String, List<Integer>> byTopic = new TreeMap<>();
			entry.getValue().forEach(p -> byTopic.computeIfAbsent(p.topic(), t -> new ArrayList<>()).add(p.partition()));
			return entry.getKey() + byTopic.entrySet().stream().map(e -> " " + e.getKey() + "-" + e.getValue().stream().sorted()
				.map(String::valueOf).collect(Collectors.joining(","))).collect(Collectors.joining());
		}).collect(Collectors.joining(" | "));
	}
}

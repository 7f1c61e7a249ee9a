// SPDX-License-Identifier: Apache-2.0
// A member by Kafka's own KafkaConsumer: BOOTSTRAP GROUP TOPIC COMMIT_MS [KEY=VALUE]…; events are JSON lines on stdout.

import java.io.FileOutputStream;
import java.io.FileDescriptor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public final class Member implements ConsumerRebalanceListener {
	private static final FileOutputStream OUT = new FileOutputStream(FileDescriptor.out);

	private static synchronized void tell(String event, String more) {
		Instant now = Instant.now();
		long us = now.getEpochSecond() * 1_000_000 + now.getNano() / 1000;
		String line = "{\"t_us\":" + us + ",\"src\":\"client\",\"event\":\"" + event + "\"" + more + "}\n";
		try {
			OUT.write(line.getBytes(StandardCharsets.US_ASCII));
		} catch (IOException e) {
			throw new java.io.UncheckedIOException(e);
		}
	}

	private static void tell(String event, Collection<TopicPartition> partitions) {
		if (partitions.isEmpty()) {
			tell(event, "");
			return;
		}
		String topic = partitions.iterator().next().topic();
		tell(event, ",\"partitions\":{\"" + topic + "\":"
			+ partitions.stream().map(p -> Integer.toString(p.partition())).collect(Collectors.joining(",", "[", "]")) + "}");
	}

	@Override
	public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
		tell("assigned", partitions);
	}

	@Override
	public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
		tell("revoked", partitions);
	}

	@Override
	public void onPartitionsLost(Collection<TopicPartition> partitions) {
		tell("lost", partitions);
	}

	private static void commit(KafkaConsumer<byte[], byte[]> consumer) {
		Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
		for (TopicPartition partition : consumer.assignment())
			offsets.put(partition, new OffsetAndMetadata(0));
		if (offsets.isEmpty())
			return;
		try {
			consumer.commitSync(offsets);
			tell("committed", "");
		} catch (WakeupException e) {
			throw e;
		} catch (RuntimeException e) {
			tell("commit_failed", ",\"error\":\"" + e.getClass().getSimpleName() + "\"");
		}
	}

	public static void main(String[] args) {
		tell("start", "");
		int commitMs = Integer.parseInt(args[3]);
		Properties settings = new Properties();
		settings.put("bootstrap.servers", args[0]);
		settings.put("group.id", args[1]);
		for (int i = 4; i < args.length; i++)
			settings.put(args[i].substring(0, args[i].indexOf('=')), args[i].substring(args[i].indexOf('=') + 1));
		KafkaConsumer<byte[], byte[]> consumer =
			new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
		Thread main = Thread.currentThread();
		Runtime.getRuntime().addShutdownHook(new Thread(() -> {
			consumer.wakeup();
			try {
				main.join();
			} catch (InterruptedException e) {
				main.interrupt();
			}
		}));
		consumer.subscribe(List.of(args[2]), new Member());
		long due = 0;
		try {
			for (;;) {
				consumer.poll(Duration.ofMillis(commitMs > 0 ? commitMs / 4 : 1000));
				if (commitMs > 0 && System.nanoTime() - due >= 0) {
					due = System.nanoTime() + commitMs * 1_000_000L;
					commit(consumer);
				}
			}
		} catch (WakeupException e) {
			tell("closing", "");
		}
		consumer.close();
		tell("closed", "");
	}
}

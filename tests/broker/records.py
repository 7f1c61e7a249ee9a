#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""100,000 records over 6 partitions through 1, 3, 2, 3 members with commits: every one of them seen exactly once."""
import os
import sys
import threading
import time

from harness import (PATIENCE, Cases, Kafka, Ours, all_of, check_events, events, records_of, scratch, settled, unique,
	until)

RECORDS = int(os.environ.get("REGROUP_RECORDS", "100000"))
PARTITIONS = 6
BATCH = 2000


class Producer(threading.Thread):
	"""Writes while the members come and go, a batch at a time and not faster than `limit` allows."""

	def __init__(self, kafka, topic):
		super().__init__(daemon=True)
		self.kafka, self.topic = kafka, topic
		self.written, self.limit, self.error = 0, RECORDS // 4, None
		self.give_up = time.monotonic() + 10 * PATIENCE

	def run(self):
		try:
			while self.written < RECORDS:
				if self.written >= self.limit:
					if time.monotonic() > self.give_up:
						raise TimeoutError("nobody raised the limit")
					time.sleep(0.01)
					continue
				count = min(BATCH, self.limit - self.written)
				self.kafka.produce(self.topic, count, PARTITIONS)
				self.written += count
		except BaseException as error:
			self.error = error
			raise


def come_and_go(kafka):
	"""bugs kafka 19444: on a broker that has dropped the oldest versions."""
	folder, group = scratch(), unique("records")
	topic = kafka.topic(PARTITIONS)
	whole = all_of({topic: PARTITIONS})
	members = []

	def start():
		members.append(Ours(kafka, folder, f"c{len(members) + 1}", group, [topic], consume=True,
			settings={"auto.offset.reset": "earliest"}))

	def seen():
		assert not producer.error, producer.error
		return sum(os.path.getsize(member.out_path) for member in members) // len(f"{topic} 0 00000\n")

	def consumed(part):
		# Sizes are cheap to ask for and only pace the story; the records themselves are counted at the end.
		until(f"{part} of {RECORDS} records", lambda: seen() >= part * 0.9, also=lambda: "\n".join(m.told() for m in members))

	producer = Producer(kafka, topic)
	start()
	producer.start()
	consumed(RECORDS // 8)
	start()
	start()
	settled(kafka, group, 3, whole, "range")
	producer.limit = RECORDS // 2
	consumed(RECORDS // 3)
	members[1].stop()
	settled(kafka, group, 2, whole, "range")
	producer.limit = 3 * RECORDS // 4
	consumed(RECORDS // 2)
	start()
	settled(kafka, group, 3, whole, "range")
	producer.limit = RECORDS
	until("everything written", lambda: producer.written >= RECORDS or producer.error, 3 * PATIENCE)
	ends = {topic: kafka.cluster.ends(topic)}
	assert sum(ends[topic].values()) == RECORDS, ends
	until("every record seen", lambda: len(set(records_of_running(members))) >= RECORDS, 3 * PATIENCE,
		also=lambda: "\n".join(m.told() for m in members))
	for member in (members[0], members[2], members[3]):
		member.stop()
	assert kafka.cluster.committed(group, topic) == ends[topic], "not committed to the end"
	check_events(*members)
	found, repeated = events.check_records(records_of(*members), ends, duplicates_allowed=False)
	assert not found, "\n".join(found)
	shares = {member.name: len(records_of(member)) for member in members}
	print(f"     {RECORDS} records, {repeated} repeated, by member: {shares}")
	assert all(shares.values()), f"somebody had nothing to do, so the story was not the one told: {shares}"


def records_of_running(members):
	found = []
	for member in members:
		found += events.read_records(member.out_path, killed=True)  # the last line may be half written as yet
	return found


def main():
	report = Cases()
	with Kafka() as kafka:
		report.case("1, 3, 2, 3 members", come_and_go, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

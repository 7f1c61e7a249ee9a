#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Five members of mixed kinds for as long as wanted, while records come steadily and members come, go and are killed.

    SOAK_SECONDS=60 SOAK_SEED=… soak.py

The seed decides who goes when, and how; what the members make of it is up to the machine. One member stays from beginning to
end, and its memory is watched. At the end: every record was processed, no partition had two owners at any moment, the
memory was flat. A record was processed twice only if a process that was killed had processed it, or one that left in the
middle of a rebalance and was told that it had lost the partition, because a broker takes no commit then; these are counted.
"""
import collections
import os
import random
import statistics
import subprocess
import sys
import threading
import time

from harness import PATIENCE, Kafka, Ours, Report, events, scratch, unique, until

SECONDS = float(os.environ.get("SOAK_SECONDS", "60"))
SEED = int(os.environ.get("SOAK_SEED", str(random.randrange(10**6))))
PARTITIONS, RECORDS_PER_SECOND = 12, 1000
PAUSE_S = (0.5, 3.0)  # between two things that happen
AWAY_S = (0.0, 1.5)   # a member that went, until it is back
SESSION_MS = 3000
MEMORY_SLACK = 1.1, 4 << 20

# All of them can do cooperative-sticky, so that is what the group chooses; who lists range as well is eager itself.
COOPERATIVE, EAGER = "cooperative-sticky", "cooperative-sticky,range"
KINDS = {
	"stays": (COOPERATIVE, {}),
	"dynamic": (COOPERATIVE, {}),
	"static": (COOPERATIVE, {"group.instance.id": "one"}),
	"eager": (EAGER, {}),
	"eager-static": (EAGER, {"group.instance.id": "two"}),
}


class Producer(threading.Thread):
	"""Writes at an even pace until it is told to stop; kcat spreads the records over the partitions."""

	def __init__(self, kafka, topic):
		super().__init__(daemon=True)
		self.written, self.over, self.error = 0, threading.Event(), None
		self.process = subprocess.Popen(["kcat", "-P", "-b", kafka.bootstrap, "-t", topic], stdin=subprocess.PIPE, text=True)

	def run(self):
		try:
			while not self.over.wait(0.1):
				lines = [f"record {self.written + i}\n" for i in range(RECORDS_PER_SECOND // 10)]
				self.process.stdin.write("".join(lines))
				self.process.stdin.flush()
				self.written += len(lines)
			self.process.stdin.close()
			code = self.process.wait(PATIENCE)
			assert code == 0, f"kcat: exit code {code}"
		except BaseException as error:
			self.error = error
			self.process.kill()


def lost_at_the_end(member):
	return [partition for event in member.events() if event["event"] == "lost" for partition in events.partitions_of(event)]


class Soak:
	def __init__(self, kafka):
		self.kafka, self.folder, self.group = kafka, scratch(), unique("soak")
		self.topic = kafka.topic(PARTITIONS)
		self.random = random.Random(SEED)
		self.every, self.running, self.back_at = [], {}, {}
		self.did = collections.Counter()
		self.memory = []

	def start(self, kind):
		assignors, settings = KINDS[kind]
		member = Ours(self.kafka, self.folder, f"{kind}-{len(self.every)}", self.group, [self.topic], assignor=assignors,
			consume=True, settings={"auto.offset.reset": "earliest", "auto.commit.interval.ms": 1000,
				"session.timeout.ms": SESSION_MS, "heartbeat.interval.ms": 500, **settings})
		self.every.append(member)
		self.running[kind] = member

	def disturb(self):
		kind = self.random.choice([kind for kind in KINDS if kind != "stays"])
		how = self.random.choice(("leaves", "leaves", "killed"))
		away = self.random.uniform(*AWAY_S)
		if kind not in self.running:
			return
		member = self.running.pop(kind)
		if how == "killed":
			member.kill()
		else:
			member.stop()
		self.did[how] += 1
		self.back_at[kind] = time.monotonic() + away

	def bring_back(self, now):
		for kind in [kind for kind, at in self.back_at.items() if now >= at]:
			del self.back_at[kind]
			self.start(kind)
			self.did["joins"] += 1

	def look(self):
		for kind, member in self.running.items():
			assert member.process.poll() is None, f"{kind} ended by itself\n{member.told()}"
		with open(f"/proc/{self.running['stays'].process.pid}/status", encoding="ascii") as file:
			self.memory += [int(line.split()[1]) * 1024 for line in file if line.startswith("VmRSS:")]

	def run(self):
		for kind in KINDS:
			self.start(kind)
		producer = Producer(self.kafka, self.topic)
		producer.start()
		ends_at, next_at = time.monotonic() + SECONDS, time.monotonic() + PAUSE_S[1]
		while (now := time.monotonic()) < ends_at:
			assert not producer.error, producer.error
			self.bring_back(now)
			if now >= next_at:
				self.disturb()
				next_at = time.monotonic() + self.random.uniform(*PAUSE_S)
			self.look()
			time.sleep(0.05)
		self.bring_back(float("inf"))
		producer.over.set()
		producer.join(2 * PATIENCE)
		assert not producer.error and not producer.is_alive(), producer.error or "the producer does not end"
		return producer.written

	def finish(self, written):
		ends = self.kafka.cluster.ends(self.topic)
		assert sum(ends.values()) == written, f"{written} records written, the topic has {sum(ends.values())}"
		until("every record committed", lambda: self.kafka.cluster.committed(self.group, self.topic) == ends, 2 * PATIENCE,
			also=lambda: "\n".join(member.told() for member in self.running.values()))
		for member in self.running.values():
			member.stop()
		return ends

	def check_records(self, ends):
		"""Returns how many were processed again after a kill, and how many after a loss."""
		seen, by_survivors, uncommitted = collections.Counter(), collections.Counter(), set()
		for member in self.every:
			records = events.read_records(member.out_path, killed=member.killed_at is not None)
			assert len(records) == len(set(records)), f"{member.name} processed a record twice"
			seen.update(records)
			if not member.killed_at:
				by_survivors.update(records)
				gone = set(lost_at_the_end(member))
				uncommitted.update(record for record in records if record[:2] in gone)
		expected = {(self.topic, partition, offset) for partition, end in ends.items() for offset in range(end)}
		missing, foreign = expected - set(seen), set(seen) - expected
		assert not missing, f"{len(missing)} of {len(expected)} records were never processed, the first: {min(missing)}"
		assert not foreign, f"{len(foreign)} records that were never written, the first: {min(foreign)}"
		twice = {record for record, times in by_survivors.items() if times > 1}
		wrong = twice - uncommitted
		assert not wrong, f"{len(wrong)} records were processed twice without a kill or a loss: {min(wrong)}"
		return sum(times - 1 for times in seen.values()) - len(twice), len(twice)

	def check_owners(self):
		"""Returns the partition-seconds, and how many of them nobody owned."""
		kills = {member.name: member.killed_at for member in self.every if member.killed_at}
		streams = events.load({member.name: member.events_path for member in self.every}, kills)
		found = events.check(streams, kills)
		assert not found, "\n".join(found)
		spans, _ = events.intervals([event for stream in streams.values() for event in stream], kills)
		first = min(since for owners in spans.values() for since, _, _ in owners)
		last = max(until_ for owners in spans.values() for _, until_, _ in owners)
		owned = sum(until_ - since for owners in spans.values() for since, until_, _ in owners)
		return (last - first) * PARTITIONS / 1e6, ((last - first) * PARTITIONS - owned) / 1e6

	def check_memory(self):
		third = len(self.memory) // 3
		before, after = statistics.median(self.memory[third:2 * third]), statistics.median(self.memory[2 * third:])
		factor, slack = MEMORY_SLACK
		assert after <= before * factor + slack, f"memory grows: {before / 2**20:.1f} MiB, then {after / 2**20:.1f} MiB"
		return before / 2**20, after / 2**20


def soak(kafka):
	"""bugs librdkafka 22, 32: killed and back within a session, again and again."""
	print(f"     SOAK_SECONDS={SECONDS:g} SOAK_SEED={SEED}", flush=True)
	it = Soak(kafka)
	written = it.run()
	ends = it.finish(written)
	after_kills, after_losses = it.check_records(ends)
	whole, idle = it.check_owners()
	before, after = it.check_memory()
	stays = it.every[0]
	print(f"     {written} records; processed again: {after_kills} after {it.did['killed']} kills, {after_losses} after leaving "
		f"in a rebalance; {it.did['leaves']} left, {it.did['joins']} joined, {stays.count('complete')} rebalances\n"
		f"     {whole:.0f} partition-seconds, two owners in none, nobody in {idle:.1f}; memory {before:.1f} MiB in the second "
		f"third, {after:.1f} MiB in the last")
	assert it.did["killed"] and it.did["leaves"] and it.did["joins"], f"too short for anything to happen: {it.did}"


def main():
	report = Report()  # not Cases: the picture of a minute of five members helps nobody
	with Kafka() as kafka:
		report.case(f"{SECONDS:g} s of five members", soak, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

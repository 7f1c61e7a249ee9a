#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Exactly once: examples/transactions.c as several processes that are killed, come back and are fenced.

What readers with isolation.level=read_committed find in the output is each record of the input, in capitals, once.
"""
import collections
import os
import signal
import subprocess
import sys

from harness import PATIENCE, Cases, Kafka, Member, program, scratch, unique, until

PARTITIONS, SLOW_MS = 6, 1500
RECORDS = int(os.environ.get("REGROUP_TRANSACTION_RECORDS", "50000"))


class Transactor(Member):
	"""One process; `identity` is its transactional id."""

	def __init__(self, kafka, folder, name, group, topics, identity, *options):
		super().__init__(folder, name, [program("transactions"), "-b", kafka.bootstrap, "-g", group, "-i", topics[0],
			"-o", topics[1], "-T", identity, "-X", "session.timeout.ms=3000", "-X", "heartbeat.interval.ms=500",
			"-X", f"client.id={name}", "-X", "producer.transaction.timeout.ms=20000", *options])

	def complaints(self):
		return self.text(self.err_path)


def committed_records(kafka, topic):
	done = subprocess.run(["kcat", "-C", "-b", kafka.bootstrap, "-t", topic, "-e", "-q", "-X",
		"isolation.level=read_committed", "-f", "%s\\n"], capture_output=True, text=True, timeout=3 * PATIENCE, check=True)
	return done.stdout.splitlines()


def all_read(kafka, group, topic, count):
	"""The group's committed offsets, which only transactions move, are at the ends."""
	ends = kafka.cluster.ends(topic)
	assert sum(ends.values()) == count, ends
	return kafka.cluster.committed(group, topic) == ends


def progress(kafka, group, topic):
	return sum(max(0, offset) for offset in kafka.cluster.committed(group, topic).values())


def check_exactly_once(kafka, topics, count):
	found = collections.Counter(committed_records(kafka, topics[1]))
	expected = {f"{topics[0]} {p} record {i}".upper() for p in range(PARTITIONS)
		for i in range(count // PARTITIONS + (p < count % PARTITIONS))}
	assert len(expected) == count
	missing, foreign = expected - set(found), set(found) - expected
	twice = [record for record, times in found.items() if times > 1]
	assert not (missing or foreign or twice), f"{len(missing)} missing, {len(foreign)} foreign, {len(twice)} more than " \
		f"once of {count}: {sorted(missing | foreign | set(twice))[:3]}"


def killed_and_rebalanced(kafka):
	"""Three processes at work; three times one is killed -9 in the middle of a transaction and started again under its
	transactional id, one leaves in good order, one comes as well."""
	folder, group, topics = scratch(), unique("eos"), (kafka.topic(PARTITIONS, "from"), kafka.topic(PARTITIONS, "to"))
	kafka.produce(topics[0], RECORDS, PARTITIONS)
	started = 0

	def start(identity, delay_ms=20):
		nonlocal started
		started += 1
		return Transactor(kafka, folder, f"p{started}", group, topics, f"{group}-{identity}", "-d", str(delay_ms))

	def reach(part):
		until(f"{part} of {RECORDS} records", lambda: progress(kafka, group, topics[0]) >= part, 3 * PATIENCE,
			also=lambda: "\n".join(member.told() for member in running.values()))

	# Who will be killed is slow until then: most of the time its transaction is open.
	running = {identity: start(identity, delay_ms) for identity, delay_ms in (("a", SLOW_MS), ("b", SLOW_MS), ("c", 20))}
	at_kills = []
	for turn, identity in enumerate("ab"):
		reach(RECORDS * (turn + 1) // 6)
		running[identity].kill()
		at_kills.append(progress(kafka, group, topics[0]))
		running[identity] = start(identity)
	reach(RECORDS // 2)
	running.pop("c").stop()
	running["d"] = start("d", SLOW_MS)
	reach(RECORDS * 2 // 3)
	running["d"].kill()
	at_kills.append(progress(kafka, group, topics[0]))
	running["d"] = start("d")
	until("every record committed", lambda: all_read(kafka, group, topics[0], RECORDS), 3 * PATIENCE,
		also=lambda: "\n".join(member.told() for member in running.values()))
	for member in running.values():
		member.stop()
	assert all(0 < offset < RECORDS for offset in at_kills), f"killed when there was nothing to do: {at_kills}"
	check_exactly_once(kafka, topics, RECORDS)
	aborted = kafka_records(kafka, topics[1]) - RECORDS
	print(f"     {RECORDS} records, killed at {at_kills}, {aborted} in transactions that came to nothing")
	assert aborted > 0, "no kill met an open transaction, so the story was not the one told"


def kafka_records(kafka, topic):
	"""Also those of aborted transactions."""
	done = subprocess.run(["kcat", "-C", "-b", kafka.bootstrap, "-t", topic, "-e", "-q", "-X",
		"isolation.level=read_uncommitted", "-f", "%s\\n"], capture_output=True, text=True, timeout=3 * PATIENCE, check=True)
	return done.stdout.count("\n")


def zombie_is_fenced(kafka):
	"""It stands still in the middle of a transaction until the group has given its partitions away, and then goes on: the
	group refuses the offsets of its old generation, and its records are never seen."""
	folder, group, topics = scratch(), unique("zombie"), (kafka.topic(PARTITIONS, "from"), kafka.topic(PARTITIONS, "to"))
	count = 3000
	zombie = Transactor(kafka, folder, "zombie", group, topics, f"{group}-zombie", "-d", "3000")
	until("the only member", lambda: len(members_of(kafka, group)) == 1)
	kafka.produce(topics[0], count, PARTITIONS)
	# The transaction is open as soon as its records are there, and stays so for three seconds.
	until("records of its transaction", lambda: sum(kafka.cluster.ends(topics[1]).values()) > 0)
	assert progress(kafka, group, topics[0]) == 0, "it was not in the middle of a transaction"
	zombie.process.send_signal(signal.SIGSTOP)
	try:
		other = Transactor(kafka, folder, "other", group, topics, f"{group}-other")
		until("the zombie's seat to be given away", lambda: members_of(kafka, group) == {"other"})
	finally:
		zombie.process.send_signal(signal.SIGCONT)
	zombie.until("to be refused", lambda: "records aborted" in zombie.complaints())
	until("every record committed", lambda: all_read(kafka, group, topics[0], count), 2 * PATIENCE, also=other.told)
	other.stop()
	zombie.stop()
	refused = [line for line in zombie.complaints().splitlines() if "records aborted" in line]
	print(f"     {refused[0]}")
	check_exactly_once(kafka, topics, count)


def replaced_static_member_is_fenced(kafka):
	"""KIP-345: the same, but the zombie's seat goes to another process with its group.instance.id, at once; its offsets are
	refused with FENCED_INSTANCE_ID, and it ends."""
	folder, group, topics = scratch(), unique("static"), (kafka.topic(PARTITIONS, "from"), kafka.topic(PARTITIONS, "to"))
	count, static = 3000, ("-X", "group.instance.id=one")
	zombie = Transactor(kafka, folder, "zombie", group, topics, f"{group}-zombie", "-d", "3000", *static)
	zombie.exit_codes = (1,)
	until("the only member", lambda: len(members_of(kafka, group)) == 1)
	kafka.produce(topics[0], count, PARTITIONS)
	until("records of its transaction", lambda: sum(kafka.cluster.ends(topics[1]).values()) > 0)
	zombie.process.send_signal(signal.SIGSTOP)
	seats = set(kafka.cluster.group(group)["members"])
	try:
		other = Transactor(kafka, folder, "other", group, topics, f"{group}-other", *static)
		# A broker gives the seat a new id, and leaves the name of the client as it was.
		until("the zombie's seat to be taken over", lambda: set(kafka.cluster.group(group)["members"]) - seats)
	finally:
		zombie.process.send_signal(signal.SIGCONT)
	zombie.until("to be refused", lambda: "records aborted" in zombie.complaints())
	refused = [line for line in zombie.complaints().splitlines() if "records aborted" in line]
	print(f"     {refused[0]}")
	assert "same group.instance.id" in refused[0], refused
	zombie.until("to end", lambda: zombie.process.poll() is not None)
	until("every record committed", lambda: all_read(kafka, group, topics[0], count), 2 * PATIENCE, also=other.told)
	other.stop()
	zombie.stop()
	check_exactly_once(kafka, topics, count)


def members_of(kafka, group):
	now = kafka.cluster.group(group)
	return {member["client"] for member in now["members"].values()} if now["state"] == "Stable" else set()


def main():
	report = Cases()
	with Kafka() as kafka:
		report.case("a zombie is fenced", zombie_is_fenced, kafka)
		report.case("a static member that was replaced is fenced", replaced_static_member_is_fenced, kafka)
		report.case("members killed and rebalanced", killed_and_rebalanced, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

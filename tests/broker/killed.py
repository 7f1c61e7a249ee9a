#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Crashes: members killed -9, the leader in the middle of its plan, and the coordinator's broker itself."""
import sys
import time

from harness import (Cases, Kafka, Ours, all_of, check_events, events, records_of, scratch, settled, unique, until)

RECORDS, PARTITIONS = 20000, 6
SESSION = {"session.timeout.ms": 2000, "heartbeat.interval.ms": 300, "auto.offset.reset": "earliest"}


def member_killed(kafka):
	"""Its partitions go to the others; nothing is lost, and only what it had not committed is seen again."""
	folder, group, topic = scratch(), unique("killed"), kafka.topic(PARTITIONS)
	whole = all_of({topic: PARTITIONS})
	members = [Ours(kafka, folder, f"c{i}", group, [topic], consume=True, settings=SESSION) for i in (1, 2, 3)]
	shares = settled(kafka, group, 3, whole, "range")
	kafka.produce(topic, RECORDS // 2, PARTITIONS)
	victim = members[2]
	until("the victim at work", lambda: victim.text(victim.out_path).count("\n") > 100, also=victim.told)
	victim.kill()
	kafka.produce(topic, RECORDS - RECORDS // 2, PARTITIONS)
	rest = members[:2]
	settled(kafka, group, 2, whole, "range")
	ends = {topic: kafka.cluster.ends(topic)}
	until("every record seen", lambda: len({r for m in members for r in events.read_records(m.out_path, True)}) >= RECORDS,
		also=lambda: "\n".join(m.told() for m in members))
	for member in rest:
		member.stop()
	check_events(*members)
	found, repeated = events.check_records(records_of(*members), ends, duplicates_allowed=True)
	assert not found, "\n".join(found)
	twice = repeated_partitions(records_of(*members))
	assert twice <= shares[victim.name], f"seen twice: {twice}, the victim owned {shares[victim.name]}"
	print(f"     {repeated} records seen again after the crash")


def repeated_partitions(records):
	once, twice = set(), set()
	for record in records:
		if record in once:
			twice.add(record[:2])
		once.add(record)
	return twice


def leader_killed_while_planning(kafka):
	"""bugs 68, scenarios J.166: the leader never syncs; the group goes on without it."""
	folder, group, topics = scratch(), unique("killed"), {kafka.topic(4): 4}
	m1 = Ours(kafka, folder, "m1", group, list(topics), settings=SESSION, options=["--delay-assign", "60000"])
	m1.wait_for("join_received", leader=True)
	m2 = Ours(kafka, folder, "m2", group, list(topics), settings=SESSION)
	m2.wait_for("join_sent", 2)
	m1.kill()
	settled(kafka, group, 1, all_of(topics), "range")
	m2.wait_for("complete")
	assert m2.leads(), "the only member does not lead"
	m2.stop()
	check_events(m1, m2)


def coordinator_killed(kafka):
	"""scenarios J.176: the group moves to another broker with its generation; no member rebalances, commits go on."""
	folder, group, topic = scratch(), unique("killed"), kafka.topic(PARTITIONS)
	whole = all_of({topic: PARTITIONS})
	settings = {"session.timeout.ms": 30000, "auto.offset.reset": "earliest"}
	members = [Ours(kafka, folder, f"c{i}", group, [topic], consume=True, settings=settings) for i in (1, 2)]
	settled(kafka, group, 2, whole, "range")
	kafka.produce(topic, RECORDS // 2, PARTITIONS)
	for member in members:
		# Whoever was first has rebalanced once more; from here on nobody should.
		until(f"{member.name} in the common generation", lambda m=member: len(m.owned()) == PARTITIONS // 2, also=member.told)
	before = [member.count("prepare") for member in members]
	node, _ = kafka.cluster.coordinator(group)
	kafka.kill_node(node)
	until("another coordinator", lambda: kafka.cluster.coordinator(group)[0] != node, 60)
	gone = time.time_ns() // 1000
	for member in members:
		member.until("heartbeats answered by the new coordinator", lambda m=member: any(
			e["event"] == "heartbeat_received" and not e.get("error") and e["t_us"] > gone for e in m.events()))
	kafka.produce(topic, RECORDS - RECORDS // 2, PARTITIONS)
	until("every record seen", lambda: len({r for m in members for r in events.read_records(m.out_path, True)}) >= RECORDS,
		90, also=lambda: "\n".join(m.told() for m in members))
	assert [member.count("prepare") for member in members] == before, "the move of the coordinator cost a rebalance"
	for member in members:
		member.stop()
	ends = {topic: kafka.cluster.ends(topic)}
	assert kafka.cluster.committed(group, topic) == ends[topic], "not committed to the end"
	check_events(*members)
	found, repeated = events.check_records(records_of(*members), ends, duplicates_allowed=False)
	assert not found, "\n".join(found)
	kafka.restart_node(node)
	kafka.cluster.wait_brokers(3, 60)


def main():
	report = Cases()
	with Kafka() as kafka:
		report.case("a member", member_killed, kafka)
		report.case("the leader, while it plans", leader_killed_while_planning, kafka)
	with Kafka(nodes=3) as kafka:
		report.case("the coordinator's broker", coordinator_killed, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

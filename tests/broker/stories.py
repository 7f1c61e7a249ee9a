#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The stories of a rebalance on a real broker: one prepare and one complete for each member, whatever went on between."""
import sys

from harness import Cases, Kafka, Ours, all_of, check_events, scratch, settled, unique, until, wire

REBALANCE = "REBALANCE_IN_PROGRESS"
# Nothing at all, half a version, an impossible version, a list cut short, a name that is no UTF-8. (A version 1 cut short
# is no use here: Kafka 4.1.2 itself never answers its JoinGroup.)
GARBAGE = (b"", b"\x00", b"\xff\xff\x00\x00\x00\x00", b"\x00\x00\x00\x00\x00\x02\x00\x01a",
	b"\x00\x00\x00\x00\x00\x01\x00\x01\xff\x00\x00\x00\x00")


def counts(member):
	return member.count("prepare"), member.count("complete")


def not_yet_stable(kafka):
	"""scenarios A.16, J.165: m2 joins while m1, the leader, is still at its plan; m1's SyncGroup is refused with 27."""
	folder, group, topics = scratch(), unique("story"), {kafka.topic(4): 4}
	m1 = Ours(kafka, folder, "m1", group, list(topics), options=["--delay-assign", "1500"])
	m1.wait_for("join_received", leader=True)
	m2 = Ours(kafka, folder, "m2", group, list(topics))
	until("the broker to prepare a rebalance", lambda: kafka.cluster.group(group)["state"] == "PreparingRebalance",
		also=m2.told)
	assert m1.count("sync_sent") == 0, "m1 was done with its plan before m2 had joined: nothing was tried"
	m1.wait_for("sync_received", error=REBALANCE)
	shares = settled(kafka, group, 2, all_of(topics), "range")
	for member in (m1, m2):
		member.wait_for("complete")
		until(f"{member.name} to own its share", lambda m=member: m.owned() == shares[m.name], also=member.told)
		assert counts(member) == (1, 1), f"{member.name}: {counts(member)}"

	joins = [event for event in m1.events() if event["event"] == "join_sent"]
	ids = {event.get("member") for event in joins} - {"", None}
	assert len(joins) >= 3, f"79, the first round, the second: {joins}"
	assert len(ids) == 1, f"m1 changed its member id: {ids}"
	assert (m1.count("assign"), m2.count("assign")) == (2, 0), "only the leader plans, once a round"
	# m2's SyncGroup waits for the leader's, which takes its 1.5 s for the plan again.
	sent, answered = m2.saw("sync_sent"), m2.saw("sync_received")
	assert m1.saw("sync_sent", 2)["t_us"] <= answered["t_us"]
	assert answered["t_us"] - sent["t_us"] > 1_000_000, f"m2's SyncGroup did not wait: {sent} {answered}"
	m2.stop()
	m1.stop()
	check_events(m1, m2)


def joins_a_stable_group(kafka):
	"""bugs 8: a third member joins a Stable group; the others learn it by heartbeat."""
	folder, group, topics = scratch(), unique("story"), {kafka.topic(6): 6}
	m1 = Ours(kafka, folder, "m1", group, list(topics))
	m1.wait_for("complete")
	m2 = Ours(kafka, folder, "m2", group, list(topics))
	settled(kafka, group, 2, all_of(topics), "range")
	for member, rounds in ((m1, 2), (m2, 1)):
		member.wait_for("complete", rounds)
	before = {member.name: (counts(member), member.count("heartbeat_received", error=REBALANCE)) for member in (m1, m2)}

	m3 = Ours(kafka, folder, "m3", group, list(topics))
	shares = settled(kafka, group, 3, all_of(topics), "range")
	m3.wait_for("complete")
	assert counts(m3) == (1, 1), counts(m3)
	for member in (m1, m2):
		(prepared, completed), heard = before[member.name]
		member.wait_for("complete", completed + 1)
		assert counts(member) == (prepared + 1, completed + 1), f"{member.name}: {counts(member)} after {before}"
		assert member.count("heartbeat_received", error=REBALANCE) > heard, f"{member.name} did not learn it by heartbeat"
	for member in (m1, m2, m3):
		until(f"{member.name} to own its share", lambda m=member: m.owned() == shares[m.name], also=member.told)
	for member in (m3, m2, m1):
		member.stop()
	check_events(m1, m2, m3)


def garbage_in_the_group(kafka):
	"""A member whose subscription bytes mean nothing gets nothing; the others share everything."""
	folder, group, topics = scratch(), unique("story"), {kafka.topic(4): 4}
	m1 = Ours(kafka, folder, "m1", group, list(topics))
	m1.wait_for("complete")
	m2 = Ours(kafka, folder, "m2", group, list(topics))
	settled(kafka, group, 2, all_of(topics), "range")
	for bytes_ in GARBAGE:
		stranger = wire.RawMember(kafka.cluster, group)
		assert not stranger.join("range", bytes_), "the stranger leads"
		given = wire.parse_assignment(stranger.sync())
		assert not any(given.values()), f"for {bytes_} the stranger was given {given}"
		settled(kafka, group, 3, all_of(topics), "range")
		stranger.leave()
		settled(kafka, group, 2, all_of(topics), "range")
	m2.stop()
	m1.stop()
	check_events(m1, m2)


def main():
	report = Cases()
	with Kafka() as kafka:
		for story in (not_yet_stable, joins_a_stable_group, garbage_in_the_group):
			report.case(story.__name__, story, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mixed groups: our member with librdkafka's (kcat) and Kafka's own (ConsoleConsumer), as leader and as follower.

Whoever comes first leads. In every group each partition of two topics belongs to exactly one member, by the word of the
broker; our member's own events agree with it; and when somebody leaves or joins, it holds again.
"""
import itertools
import os
import sys

from harness import Cases, Java, Kafka, Kcat, Ours, all_of, check_events, scratch, settled, unique, until

ASSIGNORS = ("range", "roundrobin")
KINDS = {"ours": Ours, "kcat": Kcat, "java": Java}
# The first leads. The one group without ours shows what a group of the others looks like to this test.
ORDERS = (("ours", "kcat", "java"), ("kcat", "ours", "java"), ("java", "ours", "kcat"), ("kcat", "java"))


def agree(shares, members):
	"""What our members say of themselves is what the broker says of them."""
	for member in members:
		if member.kind == "ours":
			until(f"{member.name} to own what the broker says",
				lambda m=member: m.owned() == shares[m.name], also=lambda m=member: f"{m.owned()} {shares} {m.told()}")


def together(kafka, topics, assignor, order):
	folder, group = scratch(), unique("mixed")
	members = []
	for kind in order:
		members.append(KINDS[kind](kafka, folder, f"{kind}-{len(members)}", group, list(topics), assignor))
		# One after the other, so that the first is the leader and each arrival is a rebalance of a Stable group.
		shares = settled(kafka, group, len(members), all_of(topics), assignor)
		agree(shares, members)
	for member in members:
		if member.kind == "ours":
			assert member.leads() == (member is members[0]), f"{member.name} leads: {member.leads()}"

	last, rest = members[-1], members[:-1]
	last.stop()
	agree(settled(kafka, group, len(rest), all_of(topics), assignor), rest)
	for member in rest:
		member.stop()
	check_events(*(member for member in members if member.kind == "ours"))


def leader_leaves(kafka, topics, assignor, order):
	"""The leadership itself passes from one implementation to another."""
	folder, group = scratch(), unique("mixed")
	members = [KINDS[order[0]](kafka, folder, f"{order[0]}-first", group, list(topics), assignor)]
	settled(kafka, group, 1, all_of(topics), assignor)
	members.append(KINDS[order[1]](kafka, folder, f"{order[1]}-next", group, list(topics), assignor))
	agree(settled(kafka, group, 2, all_of(topics), assignor), members)
	members[0].stop()
	agree(settled(kafka, group, 1, all_of(topics), assignor), members[1:])
	if members[1].kind == "ours":
		assert members[1].leads(), "the only member does not lead"
	members[1].stop()
	check_events(*(member for member in members if member.kind == "ours"))


def sticky_keeps(kafka, topics, order):
	"""Java's eager StickyAssignor: what members had travels in their userdata, so whoever leads must read what the others
	wrote. Nobody gets anything new while others come, nor loses anything when the leader goes."""
	folder, group, members, before = scratch(), unique("sticky"), [], {}
	for kind in order:
		members.append(KINDS[kind](kafka, folder, f"{kind}-{len(members)}", group, list(topics), "sticky"))
		shares = settled(kafka, group, len(members), all_of(topics), "sticky")
		assert all(shares[name] <= before[name] for name in before), f"{before}\nbecame {shares}"
		agree(shares, members)
		before = shares
	assert sorted(map(len, before.values())) == [2, 2, 3], before
	members[0].stop()
	after = settled(kafka, group, 2, all_of(topics), "sticky")
	assert all(before[name] <= after[name] for name in after), f"{before}\nbecame {after}"
	for member in members[1:]:
		member.stop()
	check_events(*(member for member in members if member.kind == "ours"))


def main():
	report = Cases()
	only = os.environ.get("REGROUP_KINDS", "ours,kcat,java").split(",")
	with Kafka() as kafka:
		topics = {kafka.topic(3, "a"): 3, kafka.topic(4, "b"): 4}
		for assignor, order in itertools.product(ASSIGNORS, ORDERS):
			if set(order) <= set(only):
				report.case(f"{assignor}: {', then '.join(order)}", together, kafka, topics, assignor, order)
		for order in (("ours", "kcat"), ("kcat", "ours"), ("java", "ours"), ("kcat", "java")):
			if set(order) <= set(only):
				report.case(f"{order[0]} leads, leaves, {order[1]} goes on", leader_leaves, kafka, topics, "range", order)
		for order in (("ours", "java", "ours"), ("java", "ours", "java")):
			if set(order) <= set(only):
				report.case(f"sticky: {', then '.join(order)}", sticky_keeps, kafka, topics, order)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Static members and the way from eager to cooperative, on a real broker, while records pass.

Ownership is checked from the members' own events: at no moment does a partition have two owners.
"""
import sys

from harness import (Cases, Java, Kafka, Ours, all_of, check_events, events, records_of, scratch, settled, unique, until)

PARTITIONS, RECORDS = 6, 6000
EARLIEST = {"auto.offset.reset": "earliest"}


def distinct(members):
	return len({record for member in members for record in events.read_records(member.out_path, killed=True)})


def check_all_seen(kafka, topic, count, members, duplicates_allowed=False):
	until("every record seen", lambda: distinct(members) >= count, also=lambda: "\n".join(m.told() for m in members))
	for member in members:
		if member.process.poll() is None:
			member.stop()
	check_events(*members)
	found, repeated = events.check_records(records_of(*members), {topic: kafka.cluster.ends(topic)}, duplicates_allowed)
	assert not found, "\n".join(found)
	return repeated


def two_bounces(kafka):
	"""bugs 24: range, then cooperative-sticky and range, then cooperative-sticky alone, one member at a time."""
	folder, group, topic = scratch(), unique("bounce"), kafka.topic(PARTITIONS)
	whole, every, running = all_of({topic: PARTITIONS}), [], []

	def start(assignors):
		member = Ours(kafka, folder, f"m{len(every) + 1}", group, [topic], assignor=assignors, consume=True,
			settings=EARLIEST)
		every.append(member)
		running.append(member)

	for _ in range(3):
		start("range")
	settled(kafka, group, 3, whole, "range")
	written = 0
	for assignors in ("cooperative-sticky,range", "cooperative-sticky"):
		for number in range(3):
			kafka.produce(topic, RECORDS // 6, PARTITIONS)
			written += RECORDS // 6
			running.pop(0).stop()
			start(assignors)
			# The last eager-only member decides, by the vote of all.
			protocol = "range" if assignors.count(",") and number < 2 else "cooperative-sticky"
			cooperative_settled(kafka, group, whole, protocol)
	assert check_all_seen(kafka, topic, written, every) == 0


def cooperative_settled(kafka, group, whole, protocol):
	"""In a cooperative round what moves belongs to nobody for a moment, so `settled` would be too strict."""
	def look():
		now = kafka.cluster.group(group)
		if now["state"] != "Stable" or len(now["members"]) != 3 or now["protocol"] != protocol:
			return False
		owned = [(t, p) for m in now["members"].values() for t, parts in m["owned"].items() for p in parts]
		assert len(owned) == len(set(owned)), f"two members were given one partition: {now}"
		return set(owned) == whole

	until(f"{group} stable by {protocol}", look)


def static_restarts(kafka):
	"""KIP-345: leader and follower go and come back within their session; nobody rebalances, no record is lost or doubled."""
	folder, group, topic = scratch(), unique("static"), kafka.topic(PARTITIONS)
	whole = all_of({topic: PARTITIONS})

	def start(name, instance):
		return Ours(kafka, folder, name, group, [topic], consume=True,
			settings={**EARLIEST, "group.instance.id": instance, "session.timeout.ms": 20000})

	one = start("one-0", "one")
	one.wait_for("complete")
	two = start("two-0", "two")
	shares = settled(kafka, group, 2, whole, "range")
	two.until("its share", lambda: two.owned() == shares["two-0"])
	one.until("its share", lambda: one.owned() == shares["one-0"])
	generation = one.events()[-1]["gen"]
	every, written = [one, two], 0
	for round_ in (1, 2):
		kafka.produce(topic, RECORDS // 4, PARTITIONS)
		written += RECORDS // 4
		one.stop()
		one = start(f"one-{round_}", "one")
		one.until("what it had", lambda: one.owned() == shares["one-0"])
		two.stop()
		two = start(f"two-{round_}", "two")
		two.until("what it had", lambda: two.owned() == shares["two-0"])
		every += [one, two]
	for member in (one, two):
		assert member.count("prepare") == 1, member.told()
		assert member.saw("complete")["gen"] == generation, f"a rebalance: {member.saw('complete')} after {generation}"
	assert check_all_seen(kafka, topic, written, every) == 0


def static_with_another_topic(kafka):
	"""bugs 22: the broker tells nobody that a restarted member wants something else, so the member asks."""
	folder, group, old, new = scratch(), unique("static"), kafka.topic(4, "old"), kafka.topic(2, "new")

	def start(name, instance, topics):
		return Ours(kafka, folder, name, group, topics, settings={"group.instance.id": instance, "session.timeout.ms": 20000})

	one = start("one-0", "one", [old])
	one.wait_for("complete")
	two = start("two-0", "two", [old])
	settled(kafka, group, 2, all_of({old: 4}), "range")
	two.until("its share", lambda: len(two.owned()) == 2)
	two.stop()
	two = start("two-1", "two", [new])
	two.until("the new topic", lambda: two.owned() == {(new, 0), (new, 1)})
	one.until("all of the old one", lambda: len(one.owned()) == 4)
	assert two.count("prepare") == 2, two.told()
	one.stop()
	one = start("one-1", "one", [old, new])
	one.until("a part of the new topic", lambda: len(one.owned()) == 5)
	two.until("the rest", lambda: len(two.owned()) == 1)
	for member in (one, two):
		member.stop()


def two_of_one_instance(kafka):
	"""bugs librdkafka 55: the older one fails, says why and asks nothing more; the younger one is left in peace."""
	folder, group, topic = scratch(), unique("static"), kafka.topic(2)
	settings = {"group.instance.id": "one", "session.timeout.ms": 20000}
	older = Ours(kafka, folder, "older", group, [topic], settings=settings)
	older.wait_for("assigned")
	younger = Ours(kafka, folder, "younger", group, [topic], settings=settings)
	older.exit_codes = (1,)
	older.gone(20)
	assert "group.instance.id" in older.text(older.err_path), older.told()
	younger.wait_for("assigned")
	first = younger.count("heartbeat_received")
	younger.until("heartbeats", lambda: younger.count("heartbeat_received") >= first + 3)
	assert younger.count("prepare") == 1 and not older.count("leaving"), younger.told()
	younger.stop()


def cooperative_with_java(kafka):
	"""Java's CooperativeStickyAssignor and ours in one group, each as leader."""
	for first in (Ours, Java):
		folder, group, topics = scratch(), unique("coop"), {kafka.topic(PARTITIONS): PARTITIONS}
		second = Java if first is Ours else Ours
		members = [first(kafka, folder, "first", group, list(topics), "cooperative-sticky")]
		until("the first has all", lambda: owned_by(kafka, group) == [PARTITIONS])
		members.append(second(kafka, folder, "second", group, list(topics), "cooperative-sticky"))
		until("both have half", lambda: owned_by(kafka, group) == [PARTITIONS // 2] * 2)
		for member in members:
			member.stop()
		check_events(*(member for member in members if member.kind == "ours"))


def owned_by(kafka, group):
	now = kafka.cluster.group(group)
	if now["state"] != "Stable":
		return []
	return sorted(sum(map(len, m["owned"].values())) for m in now["members"].values())


def main():
	report = Cases()
	with Kafka() as kafka:
		report.case("from range to cooperative-sticky in two bounces", two_bounces, kafka)
		report.case("static members restart", static_restarts, kafka)
		report.case("static members restart with another topic", static_with_another_topic, kafka)
		report.case("two of one group.instance.id", two_of_one_instance, kafka)
		report.case("cooperative-sticky with Java", cooperative_with_java, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""regroup-plan --live on a real broker: it sees what there is, and what it foretells is what happens."""
import json
import subprocess
import sys

from harness import Cases, Kafka, Kcat, Ours, all_of, program, scratch, unique, until

ASSIGNOR = "cooperative-sticky"


def plan(kafka, group, *options, code=0):
	done = subprocess.run([program("regroup-plan"), "--live", "-b", kafka.bootstrap, "-g", group, *options],
		capture_output=True, text=True, timeout=40)
	assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
	return json.loads(done.stdout) if code == 0 else done.stderr


def told(shares):
	"""{member: {topic: [partition]}} -> the same as a list of sets, without ids."""
	return sorted(sorted((t, p) for t, parts in share.items() for p in parts) for share in shares.values())


def settled(kafka, group, members, partitions):
	"""{client: {(topic, partition)}} once the group is stable and nothing is withheld any more, as cooperative groups do
	for a round."""
	def look():
		now = kafka.cluster.group(group)
		shares = {m["client"]: {(t, p) for t, parts in m["owned"].items() for p in parts} for m in now["members"].values()}
		return shares if now["state"] == "Stable" and len(shares) == members and set().union(*shares.values()) == partitions \
			else None

	return until(f"{group} settled with {members} members", look, also=lambda: str(kafka.cluster.group(group)))


def sees_a_group_as_it_is(kafka):
	folder, group, topics = scratch(), unique("plan"), {kafka.topic(6): 6, kafka.topic(4): 4}
	m1 = Ours(kafka, folder, "m1", group, list(topics), ASSIGNOR)
	m1.wait_for("complete")
	Kcat(kafka, folder, "k1", group, list(topics), ASSIGNOR)
	shares = settled(kafka, group, 2, all_of(topics))
	# The broker is settled before its last answer has reached the member.
	m1.until("m1 to own its share", lambda: m1.owned() == shares["m1"] and m1.count("prepare") == m1.count("complete"))
	generation = m1.count("complete")
	seen = plan(kafka, group)
	assert (seen["assignor"], seen["moves"], seen["withheld"]) == (ASSIGNOR, [], {}), seen
	assert told(seen["assignments"]) == sorted(map(sorted, shares.values())), f"{seen}\n{shares}"
	assert m1.count("complete") == generation, "the group noticed"


def foretells_what_a_newcomer_does(kafka):
	folder, group, topics = scratch(), unique("plan"), {kafka.topic(7): 7, kafka.topic(4): 4}
	for name in ("m1", "m2"):
		Ours(kafka, folder, name, group, list(topics), ASSIGNOR).wait_for("complete")
	before = settled(kafka, group, 2, all_of(topics))
	moves = {(move["topic"], move["partition"]) for move in plan(kafka, group, "--add-member", "1")["moves"]}
	assert len(moves) == 3, moves
	Ours(kafka, folder, "m3", group, list(topics), ASSIGNOR)
	after = settled(kafka, group, 3, all_of(topics))
	assert after["m3"] == moves, f"foretold {moves}, before {before}, after {after}"


def says_why_not(kafka):
	said = plan(kafka, "nowhere", code=1)
	assert said == "regroup-plan: there is no group nowhere\n", said


def main():
	report = Cases()
	with Kafka() as kafka:
		for case in (sees_a_group_as_it_is, foretells_what_a_newcomer_does, says_why_not):
			report.case(case.__name__, case, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

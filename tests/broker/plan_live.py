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


def knows_who_is_static(kafka):
	"""Static members come first, which decides who gets one more; member ids alone would say the other way round."""
	folder, group, topics = scratch(), unique("plan"), {kafka.topic(3): 3}
	Ours(kafka, folder, "a", group, list(topics), "range").wait_for("complete")
	Ours(kafka, folder, "z", group, list(topics), "range", settings={"group.instance.id": "z"}).wait_for("complete")
	settled(kafka, group, 2, all_of(topics))
	sizes = {member[0]: sum(map(len, share.values())) for member, share in plan(kafka, group)["assignments"].items()}
	assert sizes == {"a": 1, "z": 2}, sizes


def foretells_growth_and_who_goes(kafka):
	"""Another number of partitions, a member less, another assignor; as a table, too, and nobody is disturbed."""
	folder, group, topics = scratch(), unique("plan"), {kafka.topic(4): 4}
	topic, = topics
	members = [Ours(kafka, folder, name, group, list(topics), ASSIGNOR) for name in ("m1", "m2")]
	settled(kafka, group, 2, all_of(topics))
	seen = plan(kafka, group)["assignments"]
	first, second = sorted(seen)
	grown = plan(kafka, group, "--partitions", f"{topic}=6")
	assert sorted((move["partition"], move["from"]) for move in grown["moves"]) == [(4, None), (5, None)], grown
	assert {move["to"] for move in grown["moves"]} == {first, second}, grown
	less = plan(kafka, group, "--remove-member", first)
	assert less["assignments"] == {second: {topic: [0, 1, 2, 3]}}, less
	assert [(m["partition"], m["from"], m["to"]) for m in less["moves"]] == [(p, first, second) for p in seen[first][topic]]
	other = plan(kafka, group, "--assignor", "range", "--add-member", "1", "--rounds")
	assert [round_["assignor"] for round_ in other["rounds"]] == ["range"], other
	assert [sum(map(len, share.values())) for _, share in sorted(other["rounds"][0]["assignments"].items())] == [2, 1, 1]
	table = subprocess.run([program("regroup-plan"), "--live", "-b", kafka.bootstrap, "-g", group, "--table", "--add-member",
		"1"], capture_output=True, text=True, timeout=40, check=True).stdout
	assert "what moves in the end:" in table and "-> new-1" in table, table
	for member in members:
		assert member.count("prepare") == member.count("complete"), member.told()


def says_why_not(kafka):
	said = plan(kafka, "nowhere", code=1)
	assert said == "regroup-plan: there is no group nowhere\n", said
	group = unique("plan")
	Ours(kafka, scratch(), "m1", group, [kafka.topic(1)], ASSIGNOR).wait_for("complete")
	for options, code, words in ((["--remove-member", "x"], 1, "no member named x"),
			(["--partitions", "x=2"], 1, "no topic named x"),
			(["-X", "nonsense=1"], 2, "No such configuration property")):
		said = plan(kafka, group, *options, code=code)
		assert words in said, said


def main():
	report = Cases()
	with Kafka() as kafka:
		for case in (sees_a_group_as_it_is, foretells_what_a_newcomer_does, knows_who_is_static,
				foretells_growth_and_who_goes, says_why_not):
			report.case(case.__name__, case, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""regroup-plan: what it answers, and what it says of bad input.

    plan.py REGROUP_PLAN
"""
import json
import os
import socket
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from report import Report  # noqa: E402

program = ""

TWO_OWNERS = {
	"topics": [{"name": "t", "partitions": 4}],
	"members": [{"id": "m1", "topics": ["t"], "owned": {"t": [0, 1]}, "generation": 3},
		{"id": "m2", "topics": ["t"], "owned": {"t": [2, 3]}, "generation": 3}],
}


def run(group, *options, code=0):
	text = group if isinstance(group, str) else json.dumps(group)
	done = subprocess.run([program, *options], input=text, capture_output=True, text=True, timeout=20)
	assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
	return done.stdout if code == 0 else done.stderr


def answer(group, *options):
	got = json.loads(run(group, *options))
	for round_ in got.get("rounds", [got]):
		assert round_.pop("elapsed_us") >= 0
	return got


def equal(got, want):
	assert got == want, f"{got}\nis not\n{want}"


def answers_in_full():
	group = {
		"topics": [{"name": "t", "partitions": 4, "racks": [["a"], ["a", "b"], ["b"], ["b"]]}, {"name": "u", "partitions": 1}],
		"members": [{"id": "m1", "instance_id": None, "rack": "a", "topics": ["t"], "owned": {"t": [0, 2]}, "generation": 3},
			{"id": "m2", "instance_id": "i2", "rack": "a", "topics": ["t"], "owned": None, "capacity": 2},
			{"id": "m3", "topics": ["u"]}],
	}
	equal(answer(group, "--assignor", "range"), {
		"assignor": "range", "assignments": {"m1": {"t": [2, 3]}, "m2": {"t": [0, 1]}, "m3": {"u": [0]}}, "withheld": {},
		"loads": {"min": 1, "max": 2, "sum_of_squares": 9}, "moved": 1, "rack_mismatches": 2})


def withholds_what_must_be_given_up():
	group = {**TWO_OWNERS, "members": TWO_OWNERS["members"] + [{"id": "m3", "topics": ["t"]}]}
	equal(answer(group), {
		"assignor": "cooperative-sticky", "assignments": {"m1": {"t": [0]}, "m2": {"t": [2, 3]}, "m3": {}},
		"withheld": {"t": [1]}, "loads": {"min": 0, "max": 2, "sum_of_squares": 5}, "moved": 1, "rack_mismatches": 0})
	rounds = answer(group, "--rounds")["rounds"]
	equal(len(rounds), 2)
	equal(rounds[1]["assignments"], {"m1": {"t": [0]}, "m2": {"t": [2, 3]}, "m3": {"t": [1]}})
	equal((rounds[1]["withheld"], rounds[1]["moved"]), ({}, 0))


def eager_sticky_sees_what_is_owned():
	group = {**TWO_OWNERS, "members": TWO_OWNERS["members"] + [{"id": "m3", "topics": ["t"]}]}
	equal(answer(group, "--assignor", "org.apache.kafka.clients.consumer.StickyAssignor")["assignments"],
		{"m1": {"t": [0]}, "m2": {"t": [2, 3]}, "m3": {"t": [1]}})


def weighs_by_capacity():
	group = {"topics": [{"name": "t", "partitions": 9}],
		"members": [{"id": "m1", "topics": ["t"], "capacity": 2}, {"id": "m2", "topics": ["t"]}]}
	equal([len(share["t"]) for share in answer(group, "--assignor", "weighted")["assignments"].values()], [6, 3])


def answers_what_if():
	equal(answer(TWO_OWNERS)["moved"], 0)
	moves = answer(TWO_OWNERS, "--add-member", "2")["moves"]
	equal(moves, [{"topic": "t", "partition": 1, "from": "m1", "to": "new-1"},
		{"topic": "t", "partition": 3, "from": "m2", "to": "new-2"}])
	moves = answer(TWO_OWNERS, "--remove-member", "m1")["moves"]
	equal(moves, [{"topic": "t", "partition": p, "from": "m1", "to": "m2"} for p in (0, 1)])
	moves = answer(TWO_OWNERS, "--partitions", "t=5")["moves"]
	equal(moves, [{"topic": "t", "partition": 4, "from": None, "to": "m1"}])
	equal(answer(TWO_OWNERS, "--add-member", "1", "--remove-member", "new-1")["moves"], [])


def tells_what_goes_to_nobody():
	"""The last one who wanted a topic leaves, partitions cease to be, or are owned by one who wants them no more."""
	def to_nobody(topic, owner, *partitions):
		return [{"topic": topic, "partition": p, "from": owner, "to": None} for p in partitions]

	group = {"topics": [{"name": name, "partitions": 2} for name in ("s", "t", "u")],
		"members": [{"id": "a", "topics": ["t"], "owned": {"t": [0, 1]}}, {"id": "b", "topics": ["u"], "owned": {"u": [0, 1]}}]}
	equal(answer(group, "--remove-member", "a")["moves"], to_nobody("t", "a", 0, 1))
	equal(answer(group, "--remove-member", "a", "--remove-member", "b")["moves"],
		to_nobody("t", "a", 0, 1) + to_nobody("u", "b", 0, 1))
	out = run(group, "--remove-member", "a", "--table")
	assert "of 1 topic to 1 member in" in out, out
	assert "  t 0: a -> nobody\n  t 1: a -> nobody\n" in out and "nothing" not in out, out
	equal(answer(TWO_OWNERS, "--partitions", "t=2")["moves"],
		[{"topic": "t", "partition": 1, "from": "m1", "to": "m2"}] + to_nobody("t", "m2", 2, 3))
	group["members"][0]["topics"] = ["s"]
	equal(answer(group, "--partitions", "u=3")["moves"], [
		{"topic": "s", "partition": p, "from": None, "to": "a"} for p in (0, 1)] + to_nobody("t", "a", 0, 1) +
		[{"topic": "u", "partition": 2, "from": None, "to": "b"}])


def prints_a_table():
	out = run(TWO_OWNERS, "--table", "--add-member", "1")
	for words in ("cooperative-sticky: 4 partitions of 1 topic to 3 members", "t:2-3", "loads 0 to 2",
			"t 1: m1 -> new-1"):
		assert words in out, out
	out = run(TWO_OWNERS, "--table", "--rounds", "--add-member", "1")
	equal([line.split()[:2] for line in out.splitlines() if line.startswith("new-1")], [["new-1", "-"]] * 2)
	assert "1 moved, 1 withheld for a round" in out and "0 moved, 0 withheld for a round" in out, out
	equal([line for line in out.splitlines() if line.startswith("round")], ["round 1", "round 2"])


def names_the_place(text, place):
	said = run(text, code=1)
	assert said.startswith("regroup-plan: standard input: " + place), said
	equal(said.count("\n"), 1)


T = '{"topics":[{"name":"t","partitions":2}],"members":['
BAD_INPUT = {
	"cut off": ('{"topics":[', "line 1, column 11: "),
	"not an object": ("[]", "the whole must be an object"),
	"no members": ('{"topics":[]}', "members must be an array"),
	"a key twice": ('{"topics":[],"topics":[],"members":[]}', "line 1, column "),
	"an unknown key": ('{"topics":[],"members":[],"x":1}', 'the whole has a key "x"'),
	"no partitions": ('{"topics":[{"name":"t","partitions":0}],"members":[]}', "topics[0].partitions must be"),
	"a topic twice": ('{"topics":[{"name":"t","partitions":1},{"name":"t","partitions":1}],"members":[]}',
		'topics[1].name: topic "t" is there already'),
	"racks of fewer partitions": ('{"topics":[{"name":"t","partitions":2,"racks":[[]]}],"members":[]}',
		"topics[0].racks has 1 entries"),
	"a rack that is a number": ('{"topics":[{"name":"t","partitions":1,"racks":[["a",1]]}],"members":[]}',
		"topics[0].racks[0][1] must be a string"),
	"a member twice": (T + '{"id":"m","topics":[]},{"id":"m","topics":[]}]}', 'members[1].id: member "m" is there already'),
	"an unknown topic": (T + '{"id":"m","topics":["t","x"]}]}', 'members[0].topics[1]: there is no topic named "x"'),
	"owns an unknown topic": (T + '{"id":"m","topics":[],"owned":{"x":[]}}]}', "members[0].owned.x: there is no topic"),
	"owns a partition too many": (T + '{"id":"m","topics":[],"owned":{"t":[0,2]}}]}', "members[0].owned.t[1] must be"),
	"a capacity of 0": (T + '{"id":"m","topics":[],"capacity":0}]}', "members[0].capacity must be"),
	"a generation that is a text": (T + '{"id":"m","topics":[],"generation":"3"}]}', "members[0].generation must be"),
	"a rack that is empty": (T + '{"id":"m","topics":[],"rack":""}]}', "members[0].rack must be a string"),
	"an instance id that is a list": (T + '{"id":"m","topics":[],"instance_id":[]}]}', "members[0].instance_id must be"),
	"a member that is a text": (T + '"m"]}', "members[0] must be an object"),
	"no topics of a member": (T + '{"id":"m"}]}', "members[0].topics must be an array"),
	"owns a list": (T + '{"id":"m","topics":[],"owned":[0]}]}', "members[0].owned must be an object"),
	"owns a text": (T + '{"id":"m","topics":[],"owned":{"t":"0"}}]}', "members[0].owned.t must be an array"),
	"an unknown key of a member": (T + '{"id":"m","topics":[],"ownd":{}}]}', 'members[0] has a key "ownd"'),
	"a topic that is a text": ('{"topics":["t"],"members":[]}', "topics[0] must be an object"),
	"racks that are no list": ('{"topics":[{"name":"t","partitions":1,"racks":["a"]}],"members":[]}',
		"topics[0].racks[0] must be an array"),
	"not UTF-8": ('{"topics":[{"name":"\\ud800","partitions":1}],"members":[]}', "line 1, column "),
	"more behind the end": ('{"topics":[],"members":[]} x', "line 1, column "),
	"an instance id twice": (T + '{"id":"m","instance_id":"i","topics":[]},{"id":"n","instance_id":"i","topics":[]}]}',
		'members[1].instance_id: member "m" has "i" already'),
	"a topic with too long a name": ('{"topics":[{"name":"%s","partitions":1}],"members":[]}' % ("x" * 250),
		"topics[0].name must be no longer than 249 bytes"),
	"more partitions than there can be": ('{"topics":[%s],"members":[]}' % ",".join(
		'{"name":"t%d","partitions":100000000}' % t for t in range(22)), "topics[21].partitions: with these there are more"),
	"an id that is a number": (T + '{"id":7,"topics":[]}]}', "members[0].id must be a string"),
}


def says_that_output_failed():
	"""Told once, and exit code 1, however it was to be printed."""
	for options in ([], ["--table"], ["--rounds"], ["--table", "--rounds", "--add-member", "1"], ["--help"], ["--version"]):
		with open("/dev/full", "wb") as full:
			done = subprocess.run([program, *options], input=json.dumps(TWO_OWNERS), stdout=full, stderr=subprocess.PIPE,
				text=True, timeout=20)
		equal((options, done.returncode, done.stderr),
			(options, 1, "regroup-plan: cannot write: No space left on device\n"))


def refuses_bad_options():
	live = ["--live", "-b", "127.0.0.1:1", "-g", "g"]
	for options, words, code in (
			(["--assignor", "x"], "there is no built-in assignor named x", 2),
			(["--live", "-b", "x:1"], "--live needs -b and -g", 2), (["-g", "x"], "go with --live", 2),
			(["--live", "-b", "", "-g", "g"], "--live needs -b and -g", 2),
			(["--live", "-b", "x:1", "-g", ""], "--live needs -b and -g", 2),
			([*live, "-X", "foo"], "-X foo: it must be KEY=VALUE", 2), ([*live, "-X", "=x"], "-X =x: it must be KEY=VALUE", 2),
			([*live, "-X", "foo=bar"], '-X foo=bar: No such configuration property: "foo"', 2),
			([*live, "-X", "bootstrap.servers=y:1"], "that is for -b", 2), ([*live, "-X", "group.id=h"], "that is for -g", 2),
			([*live, "-X", "security.protocol=x"], "-X security.protocol=x: ", 2),
			([*live, "--add-member", "0"], "--add-member needs a number", 2),
			(["a", "b"], "one file only, not also b", 2), (["--nonsense"], "regroup-plan: unrecognized option", 2),
			(["/nowhere/at/all"], "/nowhere/at/all: No such file", 1), (["/"], "/: Is a directory", 1),
			(["--add-member", "0"], "--add-member needs a number from 1 to 100000, not 0", 2),
			(["--remove-member", ""], "--remove-member needs the id", 2),
			(["--remove-member", "x"], "no member named x", 1), (["--partitions", "x=2"], "no topic named x", 1),
			(["--partitions", "t"], "--partitions needs TOPIC=N", 2), (["--partitions", "t=x"], "not t=x", 2),
			(["--partitions", "=3"], "not =3", 2), (["--partitions", "t="], "not t=", 2)):
		said = run(TWO_OWNERS, *options, code=code)
		assert words in said and said.endswith("--help lists the options\n") == (code == 2), (options, said)
		# What makes no sense by itself is told before any input is looked at.
		if code == 2:
			equal(run("no JSON", *options, code=2), said)


def counts_partitions_in_all():
	group = {"topics": [{"name": f"t{t}", "partitions": 100000000} for t in range(21)] + [{"name": "u", "partitions": 1}],
		"members": []}
	said = run(group, "--partitions", "u=50000000", code=1)
	equal(said, "regroup-plan: --partitions: with 50000000 of u there are more than 2147483647 partitions\n")
	equal(answer({"topics": group["topics"][:1], "members": []}, "--partitions", "t0=2")["assignments"], {})


def says_why_brokers_cannot_be_read():
	"""librdkafka's words come as this program's."""
	with socket.socket() as held: # bound but not listening
		held.bind(("127.0.0.1", 0))
		address = f"127.0.0.1:{held.getsockname()[1]}"
		said = run("", "--live", "-b", address, "-g", "g", code=1)
	assert f"group g could not be read from {address}: " in said and "refused" in said, said
	assert all(line.startswith("regroup-plan: ") for line in said.splitlines()), said


def main():
	global program
	program = sys.argv[1]
	report = Report()
	for case in (answers_in_full, withholds_what_must_be_given_up, eager_sticky_sees_what_is_owned, weighs_by_capacity,
			answers_what_if, prints_a_table, says_that_output_failed,
			tells_what_goes_to_nobody, refuses_bad_options, counts_partitions_in_all, says_why_brokers_cannot_be_read):
		report.case(case.__name__, case)
	for name, (text, place) in BAD_INPUT.items():
		report.case("bad input: " + name, names_the_place, text, place)
	return report.finish()


sys.exit(main())

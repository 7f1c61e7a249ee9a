#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example programs, on the embedded cluster: what they print, when they end, and what they say when they do not.

    programs.py EXAMPLES_FOLDER
"""
import json
import os
import re
import signal
import subprocess
import sys

os.environ["REGROUP_EXAMPLES"] = os.path.abspath(sys.argv[1])
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "broker"))
from harness import Cases, Member, Ours, check_events, program, scratch, until, wire  # noqa: E402

EARLIEST = ["-X", "auto.offset.reset=earliest"]
LETTERS = r"%t|%p|%o|%T|%k|%K|%s|%S|%h|%%|\x41\t\n"


class Cluster(Member):
	"""regroup-coordinator, ready."""

	def __init__(self, topics, *options):
		folder = scratch()
		super().__init__(folder, "coordinator", [program("regroup-coordinator"), "--topics", topics, *options])
		told = self.until("a port", lambda: re.search(r"^listening (\S+)$", self.text(self.out_path), re.M))
		self.bootstrap = told.group(1)

	def produce(self, topic, partition, text, *options):
		subprocess.run(["kcat", "-P", "-b", self.bootstrap, "-t", topic, "-p", str(partition), *options], input=text,
			text=True, check=True, timeout=20)


def consume(cluster, group, topic, *options, code=0, name="regroup-consume"):
	"""One program from start to end; returns what it printed, on stdout and on stderr."""
	done = subprocess.run([program(name), "-b", cluster.bootstrap, "-g", group, "-t", topic, *options],
		stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=40)
	assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout[-500:]}\n{done.stderr}"
	return done.stdout, done.stderr


# --- Records ---

def prints_as_kcat_does():
	cluster = Cluster("t:2")
	cluster.produce("t", 0, "k1:v1\nk2:v2\n", "-K:", "-H", "a=b", "-H", "none", "-H", "empty=")
	cluster.produce("t", 1, "plain\n")
	cluster.produce("t", 1, ":no key\nno payload:\n", "-K:", "-Z")
	ours, _ = consume(cluster, "g", "t", *EARLIEST, "-e", "-f", LETTERS)
	theirs = subprocess.run(["kcat", "-C", "-b", cluster.bootstrap, "-t", "t", "-e", "-q", "-f", LETTERS],
		capture_output=True, text=True, timeout=20, check=True).stdout
	assert theirs.count("\n") == 5, theirs
	assert sorted(ours.splitlines()) == sorted(theirs.splitlines()), f"ours:\n{ours}\nkcat's:\n{theirs}"


def counts_and_goes_on_where_it_ended():
	"""What was printed is committed, and nothing else: the next run begins there."""
	cluster = Cluster("t:1", "--records", "100")
	first, _ = consume(cluster, "g", "t", *EARLIEST, "-c", "30")
	assert first.splitlines() == [f"record-{i}" for i in range(30)], first
	rest, _ = consume(cluster, "g", "t", *EARLIEST, "-e")
	assert rest.splitlines() == [f"record-{i}" for i in range(30, 100)], rest


def works_at_least_once():
	"""The lesson about batches and commits: all of it, of the topics that match, and after an orderly end none again."""
	cluster, folder = Cluster("orders-1:2,orders-2:1,other:1", "--records", "300"), scratch()
	for run, expected in ((1, 600), (2, 7)):
		if run == 2:
			cluster.produce("orders-2", 0, "".join(f"r{i}\n" for i in range(expected)))
		member = Member(folder, f"m{run}", [program("at-least-once"), cluster.bootstrap, "g", "^orders-"])
		member.until("all records", lambda: member.text(member.out_path).count("\n") >= expected)
		member.stop()
		lines = member.text(member.out_path).splitlines()
		assert len(lines) == len(set(lines)) == expected, f"{len(lines)}, {len(set(lines))} of them different"
		assert all(line.startswith("orders-") for line in lines), lines


def ends_at_the_end():
	"""Most partitions are empty, and in a third run nothing is new."""
	cluster = Cluster("t:6")
	for partition in (1, 4):
		cluster.produce("t", partition, "".join(f"r{i}\n" for i in range(50)))
	for expected in (100, 0):
		found, _ = consume(cluster, "g", "t", *EARLIEST, "-e")
		assert found.count("\n") == expected, found


def several_end_at_the_end(partitions):
	"""Each goes when its partitions are read, or if it gets none; the others take over. Every record comes once."""
	cluster, folder = Cluster(f"t:{partitions}", "--records", "3000"), scratch()
	members = [Ours(cluster, folder, f"m{i}", "g", ["t"], consume=True, options=["-e"],
		settings={"auto.offset.reset": "earliest"}) for i in (1, 2, 3)]
	for member in members:
		member.gone(40)
	records = [line for member in members for line in member.text(member.out_path).splitlines()]
	assert len(records) == len(set(records)) == 3000, f"{len(records)} records, {len(set(records))} different ones"
	check_events(*members)


def says_that_output_failed():
	"""What nobody has seen is not committed: whoever comes next, when the seat is free, sees it."""
	cluster = Cluster("t:1", "--records", "10")
	session = ["-X", "session.timeout.ms=1000", "-X", "heartbeat.interval.ms=300"]
	with open("/dev/full", "wb") as full:
		done = subprocess.run([program("regroup-consume"), "-b", cluster.bootstrap, "-g", "g", "-t", "t", *EARLIEST,
			*session], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
	assert done.returncode == 1 and "cannot write: No space left" in done.stderr, f"{done.returncode} {done.stderr}"
	found, _ = consume(cluster, "g", "t", *EARLIEST, *session, "-e")
	assert found.splitlines() == [f"record-{i}" for i in range(10)], found


def says_that_events_failed():
	"""The first event that cannot be written is told, once; the group is left, and the exit code is 1."""
	cluster = Cluster("t:1", "--records", "10")
	for name, options in (("regroup-member", []), ("regroup-consume", [*EARLIEST, "-c", "3"])):
		done = subprocess.run([program(name), "-b", cluster.bootstrap, "-g", "g", "-t", "t", *options, "--events", "/dev/full"],
			capture_output=True, text=True, timeout=20)
		assert (done.returncode, done.stderr) == (1, f"{name}: --events: cannot write: No space left on device\n"), \
			f"{name}: exit code {done.returncode}\n{done.stderr}"
	done = subprocess.Popen([program("regroup-coordinator"), "--topics", "t:1", "--events", "/dev/full"],
		stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
	try:
		bootstrap = done.stdout.readline().split()[-1]
		member = subprocess.Popen([program("regroup-member"), "-b", bootstrap, "-g", "g", "-t", "t"],
			stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
		try:
			_, err = done.communicate(timeout=20)
		finally:
			member.kill()
			member.wait()
	finally:
		done.kill()
		done.wait()
	assert (done.returncode, err) == (1, "regroup-coordinator: --events: cannot write: No space left on device\n"), \
		f"exit code {done.returncode}\n{err}"


def says_that_words_failed():
	"""--help, --version, and the lines that a program's users wait for."""
	cases = [(name, [option]) for name in ("regroup-consume", "regroup-member", "regroup-coordinator")
		for option in ("--help", "--version")]
	for name, options in (*cases, ("regroup-coordinator", ["--topics", "t:1"])):
		with open("/dev/full", "wb") as full:
			done = subprocess.run([program(name), *options], stdout=full, stderr=subprocess.PIPE, text=True, timeout=20)
		assert (done.returncode, done.stderr) == (1, f"{name}: cannot write: No space left on device\n"), \
			f"{name} {options}: exit code {done.returncode}\n{done.stderr}"


def lessons_say_that_output_failed():
	"""None of the lessons goes on without being heard."""
	cluster = Cluster("t:1", "--records", "10")
	consume(cluster, "custom", "t", *EARLIEST, "-c", "3")
	for name, arguments in (("at-least-once", [cluster.bootstrap, "once", "t"]),
			("custom-assignor", ["-b", cluster.bootstrap, "-g", "custom", "-t", "t"]),
			("lag-assignor", ["-b", cluster.bootstrap, "-g", "lag", "-t", "t"]),
			("leader-election", ["-b", cluster.bootstrap, "-g", "election", "-n", "x"]),
			("own-loop", ["-b", cluster.bootstrap, "-g", "loop"])):
		with open("/dev/full", "wb") as full:
			done = subprocess.run([program(name), *arguments], input="?\n", stdout=full, stderr=subprocess.PIPE, text=True,
				timeout=20)
		assert done.returncode == 1 and done.stderr.count("cannot write: No space left") == 1, \
			f"{name}: exit code {done.returncode}\n{done.stderr}"


def says_that_a_topic_is_missing():
	_, err = consume(Cluster("t:1"), "g", "nonesuch", "-e")
	assert "warning: nonesuch does not exist" in err and "assigned nothing" in err, err


def says_why_it_failed():
	"""A fatal error: the sentence, once, and exit code 1."""
	cluster = Cluster("t:1", "--session-min", "6000")
	_, err = consume(cluster, "g", "t", "-X", "session.timeout.ms=1000", "-X", "heartbeat.interval.ms=300", code=1)
	assert err.count("INVALID_SESSION_TIMEOUT") == 1 and cluster.bootstrap in err, err


def without_a_position_there_is_no_end():
	_, err = consume(Cluster("t:2"), "g", "t", "-e", "-X", "auto.offset.reset=none", code=1)
	assert "the group has no committed offset, and auto.offset.reset is none" in err, err


# --- Rebalances ---

def lines_for_rebalances():
	cluster, folder = Cluster("t:6,u:2"), scratch()
	command = [program("regroup-member"), "-b", cluster.bootstrap, "-g", "g", "-t", "t,u", "-X", "client.id=m"]
	m1 = Member(folder, "m1", command)

	def lines(member):
		told = [re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3} (\w+) +(.*)", line)
			for line in member.text(member.err_path).splitlines()]
		assert all(told), member.told()
		return [line.groups() for line in told]

	m1.until("its partitions", lambda: ("assigned", "t[0-5] u[0-1]") in lines(m1))
	m2 = Member(folder, "m2", command)
	m2.until("its partitions", lambda: any(what == "assigned" for what, _ in lines(m2)))
	m1.until("less of them", lambda: [what for what, _ in lines(m1)].count("assigned") == 2)
	m2.stop()
	m1.until("all of them again", lambda: [what for what, _ in lines(m1)].count("assigned") == 3)
	m1.stop()
	assert [what for what, _ in lines(m1)] == ["prepare", "complete", "assigned"] + 2 * [
		"prepare", "revoked", "complete", "assigned"] + ["revoked"], m1.told()
	first, shared, last = [text for what, text in lines(m1) if what == "assigned"]
	assert first == last == "t[0-5] u[0-1]" and shared in ("t[0-2] u[0]", "t[3-5] u[1]"), m1.told()
	assert "as leader, range, member m-" in m1.text(m1.err_path), m1.told()
	# As README.md and the manual show it.
	assert ("prepare", "generation 1 ends: the group is rebalancing") in lines(m1), m1.told()
	assert m1.text(m1.out_path) == ""


def events_on_stdout():
	cluster = Cluster("t:1", "--records", "5")
	out, err = consume(cluster, "g", "t", *EARLIEST, "-e", "--events", "-")
	lines = out.splitlines()
	told = [json.loads(line)["event"] for line in lines if line.startswith("{")]
	assert [line for line in lines if not line.startswith("{")] == [f"record-{i}" for i in range(5)], out
	assert told[0] == "start" and told[-1] == "closed", told
	assert {"prepare", "complete", "assigned", "revoked"} <= set(told), told
	assert err == "", err


def slow_callbacks():
	"""Each call of the listener takes its time, one after the other; the heartbeats do not wait."""
	cluster, folder = Cluster("t:1"), scratch()
	member = Ours(cluster, folder, "m1", "g", ["t"], options=["--delay-callback", "700"],
		settings={"session.timeout.ms": 1000, "heartbeat.interval.ms": 200})
	complete, assigned = member.wait_for("complete"), member.wait_for("assigned")
	assert assigned["t_us"] - complete["t_us"] >= 700_000
	member.until("heartbeats", lambda: member.count("heartbeat_received") > 3)
	assert member.count("lost") == 0
	member.stop()


def slow_assignor_of_any_name():
	for assignor in ("range", "roundrobin", "cooperative-sticky"):
		cluster, folder = Cluster("t:2"), scratch()
		member = Ours(cluster, folder, "m1", "g", ["t"], assignor=assignor, options=["--delay-assign", "500"])
		member.wait_for("complete")
		joined, sent = member.saw("join_received", leader=True), member.saw("sync_sent")
		assert sent["t_us"] - joined["t_us"] >= 500_000, assignor
		member.stop()


def stalls():
	"""KIP-62: it hangs, so the group goes on without it; a signal still ends it."""
	cluster, folder = Cluster("t:2"), scratch()
	settings = {"session.timeout.ms": 1000, "heartbeat.interval.ms": 200, "max.poll.interval.ms": 1500}
	m1 = Ours(cluster, folder, "m1", "g", ["t"], options=["--stall-after", "1000"], settings=settings)
	m1.wait_for("assigned")
	m1.wait_for("leaving")
	assert m1.count("heartbeat_received") > 3 and m1.count("lost") == 0, m1.told()
	m1.stop(6)
	# Nobody was there to be told before.
	assert m1.count("lost") == 1, m1.told()


def two_of_one_instance():
	"""The older one fails, with a sentence and exit code 1; the younger one has the seat."""
	cluster, folder = Cluster("t:2"), scratch()
	settings = {"group.instance.id": "i"}
	m1 = Ours(cluster, folder, "m1", "g", ["t"], settings=settings)
	m1.wait_for("complete")
	m2 = Ours(cluster, folder, "m2", "g", ["t"], settings=settings)
	m2.wait_for("complete")
	m1.exit_codes = (1,)
	m1.gone(20)
	assert "group.instance.id" in m1.text(m1.err_path), m1.told()
	m2.stop()


def shares_by_capacity():
	cluster, folder = Cluster("t:8"), scratch()

	def start(name, capacity):
		return Member(folder, name, [program("custom-assignor"), "-b", cluster.bootstrap, "-g", "g", "-t", "t",
			"-C", str(capacity)])

	def has(member, text):
		return member.until(text, lambda: text in member.text(member.err_path))

	small = start("small", 1)
	has(small, ": 8 partitions for capacity 1")
	big = start("big", 3)
	has(small, ": 2 partitions for capacity 1")
	has(big, ": 6 partitions for capacity 3")
	small.stop()
	has(big, ": 8 partitions for capacity 3")
	big.stop()


# --- rg_member ---

class Lesson(Member):
	"""A program that says on stdout, line by line, what it is now."""

	def said(self):
		return self.text(self.out_path).splitlines()

	def says(self, line):
		return self.until(line, lambda: self.said()[-1:] == [line])


def elects_one_leader():
	"""One leads, the others know who; when it goes the next one leads, and when it is killed, too."""
	cluster, folder = Cluster("t:1"), scratch()

	def start(name):
		return Lesson(folder, name, [program("leader-election"), "-b", cluster.bootstrap, "-g", "g", "-n", name, "-s", "4000"])

	first = start("first")
	first.says("leading")
	others = [start("second"), start("third")]
	for other in others:
		other.says("following first")
	first.says("leading")
	first.stop()
	until("another leader", lambda: sorted(other.said()[-1] for other in others)[-1] == "leading")
	leader, follower = sorted(others, key=lambda other: other.said()[-1] != "leading")
	follower.says(f"following {leader.name}")
	leader.kill()
	follower.says("leading")
	follower.stop()
	for member in (first, *others):
		assert {line.split()[0] for line in member.said()} <= {"waiting", "leading", "following"}, member.said()
		# It never begins to lead without having stopped before.
		kinds = [line.split()[0] for line in member.said()]
		assert all("waiting" in pair for pair in zip(kinds, kinds[1:])), kinds


def keeps_consumers_out():
	"""A protocol type of its own: a consumer that names the same group is refused, and the leader is left alone."""
	cluster, folder = Cluster("t:1"), scratch()
	leader = Lesson(folder, "one", [program("leader-election"), "-b", cluster.bootstrap, "-g", "g", "-n", "one"])
	leader.says("leading")
	_, err = consume(cluster, "g", "t", "-e", code=1)
	assert "INCONSISTENT_GROUP_PROTOCOL" in err, err
	assert leader.said() == ["waiting", "leading"], leader.said()
	leader.stop()


def serves_its_own_loop():
	"""The member and standard input in one poll(2): lines are answered, also in the middle of a membership."""
	cluster = Cluster("t:1")

	def start():
		return subprocess.Popen([program("own-loop"), "-b", cluster.bootstrap, "-g", "g", "-n", "10"], stdin=subprocess.PIPE,
			stdout=subprocess.PIPE, text=True)

	def ask(process):
		process.stdin.write("?\n")
		process.stdin.flush()
		line = process.stdout.readline().strip()
		assert line.startswith("shards "), f"{line!r}, exit code {process.poll()}"
		return line

	processes = [start()]
	try:
		until("all shards", lambda: ask(processes[0]) == "shards 0-9")
		processes.append(start())
		until("half of them each", lambda: sorted(map(ask, processes)) == ["shards 0-4", "shards 5-9"])
		processes[1].stdin.close()
		assert processes[1].wait(20) == 0
		until("all shards again", lambda: ask(processes[0]) == "shards 0-9")
		processes[0].send_signal(signal.SIGTERM)
		assert processes[0].wait(20) == 0
	finally:
		for process in processes:
			process.kill()
			process.wait()


# --- A group looked at from outside ---

def plan(cluster, group, *options, code=0):
	done = subprocess.run([program("regroup-plan"), "--live", "-b", cluster.bootstrap, "-g", group, *options],
		capture_output=True, text=True, timeout=40)
	assert done.returncode == code, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
	return json.loads(done.stdout) if code == 0 else done.stderr


def plans_for_a_running_group():
	"""regroup-plan sees the group as it is and foretells what a newcomer gets, while nobody in the group notices."""
	cluster, folder = Cluster("t:6,u:4", "--brokers", "3"), scratch()
	members = [Ours(cluster, folder, name, "g", ["t", "u"], "cooperative-sticky") for name in ("m1", "m2")]
	until("five for each", lambda: [len(member.owned()) for member in members] == [5, 5] and
		all(member.count("prepare") == member.count("complete") for member in members))
	rounds = [member.count("complete") for member in members]
	seen = plan(cluster, "g")
	assert (seen["assignor"], seen["moves"], seen["withheld"]) == ("cooperative-sticky", [], {}), seen
	told = sorted(sorted((t, p) for t, parts in share.items() for p in parts) for share in seen["assignments"].values())
	assert told == sorted(sorted(member.owned()) for member in members), seen
	assert len(plan(cluster, "g", "--add-member", "1")["moves"]) == 3
	assert [member.count("complete") for member in members] == rounds, "the group noticed"
	assert plan(cluster, "nowhere", code=1) == "regroup-plan: there is no group nowhere\n"


def plans_around_a_member_that_cannot_be_read():
	"""It gets nothing, as from a leader, and what it calls itself gives no orders to a terminal."""
	cluster = Cluster("t:4")
	ours = Ours(cluster, scratch(), "m1", "g", ["t"], "range")
	until("all of it", lambda: len(ours.owned()) == 4)
	stranger = wire.RawMember(wire.Cluster(cluster.bootstrap), "g", client="red\x1b[31m")
	stranger.join("range", b"\xff\xff\xff")
	stranger.sync()
	done = subprocess.run([program("regroup-plan"), "--live", "-b", cluster.bootstrap, "-g", "g", "--table"],
		capture_output=True, text=True, timeout=40)
	assert done.returncode == 0 and "gets nothing: what it says cannot be read" in done.stderr, done
	assert "t:0-3" in done.stdout and "red?[31m" in done.stdout and "\x1b" not in done.stdout + done.stderr, done


def plans_with_the_capacities_of_a_running_group():
	cluster, folder = Cluster("t:8"), scratch()
	members = [Ours(cluster, folder, f"m{capacity}", "g", ["t"], "weighted", settings={"group.member.capacity": capacity})
		for capacity in (1, 3)]
	until("two and six", lambda: [len(member.owned()) for member in members] == [2, 6])

	def sizes(seen):
		return {name.split("-")[0]: sum(map(len, share.values())) for name, share in seen["assignments"].items()}

	seen = plan(cluster, "g")
	assert (seen["assignor"], seen["moves"], sizes(seen)) == ("weighted", [], {"m1": 2, "m3": 6}), seen
	seen = plan(cluster, "g", "--partitions", "t=16")
	assert sizes(seen) == {"m1": 4, "m3": 12}, seen
	seen = plan(cluster, "g", "--assignor", "cooperative-sticky", "--rounds")["rounds"][-1]
	assert sizes(seen) == {"m1": 4, "m3": 4}, seen


# --- Words ---

def refused():
	"""Exit code 2, before anything is contacted, and a sentence with the word in question."""
	usual = ["-b", "127.0.0.1:1", "-g", "g", "-t", "t"]
	for name, arguments, words in (
			("regroup-consume", [], "regroup-consume: missing: -b BOOTSTRAP, -g GROUP, -t TOPIC\n"),
			("regroup-consume", ["-g", "g", "-t", "t"], "missing: -b BOOTSTRAP\n"),
			("regroup-member", ["-X", "bootstrap.servers=127.0.0.1:1", "-t", "t"], "missing: -g GROUP\n"),
			("regroup-consume", [*usual, "-f", "%q"], "%q\"; there are %t %p %o %T %k %K %s %S %R %h %% "),
			("regroup-consume", [*usual, "-f", "\\q"], "\\q"),
			("regroup-consume", [*usual, "-f", "50%"], "%"),
			("regroup-consume", [*usual, "-f", "\\x4"], "a format has no \"\\x4\""),
			("regroup-consume", [*usual, "-f", "\\x4g"], "a format has no \"\\x4g\""),
			("regroup-consume", [*usual, "-t", "u,"], "-t: there is a topic without a name"),
			("regroup-member", [*usual, "-t", ",,"], "-t: there is a topic without a name"),
			("regroup-member", [*usual, "-X", "group.id=h"], "-g and -X group.id are the same: give one of them"),
			("regroup-consume", ["-X", "bootstrap.servers=127.0.0.1:1", *usual], "-b and -X bootstrap.servers are the same"),
			("regroup-member", [*usual, "-a", "range", "-X", "partition.assignment.strategy=range"], "-a and -X partition."),
			("regroup-consume", [*usual, "-c", "0"], "-c"),
			("regroup-consume", [*usual, "-X", "client.id"], "key=value"),
			("regroup-consume", [*usual, "-X", "=x"], "-X =x: key=value is needed"),
			("regroup-consume", [*usual, "-X", "session.timeout.ms=x"], "session.timeout.ms"),
			("regroup-consume", [*usual, "extra"], "extra"),
			("regroup-consume", [*usual, "--no-such-option"], "regroup-consume: unrecognized option '--no-such-option'\n"),
			("regroup-consume", [*usual, "-X", "sasl.password=hunter2"], "neither TLS nor SASL"),
			("regroup-consume", [*usual, "-X", "statistics.interval.ms=10"], "statistics"),
			("regroup-consume", [*usual, "-X", "receive.message.max.bytes=2000"], "fetch.max.bytes"),
			("regroup-member", [*usual, "-e"], "e"),
			("regroup-member", [*usual, "--delay-callback", "-1"], "--delay-callback"),
			("regroup-member", [*usual, "-a", "nonesuch"], "nonesuch"),
			("custom-assignor", ["-t", "t", "-C", "0"], "CAPACITY"),
			("lag-assignor", ["-t", "t", "-w", "-1"], "MS_PER_RECORD"),
			("lag-assignor", ["-t", "t", "-X", "client.id"], "KEY=VALUE"),
			("lag-assignor", ["-t", "t", "-X", "session.timeout.ms=x"], "session.timeout.ms"),
			("at-least-once", ["-t"], "BOOTSTRAP"),
			("leader-election", ["-b", "127.0.0.1:1", "-g", "g"], "NAME"),
			("leader-election", ["-n", "x", "-s", "soon"], "session.timeout.ms"),
			("own-loop", ["-n", "0"], "SHARDS"),
			("own-loop", ["-g", "g"], "bootstrap.servers"),
			("regroup-coordinator", [], "missing: --topics"),
			("regroup-coordinator", ["--topics", "x"], "topic 'x': it must be name:partitions\n"),
			("regroup-coordinator", ["--topics", "x:0"], "topic x: 0 partitions"),
			("regroup-coordinator", ["--topics", "x:65"], "topic x: 65 partitions: it must be 1 to 64"),
			("regroup-coordinator", ["--topics", "x:3,y:1,x:2"], "topic x is there twice"),
			("regroup-coordinator", ["--topics", "x:1", "--brokers", "0"], "--brokers 0: it must be a number from 1 to 16"),
			("regroup-coordinator", ["--topics", "x:1", "--brokers", "17"], "--brokers 17: it must be a number from 1 to 16"),
			("regroup-coordinator", ["--topics", "x:1", "--session-min", "0"], "it must be a number from 1 to 1800000"),
			("regroup-coordinator", ["--topics", "x:1", "--port", "65536"], "it must be a number from 0 to 65535"),
			("regroup-coordinator", ["--topics", "x:1", "--port", "65535", "--brokers", "2"], "broker 2 would be 65536"),
			("regroup-coordinator", ["--topics", "x:1", "y"], "\"y\" belongs to no option"),
			("regroup-coordinator", ["--prot", "1"], "regroup-coordinator: unrecognized option"),
			("regroup-coordinator", ["--records"], "regroup-coordinator: option '--records' requires an argument")):
		done = subprocess.run([program(name), *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True,
			timeout=10)
		assert done.returncode == 2 and words in done.stderr and not done.stdout and "hunter2" not in done.stderr, \
			f"{name} {arguments}: exit code {done.returncode}\n{done.stderr}"
		if name.startswith("regroup-"):
			assert done.stderr.endswith(f"\n{name}: --help lists the options\n"), f"{arguments}: {done.stderr}"


def tells_its_usage():
	"""All programs alike, asked in either way."""
	for name in ("regroup-consume", "regroup-member", "regroup-coordinator", "regroup-plan", "at-least-once",
			"custom-assignor", "lag-assignor", "leader-election", "own-loop", "transactions"):
		for option in ("--help", "-h"):
			done = subprocess.run([program(name), option], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10)
			assert not done.returncode and not done.stderr, f"{name} {option}: exit code {done.returncode}\n{done.stderr}"
			assert done.stdout.startswith(f"Usage: {name} "), done.stdout


def versions():
	for name in ("regroup-consume", "regroup-member", "regroup-coordinator", "regroup-plan"):
		done = subprocess.run([program(name), "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
			timeout=10)
		assert not done.returncode and not done.stderr, f"{name}: exit code {done.returncode}\n{done.stderr}"
		assert re.match(name + r" \d+\.\d+\.\d+(, librdkafka \d.*)?\n$", done.stdout), done.stdout


def nothing_to_read_is_no_failure():
	"""-e with a topic that does not exist: the member has nothing, which is at its end."""
	consume(Cluster("t:1"), "g", "nosuch", "-e")


def unwritable_events():
	done = subprocess.run([program("regroup-member"), "-b", "127.0.0.1:1", "-g", "g", "-t", "t",
		"--events", "/no/such/file"], capture_output=True, text=True, timeout=10)
	assert done.returncode == 1 and "/no/such/file: No such file" in done.stderr, done.stderr


def second_signal_ends_at_once():
	"""The first one leaves the group, and waits for the coordinator, which hangs; the second one waits for nothing."""
	cluster, folder = Cluster("t:1"), scratch()
	member = Ours(cluster, folder, "m1", "g", ["t"])
	member.wait_for("complete")
	cluster.process.send_signal(signal.SIGSTOP)
	try:
		member.process.send_signal(signal.SIGINT)
		member.wait_for("leaving")
		member.exit_codes = (-signal.SIGINT,)
		member.process.send_signal(signal.SIGINT)
		member.gone(2)
	finally:
		cluster.process.send_signal(signal.SIGCONT)


def asked_to_go_at_once():
	"""In its first moment, before it is in a group or has reached a broker: it ends politely, whatever it was doing."""
	cluster, folder = Cluster("t:1"), scratch()
	for number in range(20):
		Ours(cluster, folder, f"m{number}", "g", ["t"], consume=number % 2 == 0).stop()


def main():
	report = Cases()
	for partitions in (6, 2):
		report.case(f"several_end_at_the_end, {partitions} partitions", several_end_at_the_end, partitions)
	for case in (prints_as_kcat_does, counts_and_goes_on_where_it_ended,
			works_at_least_once, ends_at_the_end, says_that_output_failed, says_that_events_failed, says_that_words_failed,
			lessons_say_that_output_failed,
			says_that_a_topic_is_missing, says_why_it_failed, without_a_position_there_is_no_end,
			lines_for_rebalances, events_on_stdout, slow_callbacks,
			slow_assignor_of_any_name, stalls, two_of_one_instance, shares_by_capacity,
			elects_one_leader, keeps_consumers_out, serves_its_own_loop, plans_for_a_running_group,
			plans_around_a_member_that_cannot_be_read, plans_with_the_capacities_of_a_running_group, refused, tells_its_usage,
			versions,
			nothing_to_read_is_no_failure, unwritable_events,
			asked_to_go_at_once, second_signal_ends_at_once):
		report.case(case.__name__, case)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

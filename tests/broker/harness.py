# SPDX-License-Identifier: Apache-2.0
"""What the broker suite is made of: a Kafka, members of three kinds as processes, and witnesses of what they did.

A member's story is in its event file (ours) or its output (kcat, Java); the broker itself is asked through tests/lib/wire.py.
Every wait is for an event and has a deadline; only processes started here are ended, by their pids.
"""
import atexit
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import events  # noqa: E402
import wire  # noqa: E402
from report import Report, Skip, SKIP_EXIT, in_order  # noqa: E402,F401

KAFKA_SH = os.path.join(HERE, "kafka.sh")
# How long anything may take that should take a moment: a busy machine is no failure.
PATIENCE = float(os.environ.get("REGROUP_PATIENCE", "40"))
RECORD_FORMAT = "%t %p %o\\n"

_running = []
_folders = []


def _clean_up():
	for process in reversed(_running):
		process.end()
	for folder in _folders:
		if not os.environ.get("REGROUP_KEEP"):
			shutil.rmtree(folder, ignore_errors=True)


atexit.register(_clean_up)
# So that a timeout's or CI's SIGTERM runs it too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def scratch():
	folder = tempfile.mkdtemp(prefix="regroup-broker-")
	_folders.append(folder)
	if os.environ.get("REGROUP_KEEP"):
		print(f"kept: {folder}")
	return folder


def program(name):
	"""The path of one of our example programs."""
	path = os.path.join(os.environ.get("REGROUP_EXAMPLES", os.path.join(HERE, "..", "..", "build", "examples")), name)
	if not os.access(path, os.X_OK):
		raise AssertionError(f"there is no program {path}")
	return path


def until(what, check, seconds=None, also=lambda: ""):
	"""Polls `check` until it returns something true, and returns that."""
	seconds = seconds or PATIENCE
	deadline = time.monotonic() + seconds
	while True:
		value = check()
		if value:
			return value
		if time.monotonic() > deadline:
			raise AssertionError(f"not within {seconds:g} s: {what}\n{also()}")
		time.sleep(0.01)


class Cases(Report):
	"""A report whose cases leave no process behind, and show the picture of what happened when they fail."""

	def case(self, name, run, *args):
		before = len(_running)
		good = super().case(name, run, *args)
		started = _running[before:]
		for process in reversed(started):
			process.end()
		del _running[before:]
		ours = [member for member in started if isinstance(member, Ours)]
		if not good and ours:
			print(draw(name, *ours), flush=True)
		return good


class Kafka:
	"""A broker for one program's cases: the shared one, or one's own. Use as a context."""

	def __init__(self, nodes=1, shared=True):
		self.nodes, self.folder = nodes, None
		self.bootstrap = os.environ.get("REGROUP_BOOTSTRAP") if shared and nodes == 1 else None

	def __enter__(self):
		if not self.bootstrap:
			self.folder = os.path.join(scratch(), "kafka")
			_running.append(self)
			done = subprocess.run(["sh", KAFKA_SH, "start", str(self.nodes), self.folder], stdout=subprocess.PIPE, text=True)
			if done.returncode == SKIP_EXIT:
				sys.exit(SKIP_EXIT)
			if done.returncode != 0:
				raise AssertionError("Kafka did not start")
			self.bootstrap = re.search(r"^BOOTSTRAP=(.*)$", done.stdout, re.M).group(1)
		self.cluster = wire.Cluster(self.bootstrap)
		return self

	def __exit__(self, *_):
		self.end()

	def end(self):
		if self.folder:
			subprocess.run(["sh", KAFKA_SH, "stop", self.folder], check=False)
			self.folder = None

	def kill_node(self, node):
		subprocess.run(["sh", KAFKA_SH, "kill-node", self.folder, str(node)], check=True)

	def restart_node(self, node):
		subprocess.run(["sh", KAFKA_SH, "restart-node", self.folder, str(node)], check=True)

	def topic(self, partitions, stem="t"):
		name = unique(stem)
		self.cluster.create(name, partitions, self.nodes)
		return name

	def produce(self, topic, count, partitions):
		"""`count` records, as even as can be over the partitions, in one go for each."""
		for partition in range(partitions):
			mine = count // partitions + (partition < count % partitions)
			lines = "".join(f"{topic} {partition} record {i}\n" for i in range(mine))
			subprocess.run(["kcat", "-P", "-b", self.bootstrap, "-t", topic, "-p", str(partition)], input=lines, text=True,
				check=True, timeout=PATIENCE)


def unique(stem):
	return f"{stem}-{os.getpid()}-{random.randrange(16**6):06x}"


class Member:
	"""A process that is a member of a group, or wants to be. It is started at once."""

	exit_codes = (0,)

	def __init__(self, folder, name, command, env=None):
		self.name, self.command = name, command
		self.out_path, self.err_path = (os.path.join(folder, f"{name}.{kind}") for kind in ("out", "err"))
		self.killed_at = None
		with open(self.out_path, "wb") as out, open(self.err_path, "wb") as err:
			self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
				env={**os.environ, **(env or {})})
		_running.append(self)

	def text(self, path):
		with open(path, encoding="utf-8", errors="replace") as file:
			return file.read()

	def told(self):
		"""The end of what it said, for a failure's text."""
		return f"{self.name}: {' '.join(self.command)}\nexit {self.process.poll()}\n{self.text(self.err_path)[-2000:]}"

	def until(self, what, check, seconds=None):
		def alive_or_done():
			value = check()
			if not value and self.process.poll() is not None:
				raise AssertionError(f"{self.name} ended before: {what}\n{self.told()}")
			return value

		return until(f"{self.name}: {what}", alive_or_done, seconds, self.told)

	def kill(self):
		"""As a crash would: kill -9. It owned what it owned until this moment at the latest."""
		self.process.kill()
		self.process.wait()
		# After the wait: until it was gone it could still do something.
		self.killed_at = time.time_ns() // 1000

	def hears(self, sign):
		"""Whether it catches this signal, or takes it with sigwait: a process that just began does not yet."""
		try:
			with open(f"/proc/{self.process.pid}/status", encoding="ascii", errors="replace") as file:
				fields = dict(line.split(":", 1) for line in file)
		except FileNotFoundError:
			return False
		return any(int(fields[name], 16) >> (sign - 1) & 1 for name in ("SigCgt", "SigBlk") if name in fields)

	def stop(self, seconds=15, sign=signal.SIGTERM):
		"""Asks it to go, as soon as it can hear that; it must leave in time and exit 0. Returns the seconds it took."""
		until(f"{self.name} hears {sign.name}", lambda: self.process.poll() is not None or self.hears(sign), also=self.told)
		begin = time.monotonic()
		self.process.send_signal(sign)
		return self.gone(seconds, begin)

	def gone(self, seconds, begin=None):
		begin = begin or time.monotonic()
		try:
			code = self.process.wait(seconds)
		except subprocess.TimeoutExpired:
			raise AssertionError(f"still there after {seconds} s\n{self.told()}") from None
		assert code in self.exit_codes, f"exit code {code}\n{self.told()}"
		return time.monotonic() - begin

	def end(self):
		if self.process.poll() is None:
			self.process.kill()
			self.process.wait()


class Ours(Member):
	"""regroup-member or regroup-consume, with its events."""

	kind = "ours"

	def __init__(self, kafka, folder, name, group, topics, assignor="range", options=(), consume=False, settings=None,
			bootstrap=None):
		self.events_path = os.path.join(folder, f"{name}.jsonl")
		open(self.events_path, "wb").close()
		command = [program("regroup-consume" if consume else "regroup-member"), "-b", bootstrap or kafka.bootstrap,
			"-g", group, "-t", ",".join(topics), "-a", assignor, "--events", self.events_path]
		for key, value in {"session.timeout.ms": 6000, "client.id": name, **(settings or {})}.items():
			command += ["-X", f"{key}={value}"]
		if consume:
			command += ["-f", RECORD_FORMAT]
		super().__init__(folder, name, [*command, *options])
		self._read_at, self._half, self._events = 0, "", []

	def events(self):
		"""All its events so far."""
		with open(self.events_path, encoding="utf-8") as file:
			file.seek(self._read_at)
			text = file.read()
			self._read_at = file.tell()
		lines = (self._half + text).split("\n")
		self._half = lines.pop()
		self._events += [json.loads(line) for line in lines]
		return self._events

	def saw(self, event, count=1, **fields):
		"""The count-th event of this kind (1…) with these fields, or None."""
		found = [e for e in self.events() if e["event"] == event and all(e.get(k) == v for k, v in fields.items())]
		return found[count - 1] if len(found) >= count else None

	def count(self, event, **fields):
		return sum(e["event"] == event and all(e.get(k) == v for k, v in fields.items()) for e in self.events())

	def wait_for(self, event, count=1, seconds=None, **fields):
		return self.until(f"event {event} {fields or ''} #{count}", lambda: self.saw(event, count, **fields), seconds)

	def owned(self):
		"""The partitions it owns now, by its own events."""
		stream = [dict(event, process=self.name) for event in self.events()]
		return {partition for partition, spans in events.intervals(stream)[0].items() if spans[-1][1] is None}

	def leads(self):
		joined = [e for e in self.events() if e["event"] == "join_received" and not e.get("error")]
		return bool(joined) and bool(joined[-1].get("leader"))


class Kcat(Member):
	"""librdkafka's own consumer group client."""

	kind = "kcat"

	def __init__(self, kafka, folder, name, group, topics, assignor="range", settings=None, **_):
		command = ["kcat", "-b", kafka.bootstrap, "-G", group, "-f", RECORD_FORMAT, "-u"]
		for key, value in {"partition.assignment.strategy": assignor, "session.timeout.ms": 6000, "auto.offset.reset": "earliest",
				"heartbeat.interval.ms": 500, "client.id": name, **(settings or {})}.items():
			command += ["-X", f"{key}={value}"]
		super().__init__(folder, name, [*command, *topics])


class Java(Member):
	"""Kafka's own ConsoleConsumer, the Java client."""

	kind = "java"
	exit_codes = (0, 143)  # a JVM that was asked to go says so, after its shutdown hooks have left the group
	ASSIGNORS = {"range": "org.apache.kafka.clients.consumer.RangeAssignor",
		"roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
		"sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
		"cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"}

	def __init__(self, kafka, folder, name, group, topics, assignor="range", settings=None, **_):
		classes = os.path.join(jars(), "*")
		command = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xmx256m",
			"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", classes,
			"org.apache.kafka.tools.consumer.ConsoleConsumer", "--bootstrap-server", kafka.bootstrap,
			"--include", "|".join(re.escape(topic) for topic in topics), "--group", group]
		for key, value in {"partition.assignment.strategy": self.ASSIGNORS[assignor], "session.timeout.ms": 6000,
				"heartbeat.interval.ms": 500, "auto.offset.reset": "earliest", "client.id": name, **(settings or {})}.items():
			command += ["--consumer-property", f"{key}={value}"]
		super().__init__(folder, name, command)


def jars():
	done = subprocess.run(["sh", KAFKA_SH, "fetch"], stdout=subprocess.PIPE, text=True)
	if done.returncode == SKIP_EXIT:
		raise Skip("no Kafka to be had here")
	assert done.returncode == 0
	return done.stdout.strip()


def settled(kafka, group, members, partitions, assignor):
	"""Waits until the broker itself says: Stable, so many members, this assignor, and each of `partitions`, {(topic,
	partition)}, assigned to exactly one of them. Returns {client id: {(topic, partition)}}."""
	last = {}

	def look():
		nonlocal last
		last = kafka.cluster.group(group)
		if last["state"] != "Stable" or len(last["members"]) != members:
			return None
		shares = [(m["client"], {(t, p) for t, parts in m["owned"].items() for p in parts}) for m in last["members"].values()]
		owned = [partition for _, share in shares for partition in share]
		assert last["protocol"] == assignor, last
		assert len(owned) == len(set(owned)), f"two members were given one partition: {last}"
		assert set(owned) == partitions, f"missing {partitions - set(owned)}, foreign {set(owned) - partitions}: {last}"
		return dict(shares)

	return until(f"{group} stable with {members} members", look, also=lambda: json.dumps(last))


def all_of(topics):
	"""{topic: partition count} -> {(topic, partition)}"""
	return {(topic, partition) for topic, count in topics.items() for partition in range(count)}


def check_events(*members):
	"""The event streams of our members, those that are gone included, hold what they must."""
	kills = {m.name: m.killed_at for m in members if m.killed_at}
	found = events.check(events.load({m.name: m.events_path for m in members}, kills), kills)
	assert not found, "\n".join(found)


def draw(title, *members, start=None):
	"""The members' events as a sequence diagram, for whoever reads a failure."""
	command = [sys.executable, os.path.join(HERE, "..", "..", "examples", "sequence.py"), "--title", title]
	if start:
		command += ["--from", str(start)]
	for member in members:
		if member.killed_at:
			command += ["--kill", f"{member.name}={member.killed_at / 1e6}"]
	done = subprocess.run([*command, *(m.events_path for m in members)], capture_output=True, text=True,
		env={**os.environ, "PYTHONIOENCODING": "utf-8"})
	return done.stdout + done.stderr


def records_of(*members):
	found = []
	for member in members:
		found += events.read_records(member.out_path, killed=member.killed_at is not None)
	return found

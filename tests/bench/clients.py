# SPDX-License-Identifier: Apache-2.0
"""The three clients as processes that all write the same event lines."""
import glob
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "broker"))
sys.path.insert(0, os.path.join(HERE, "..", "lib"))
import events  # noqa: E402
import harness  # noqa: E402

PROGRAMS = os.environ.get("REGROUP_BENCH", os.path.join(HERE, "..", "..", "build", "tests", "bench"))


def program(name):
	path = os.path.join(PROGRAMS, name)
	if not os.access(path, os.X_OK):
		sys.exit(f"there is no program {path}; REGROUP_BENCH names the folder that holds them")
	return path


class Native:
	"""A client that is a program of ours."""

	def __init__(self, name, path):
		self.name, self.path = name, path

	def command(self):
		return [program(self.path)]


class Java:
	"""Kafka's KafkaConsumer, compiled when it is first needed: what is measured is not the compiler."""

	name = "Java"

	def __init__(self):
		self.classes = None

	def command(self):
		if not self.classes:
			script = '. "$0/maven.sh" && kafka_clients_dir'
			lib = os.path.join(HERE, "..", "lib")
			jars = subprocess.run(["sh", "-c", script, lib], stdout=subprocess.PIPE, text=True, check=True)
			path = os.path.join(jars.stdout.strip(), "*")
			folder = harness.scratch()
			subprocess.run(["javac", "-cp", path, "-d", folder, os.path.join(HERE, "Member.java")], check=True)
			# The class path in full: a wildcard is looked up anew at each start.
			self.classes = ":".join([folder, *sorted(glob.glob(path))])
		return ["java", "-Xmx256m", "-cp", self.classes, "Member"]


ALL = [Native("regroup", "member_regroup"), Native("librdkafka", "member_librdkafka"), Java()]


class Process(harness.Member):
	exit_codes = (0, 143)  # a JVM that was asked to go says so, after its shutdown hooks have left the group

	def __init__(self, client, kafka, folder, name, group, topic, commit_ms=0, settings=None):
		arguments = [kafka.bootstrap, group, topic, str(commit_ms)]
		arguments += [f"{key}={value}" for key, value in {"client.id": name, **(settings or {})}.items()]
		command = [*client.command(), *arguments]
		self.started_at = time.time_ns() // 1000
		super().__init__(folder, name, command)
		self._read_at, self._half, self._events = 0, "", []

	def events(self):
		with open(self.out_path, encoding="utf-8") as file:
			file.seek(self._read_at)
			text = file.read()
			self._read_at = file.tell()
		lines = (self._half + text).split("\n")
		self._half = lines.pop()
		self._events += [dict(json.loads(line), process=self.name) for line in lines]
		return self._events

	def first(self, event, since=0):
		"""When this event came first, not before `since`; None: not yet."""
		return next((e["t_us"] for e in self.events() if e["event"] == event and e["t_us"] >= since), None)

	def must_live(self):
		if self.process.poll() is not None and self.killed_at is None:
			raise AssertionError(f"ended by itself: {self.told()}")

	def cpu_ns(self):
		"""Processor time of all its threads. The scheduler's own count where the kernel tells it; else clock ticks."""
		try:
			ran = 0
			for path in glob.glob(f"/proc/{self.process.pid}/task/*/schedstat"):
				with open(path, encoding="ascii") as file:
					ran += int(file.read().split()[0])
			if ran:
				return ran
		except (OSError, ValueError, IndexError):
			pass
		with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as file:
			fields = file.read().rpartition(")")[2].split()
		return (int(fields[11]) + int(fields[12])) * 10**9 // os.sysconf("SC_CLK_TCK")


class Group:
	"""Members of one client in one new group on one topic."""

	def __init__(self, client, kafka, folder, topic, partitions, commit_ms=0, settings=None):
		self.client, self.kafka, self.topic, self.partitions = client, kafka, topic, partitions
		self.name = harness.unique("g")
		self.folder = os.path.join(folder, self.name)
		os.mkdir(self.folder)
		self.commit_ms, self.settings = commit_ms, settings
		self.every, self.here = [], []
		kafka.cluster.coordinator(self.name)  # so that no client has to wait for the offsets topic to be made

	def add(self):
		name = f"m{len(self.every) + 1}"
		process = Process(self.client, self.kafka, self.folder, name, self.name, self.topic, self.commit_ms, self.settings)
		self.every.append(process)
		self.here.append(process)
		return process

	def gone(self, process):
		self.here.remove(process)

	def stream(self):
		return events.merge([process.events() for process in self.every])

	def kills(self):
		return {process.name: process.killed_at for process in self.every if process.killed_at}

	def held(self, since=0):
		"""When, `since` at the earliest, the members that are here held all partitions in even shares; None: not yet."""
		share, rest = divmod(self.partitions, len(self.here))
		wanted = [share] * (len(self.here) - rest) + [share + 1] * rest
		owned = {process.name: set() for process in self.here}
		stream = [event for event in self.stream() if event["process"] in owned]
		before = sum(event["t_us"] < since for event in stream)
		for number, event in enumerate(stream, 1):
			mine = owned[event["process"]]
			if event["event"] == "assigned":
				mine.update(events.partitions_of(event))
			elif event["event"] in events.RELEASES:
				mine.difference_update(events.partitions_of(event))
			if (number >= before and sorted(len(partitions) for partitions in owned.values()) == wanted
					and len(set().union(*owned.values())) == self.partitions):
				return max(event["t_us"], since)
		return None

	def wait_held(self, since=0, seconds=60):
		def look():
			for process in self.here:
				process.must_live()
			return self.held(since)

		def story():
			return "\n".join(json.dumps(event) for event in self.stream()) + "".join(p.told() for p in self.here)

		what = f"{self.client.name}: {len(self.here)} members hold {self.partitions} partitions"
		return harness.until(what, look, seconds, story)

	def unowned(self, begin, end):
		"""Partition-seconds between the two moments in which nobody owned the partition."""
		spans = events.intervals(self.stream(), self.kills())[0]
		missing = 0
		for partition in range(self.partitions):
			at = begin
			for since, until, _ in sorted(spans.get((self.topic, partition), []), key=lambda span: span[0]):
				missing += max(0, min(since, end) - at)
				at = max(at, min(end if until is None else until, end))
			missing += end - at
		return missing / 1e6

	def check(self):
		"""No measurement counts in which two members owned a partition."""
		findings = events.check_ownership(self.stream(), self.kills())
		assert not findings, f"{self.client.name}: {findings}"

	def end(self):
		for process in self.here:
			process.end()
		self.here = []

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long rebalances take: regroup, librdkafka's own consumer and Java's, in turn, on a real Kafka, at their defaults.

    rebalance.py [--rounds N] [--long-rounds N] [--clients NAME,…] [--only PART,…] [--seed N] [--json FILE]

The parts: life (start, join, leave), killed, idle, coordinator, roll; --long-rounds is for the last three, which take
half a minute and more for each client and round. README.md says what each figure is. Exit code: 0 all was measured, 1
something could not be, 77 there is no Kafka here.
"""
import argparse
import json
import os
import random
import statistics
import sys
import time

import clients
import figures
import harness
import wire

PARTITIONS, ROLL_PARTITIONS = 6, 12
SESSION = {"session.timeout.ms": 6000}
COMMIT_MS = 100
IDLE_SECONDS = 20
WARM_UPS = 3

# Key, title, unit, goal for regroup.
MEASURES = [
	("start", "start → first assignment", "ms", 0.012),
	("start_process", "… with the start of the process", "ms", None),
	("join", "third member joins → all hold", "ms", 0.1),
	("join_unowned", "… nobody owned", "partition-s", None),
	("leave", "one leaves → the rest hold", "ms", 0.1),
	("leave_unowned", "… nobody owned", "partition-s", None),
	("killed", "one is killed -9 (session 6 s) → the rest hold", "s", None),
	("killed_unowned", "… nobody owned", "partition-s", None),
	("coordinator", "coordinator killed → all members commit", "s", None),
	("coordinator_ready", "… after the new one could", "ms", None),
	("coordinator_unowned", "… nobody owned", "partition-s", None),
	("roll", "6 members restarted in turn: took", "s", None),
	("roll_unowned", "… nobody owned", "partition-s", 1.5),
	("idle", "idle: of a core, each member", "%", 0.2),
]


class Bench:
	def __init__(self, options):
		self.options = options
		self.random = random.Random(options.seed)
		self.folder = harness.scratch()
		self.samples = {}
		self.pending = []  # of the round under way: they count when it has come to its end
		self.failures = []

	def note(self, client, key, value):
		self.pending.append(((client.name, key), value))

	def pause(self):
		"""Heartbeats of 3 s have any phase when something happens; right after a rebalance they would all be far away."""
		time.sleep(1 + 3 * self.random.random())

	def group(self, client, kafka, topic, members=0, partitions=PARTITIONS, **more):
		group = clients.Group(client, kafka, self.folder, topic, partitions, **more)
		for _ in range(members):
			group.add()
		if members:
			group.wait_held()
		return group

	def warm_up(self, client, kafka, topic):
		"""A JVM that has just started, a broker's too, is slow at everything that it does for the first time."""
		for _ in range(WARM_UPS):
			group = self.group(client, kafka, topic, members=1, partitions=len(kafka.cluster.metadata([topic])[2][topic]))
			leaver = group.here[0]
			group.gone(leaver)
			leaver.stop()

	# --- The parts ------------------------------------------------------------------------------------------------

	def life(self, client, kafka, topic):
		group = self.group(client, kafka, topic)
		try:
			first = group.add()
			held = group.wait_held()
			self.note(client, "start", (held - first.first("start")) / 1e6)
			self.note(client, "start_process", (held - first.started_at) / 1e6)
			group.add()
			group.wait_held()
			self.pause()
			third = group.add()
			held = group.wait_held(third.started_at)
			begin = third.first("start")
			self.note(client, "join", (held - begin) / 1e6)
			self.note(client, "join_unowned", group.unowned(begin, held))
			self.pause()
			leaver = group.here[1]
			group.gone(leaver)
			asked = time.time_ns() // 1000
			leaver.stop()
			held = group.wait_held(asked)
			begin = leaver.first("closing")
			self.note(client, "leave", (held - begin) / 1e6)
			self.note(client, "leave_unowned", group.unowned(begin, held))
			group.check()
		finally:
			group.end()

	def killed(self, client, kafka, topic):
		group = self.group(client, kafka, topic, members=3, settings=SESSION)
		try:
			self.pause()
			victim = group.here[1]
			group.gone(victim)
			victim.kill()
			held = group.wait_held(victim.killed_at)
			self.note(client, "killed", (held - victim.killed_at) / 1e6)
			self.note(client, "killed_unowned", group.unowned(victim.killed_at, held))
			group.check()
		finally:
			group.end()

	def idle(self, client, kafka, topic):
		group = self.group(client, kafka, topic, members=3)
		try:
			time.sleep(5)
			begin, before = time.monotonic_ns(), [process.cpu_ns() for process in group.here]
			time.sleep(IDLE_SECONDS)
			for process, used in zip(group.here, before):
				self.note(client, "idle", 100 * (process.cpu_ns() - used) / (time.monotonic_ns() - begin))
		finally:
			group.end()

	def coordinator(self, client, kafka, topic):
		group = self.group(client, kafka, topic, members=3, commit_ms=COMMIT_MS)
		try:
			self.pause()
			node, address = kafka.cluster.coordinator(group.name)
			alive = [f"{host}:{port}" for host, port in kafka.cluster.addresses if (host, port) != address]
			others = wire.Cluster(",".join(alive))
			killed = time.time_ns() // 1000
			kafka.kill_node(node)
			ready = harness.until("a new coordinator", lambda: serves(others, group.name, node))
			for process in group.here:
				process.until("commits again", lambda p=process: p.first("committed", killed + 200_000))
			again = max(process.first("committed", killed + 200_000) for process in group.here)
			held = group.wait_held(again)
			self.note(client, "coordinator", (again - killed) / 1e6)
			self.note(client, "coordinator_ready", max(0, again - ready) / 1e6)
			self.note(client, "coordinator_unowned", group.unowned(killed, held))
			group.check()
			kafka.restart_node(node)
			kafka.cluster.wait_brokers(3, 60)
		finally:
			group.end()

	def roll(self, client, kafka, topic):
		group = self.group(client, kafka, topic, members=6, partitions=ROLL_PARTITIONS)
		try:
			self.pause()
			begin = time.time_ns() // 1000
			for leaver in list(group.here):
				group.gone(leaver)
				leaver.stop()
				held = group.wait_held(group.add().started_at)
			self.note(client, "roll", (held - begin) / 1e6)
			self.note(client, "roll_unowned", group.unowned(begin, held))
			group.check()
		finally:
			group.end()

	# --- The run --------------------------------------------------------------------------------------------------

	def part(self, part, kafka, rounds, partitions=PARTITIONS):
		"""The clients take turns, so that whatever else the machine does meets all of them."""
		if part not in self.options.only:
			return
		topic = kafka.topic(partitions)
		for client in self.options.clients:
			self.warm_up(client, kafka, topic)
		for number in range(rounds):
			for client in self.options.clients:
				began = time.monotonic()
				try:
					self.pending = []
					getattr(self, part)(client, kafka, topic)
					for key, value in self.pending:
						self.samples.setdefault(key, []).append(value)
				except AssertionError as error:
					self.failures.append(f"{part} {number + 1}, {client.name}: {error}")
				print(f"{part} {number + 1}/{rounds} {client.name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)

	def run(self):
		options = self.options
		if {"life", "killed", "roll", "idle"} & set(options.only):
			with harness.Kafka(shared=False) as kafka:
				self.part("life", kafka, options.rounds)
				self.part("killed", kafka, options.rounds)
				self.part("idle", kafka, options.long_rounds)
				self.part("roll", kafka, options.long_rounds, ROLL_PARTITIONS)
		if "coordinator" in options.only:
			with harness.Kafka(nodes=3) as kafka:
				self.part("coordinator", kafka, options.long_rounds)

	def show(self):
		names = [client.name for client in self.options.clients]
		rows = [["", "unit", "goal", *names, *(f"{name} / regroup" for name in names if name != "regroup"), "n"]]
		missed = []
		for key, title, unit, goal in MEASURES:
			samples = {name: self.samples.get((name, key), []) for name in names}
			if not any(samples.values()):
				continue
			ours = samples.get("regroup", [])
			if goal is not None and ours and statistics.median(ours) > goal:
				missed.append(f"{title}: {figures.number(statistics.median(ours), unit)} {unit}")
			rows.append([title, unit, "-" if goal is None else "≤ " + figures.number(goal, unit),
				*(figures.summary(samples[name], unit) for name in names),
				*(figures.ratio(samples[name], ours) for name in names if name != "regroup"),
				"/".join(str(len(samples[name])) for name in names)])
		print(figures.table(rows))
		print(f"\nMedian (smallest–largest). {figures.machine()}.")
		print("Goals missed at the median: " + ("; ".join(missed) or "none"))
		for failure in self.failures:
			print(f"NOT MEASURED {failure}")


def serves(cluster, group, dead):
	"""When somebody other than the dead node began to answer for the group (to a tenth of a second); None: not yet."""
	try:
		node, _ = cluster.coordinator(group, seconds=0)
		if node == dead:
			return None
		cluster.group(group)
		return time.time_ns() // 1000
	except (OSError, wire.WireError):
		return None


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parts = ["life", "killed", "idle", "coordinator", "roll"]
	known = {client.name.lower(): client for client in clients.ALL}
	parser.add_argument("--rounds", type=int, default=10)
	parser.add_argument("--long-rounds", type=int)
	parser.add_argument("--clients", default=",".join(known))
	parser.add_argument("--only", default=",".join(parts))
	parser.add_argument("--seed", type=int, default=random.randrange(10**6))
	parser.add_argument("--json", help="all samples, for another look")
	options = parser.parse_args()
	options.long_rounds = options.long_rounds or options.rounds
	options.only = options.only.split(",")
	if set(options.only) - set(parts) or set(options.clients.lower().split(",")) - set(known):
		parser.error(f"the parts are {', '.join(parts)}, the clients {', '.join(known)}")
	options.clients = [known[name] for name in options.clients.lower().split(",")]
	print(f"seed {options.seed}, {figures.machine()}", file=sys.stderr)
	bench = Bench(options)
	bench.run()
	bench.show()
	if options.json:
		with open(options.json, "w", encoding="utf-8") as file:
			json.dump({f"{name} {key}": values for (name, key), values in bench.samples.items()}, file, indent=1)
	return 1 if bench.failures or not bench.samples else 0


if __name__ == "__main__":
	os.environ.setdefault("REQUIRE_BROKER", "0")
	sys.exit(main())

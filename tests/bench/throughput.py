#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast records come out of rg_consumer_poll and rd_kafka_consumer_poll, and out of the calls for many at once.

    throughput.py [--records N] [--size BYTES] [--pairs N] [--only poll,batch] [--json FILE]

One process reads the whole topic as the only member of a new group; the two clients take turns. Exit code: 0 all was
measured, 1 something could not be, 77 there is no Kafka here.
"""
import argparse
import json
import statistics
import subprocess
import sys

import clients
import figures
import harness

PARTITIONS = 6
CALLS = {
	"poll": ("rg_consumer_poll", "rd_kafka_consumer_poll"),
	"batch": ("rg_consumer_poll_batch", "rd_kafka_consume_batch_queue"),
}
GOALS = {"poll": 1.2, "batch": 1.0}
MEMORY_GOAL = 1.05
PROGRAMS = ("throughput_regroup", "throughput_librdkafka")
# Title, unit, the figure of a run.
MEASURES = [
	("start → last record", "s", lambda run: run["elapsed_us"] / 1e6),
	("first → last record", "s", lambda run: run["reading_us"] / 1e6),
	("records a second, first → last", "1000/s", lambda run: run["records"] / run["reading_us"] * 1000),
	("processor time for a record", "µs", lambda run: run["cpu_us"] / run["records"]),
	("largest resident size", "MiB", lambda run: run["maxrss_kib"] / 1024),
]


def run_once(program, kafka, topic, call, count):
	command = [clients.program(program), kafka.bootstrap, harness.unique("g"), topic, str(count), call]
	done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=180, check=False)
	if done.returncode:
		raise AssertionError(f"{program} {call}: {done.stderr.strip()}")
	return json.loads(done.stdout)


def compare(kafka, topic, call, options):
	"""Pairs of runs, after one of each that only warms up. Returns their figures by program."""
	runs = {program: [] for program in PROGRAMS}
	for pair in range(options.pairs + 1):
		for program in PROGRAMS:
			run = run_once(program, kafka, topic, call, options.records)
			if pair:
				runs[program].append(run)
				print(f"{call} {pair}/{options.pairs} {program}: {run}", file=sys.stderr, flush=True)
	return runs


def show(call, runs):
	ours, theirs = (runs[program] for program in PROGRAMS)
	rows = [["", "unit", *CALLS[call], "ours / theirs, by pair"]]
	for title, unit, figure in MEASURES:
		left, right = [figure(run) for run in ours], [figure(run) for run in theirs]
		ratios = [a / b for a, b in zip(left, right)]
		rows.append([title, unit, figures.summary(left, unit), figures.summary(right, unit), figures.summary(ratios, "")])
	print(figures.table(rows))
	speed = statistics.median(b["reading_us"] / a["reading_us"] for a, b in zip(ours, theirs))
	memory = statistics.median(a["maxrss_kib"] / b["maxrss_kib"] for a, b in zip(ours, theirs))
	print(f"\n{call}: speed {speed:.2f} (goal ≥ {GOALS[call]}), memory {memory:.2f} (goal ≤ {MEMORY_GOAL}), "
		f"at the median of {len(ours)} pairs. {figures.machine()}.\n", flush=True)


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("--records", type=int, default=2_000_000)
	parser.add_argument("--size", type=int, default=100)
	parser.add_argument("--pairs", type=int, default=5)
	parser.add_argument("--only", default=",".join(CALLS))
	parser.add_argument("--json")
	options = parser.parse_args()
	found, failures = {}, 0
	with harness.Kafka(shared=False) as kafka:
		topic = kafka.topic(PARTITIONS)
		subprocess.run([clients.program("throughput_fill"), kafka.bootstrap, topic, str(PARTITIONS), str(options.records),
			str(options.size)], check=True, timeout=180)
		for call in options.only.split(","):
			try:
				found[call] = compare(kafka, topic, call, options)
				show(call, found[call])
			except AssertionError as error:
				failures += 1
				print(f"NOT MEASURED {error}", flush=True)
	if options.json:
		with open(options.json, "w", encoding="utf-8") as file:
			json.dump(found, file, indent=1)
	return 1 if failures else 0


if __name__ == "__main__":
	sys.exit(main())

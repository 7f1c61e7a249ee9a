#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/demo.sh from start to end, on the embedded cluster and on a real broker: both pictures, and every record."""
import os
import subprocess
import sys

from harness import HERE, Cases, Kafka, Ours, in_order, program, scratch, unique

DEMO = os.path.join(HERE, "..", "..", "examples", "demo.sh")


def tells_all(kafka=None):
	build = os.path.dirname(os.path.dirname(program("regroup-member")))
	demo = subprocess.Popen(["sh", DEMO, *(["--bootstrap", kafka.bootstrap] if kafka else [])], stdin=subprocess.DEVNULL,
		stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
		env={**os.environ, "BUILD_DIR": build, "PYTHONIOENCODING": "utf-8"})
	try:
		told, _ = demo.communicate(timeout=300)
	except subprocess.TimeoutExpired:
		demo.terminate()  # it ends its members
		told, _ = demo.communicate()
	assert demo.returncode == 0, f"exit code {demo.returncode}\n{told}"
	# The states are the coordinator's to tell: a real one does not.
	in_order(told, "── not yet stable ──", *([] if kafka else ["[AwaitingSync]", "[PreparingRebalance]"]),
		"● runs its assignor", "SyncGroup + plan", "REBALANCE_IN_PROGRESS", "JoinGroup #3", "● runs its assignor",
		"SyncGroup + plan", "● complete gen 2", "● complete gen 2", "all holds",
		"── a third member ──", *([] if kafka else ["delayed join created", "[PreparingRebalance]"]),
		"── Heartbeat ──", "REBALANCE_IN_PROGRESS", "SyncGroup + plan", "● complete gen 3", "● complete gen 3",
		"● complete gen 3", "all holds", "10000 records (0 of them repeated): all holds", "Every record was seen once")


def on_a_real_broker(kafka):
	"""Not its first group: while the coordinator still loads, it makes whoever joins ask once more."""
	first = Ours(kafka, scratch(), "first", unique("demo"), [kafka.topic(1)])
	first.wait_for("complete")
	first.stop()
	tells_all(kafka)


def main():
	report = Cases()
	report.case("on the embedded cluster", tells_all)
	with Kafka() as kafka:
		report.case("on a real broker", on_a_real_broker, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The embedded coordinator answers as Kafka's own does: the same requests are sent to both, and what they answer is
compared line by line (tests/broker/coordinator_script.c has the stories)."""
import difflib
import os
import subprocess
import sys

from harness import PATIENCE, Cases, Kafka, program, unique

SCRIPT = os.environ["REGROUP_COORDINATOR_SCRIPT"]


class Embedded:
	"""regroup-coordinator with one topic, as a context."""

	def __enter__(self):
		self.topic = "t"
		self.process = subprocess.Popen([program("regroup-coordinator"), "--topics", "t:3", "--session-min", "1000"],
			stdout=subprocess.PIPE, text=True)
		line = self.process.stdout.readline()
		assert line.startswith("listening 127.0.0.1:"), line
		self.port = line.strip().rpartition(":")[2]
		return self

	def __exit__(self, *_):
		self.process.terminate()
		assert self.process.wait(PATIENCE) == 0


def tell(port, topic, story):
	done = subprocess.run([SCRIPT, port, unique("parity"), topic, story], capture_output=True, text=True,
		timeout=3 * PATIENCE)
	assert done.returncode == 0, done.stdout + done.stderr
	assert done.stdout, "nothing was said"
	return done.stdout.splitlines()


def same(embedded, kafka, topic, story):
	ours = tell(embedded.port, embedded.topic, story)
	theirs = tell(kafka.bootstrap.split(",")[0].rpartition(":")[2], topic, story)
	difference = list(difflib.unified_diff(theirs, ours, "kafka", "embedded", lineterm=""))
	assert not difference, "\n".join(difference)


def main():
	report = Cases()
	stories = subprocess.run([SCRIPT], capture_output=True, text=True, check=True).stdout.split()
	with Kafka() as kafka, Embedded() as embedded:
		topic = kafka.topic(3)
		for story in stories:
			report.case(story, same, embedded, kafka, topic, story)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""examples/sequence.py draws what the events say, in order, and inside its width."""
import json
import os
import subprocess
import sys
import tempfile

from report import Report, in_order

HERE = os.path.dirname(os.path.abspath(__file__))
SEQUENCE = os.path.join(HERE, "..", "..", "examples", "sequence.py")
T0 = 1_700_000_000_000_000
M1, M2 = "m1-11112222-3333-4444-5555-666677778888", "m2-21112222-3333-4444-5555-666677778888"
KCAT = "rdkafka-31112222-3333-4444-5555-666677778888"


def client(t_us, event, member="", **fields):
	return {"t_us": T0 + t_us, "src": "client", "member": member, "event": event, **fields}


def coordinator(t_us, event, member="", **fields):
	return {"t_us": T0 + t_us, "src": "coordinator", "group": "g", "member": member, "event": event, **fields}


# scenarios A.16: SyncGroup answered 27 because another member joined meanwhile.
STORY = {
	"m1": [
		client(0, "prepare"), client(100, "join_sent"),
		client(2000, "join_received", M1, gen=1, leader=True), client(2100, "assign", M1),
		client(900_000, "sync_sent", M1),
		client(901_000, "sync_received", M1, error="REBALANCE_IN_PROGRESS"), client(901_100, "join_sent", M1),
		client(903_000, "join_received", M1, gen=2, leader=True),
		client(904_000, "sync_sent", M1), client(905_000, "sync_received", M1),
		client(905_100, "complete", M1, gen=2), client(905_200, "assigned", M1, partitions={"t": [0, 1, 2, 4]}),
		client(950_000, "heartbeat_sent", M1), client(951_000, "heartbeat_received", M1),
		client(960_000, "heartbeat_sent", M1), client(961_000, "heartbeat_received", M1, error="REBALANCE_IN_PROGRESS"),
	],
	"m2": [
		client(400_000, "prepare"), client(400_100, "join_sent"),
		client(903_100, "join_received", M2, gen=2), client(903_200, "sync_sent", M2),
		client(905_300, "sync_received", M2), client(905_400, "complete", M2, gen=2),
	],
	"cluster": [
		coordinator(200, "state", to="PreparingRebalance"), coordinator(300, "state", to="CompletingRebalance"),
		coordinator(400_200, "state", to="PreparingRebalance"), coordinator(400_300, "delayed_join", created=True),
		coordinator(902_000, "delayed_join", completed=True), coordinator(902_100, "state", to="AwaitingSync"),
		coordinator(902_200, "join_answered", M1, gen=2), coordinator(904_100, "state", to="Stable"),
		coordinator(920_000, "join_received", KCAT), coordinator(921_000, "join_answered", KCAT, gen=3),
	],
}


def draw(story, *options):
	with tempfile.TemporaryDirectory() as folder:
		paths = []
		for name, events in story.items():
			paths.append(os.path.join(folder, name + ".jsonl"))
			with open(paths[-1], "w", encoding="utf-8") as file:
				file.writelines(json.dumps(event) + "\n" for event in events)
		done = subprocess.run([sys.executable, SEQUENCE, *options, *paths], capture_output=True, text=True,
			env={**os.environ, "PYTHONIOENCODING": "utf-8"})
	assert done.returncode == 0, done.stderr
	return done.stdout


def both_sides():
	text = draw(STORY, "--title", "not yet stable")
	in_order(text, "not yet stable", "m1", "m2", "rdkafka-3111", "coordinator", "● prepare", "JoinGroup #1 ─",
		"[PreparingRebalance]", "[AwaitingSync]", "gen 1, leader", "● runs its assignor", "[PreparingRebalance]",
		"delayed join created", "┊", "SyncGroup + plan", "REBALANCE_IN_PROGRESS", "JoinGroup #2", "delayed join completes",
		"[AwaitingSync]", "gen 2, leader", "gen 2, member", "[Stable]", "● complete gen 2", "● assigned t 0-2,4",
		"JoinGroup ─", "gen 3, member", "── Heartbeat ─", "REBALANCE_IN_PROGRESS")
	assert text.count("Heartbeat ─") == 1, "a heartbeat that went well is drawn"
	# m1's and m2's own requests are drawn once, not also from the coordinator's side.
	assert text.count("gen 2, leader") == 1, text


def width():
	for line in draw(STORY).split("\n"):
		assert len(line) <= 120, line


def members_only():
	text = draw({name: STORY[name] for name in ("m1", "m2")})
	in_order(text, "m1", "m2", "coordinator", "JoinGroup #1", "gen 1, leader", "REBALANCE_IN_PROGRESS", "● complete gen 2")
	assert "Stable" not in text and "rdkafka" not in text


def killed():
	in_order(draw(STORY, "--kill", "m2=1700000001.5"), "● complete gen 2", "✗ killed -9")


def sentences_keep_their_blanks():
	error = {"t_us": 1700000000100000, "src": "client", "member": "", "gen": -1, "event": "error", "error": "TIMED_OUT",
		"reason": "a:1, b:2"}
	text = draw({"m1": [dict(error, event="start"), error], "m2": [dict(error, event="start")]})
	assert "TIMED_OUT a:1, b:2" in text, text


def span_of_time():
	text = draw(STORY, "--from", "1700000000.89")
	assert "JoinGroup #1" in text and "● prepare" not in text, text
	assert "1.0" not in text, "time starts at the first event drawn"


def main():
	report = Report()
	for case in (both_sides, width, members_only, killed, sentences_keep_their_blanks, span_of_time):
		report.case(case.__name__, case)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

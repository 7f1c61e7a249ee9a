#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""events.py finds what it is there to find: each case is a small story with one thing wrong in it, and its twin without."""
import json
import os
import subprocess
import sys
import tempfile

import events
from report import Report

HERE = os.path.dirname(os.path.abspath(__file__))


def told(*lines):
	"""A stream from (t_us, event[, partitions[, fields]])."""
	stream = []
	for t_us, kind, *rest in lines:
		event = {"t_us": t_us, "src": "client", "member": "", "event": kind}
		if rest and rest[0] is not None:
			event["partitions"] = {"t": rest[0]}
		stream.append(event)
	return stream


def named(**streams):
	for name, stream in streams.items():
		for event in stream:
			event["process"] = name
	return streams


def findings(kills=None, **streams):
	return events.check(named(**streams), kills)


def expect(found, *starts):
	kinds = [finding.split(":")[0] for finding in found]
	assert kinds == list(starts), f"expected {starts}, found {found}"


def one_round(t, partitions):
	return [(t, "prepare"), (t + 1, "complete"), (t + 2, "assigned", partitions)]


def clean_handover():
	m1 = told(*one_round(0, [0, 1]), (10, "prepare"), (11, "revoked", [0, 1]), (14, "complete"), (15, "assigned", [0]))
	m2 = told(*one_round(11, [1]))
	expect(findings(m1=m1, m2=m2))


def two_owners():
	m1 = told(*one_round(0, [0, 1]), (20, "prepare"), (21, "revoked", [0, 1]))
	m2 = told(*one_round(10, [1]))
	found = findings(m1=m1, m2=m2)
	expect(found, "ownership")
	assert "t 1 " in found[0] and "m1 and m2" in found[0] and "for 9 us" in found[0], found


def two_owners_to_the_end():
	expect(findings(m1=told(*one_round(0, [0])), m2=told(*one_round(5, [0]))), "ownership")


def three_owners_one_long():
	# The long owner overlaps both short ones, which do not touch each other.
	m1 = told(*one_round(0, [0]), (100, "revoked", [0]))
	m2 = told(*one_round(10, [0]), (20, "revoked", [0]))
	m3 = told(*one_round(30, [0]), (40, "revoked", [0]))
	expect(findings(m1=m1, m2=m2, m3=m3), "ownership", "ownership")


def same_microsecond():
	m1 = told(*one_round(0, [0]), (12, "revoked", [0]))
	expect(findings(m1=m1, m2=told(*one_round(10, [0]))))
	m1 = told(*one_round(0, [0]), (13, "revoked", [0]))
	expect(findings(m1=m1, m2=told(*one_round(10, [0]))), "ownership")


def lost_and_closed_end_it():
	m1 = told(*one_round(0, [0]), (10, "lost", [0]))
	m2 = told(*one_round(20, [0]), (30, "closed"))
	m3 = told(*one_round(40, [0]), (50, "left"))
	m4 = told(*one_round(60, [0]))
	expect(findings(m1=m1, m2=m2, m3=m3, m4=m4))


def killed_ends_it():
	m1, m2 = told(*one_round(0, [0])), told(*one_round(50, [0]))
	expect(findings({"m1": 40}, m1=m1, m2=m2))
	expect(findings({"m1": 60}, m1=m1, m2=m2), "ownership")
	expect(findings(m1=m1, m2=m2), "ownership")


def alternation():
	expect(findings(m1=told((0, "prepare"), (1, "complete"), (2, "prepare"), (3, "complete"))))
	expect(findings(m1=told((0, "prepare"), (1, "prepare"), (2, "complete"))), "alternation")
	expect(findings(m1=told((0, "complete"),)), "alternation")
	expect(findings(m1=told((0, "prepare"), (1, "complete"), (2, "complete"))), "alternation")
	# A process that ended inside a rebalance and began anew is a new subscription.
	expect(findings(m1=told((0, "prepare"), (1, "closed"), (2, "start"), (3, "prepare"), (4, "complete"))))
	# Only one's own counts.
	expect(findings(m1=told((0, "prepare"), (2, "complete")), m2=told((1, "prepare"), (3, "complete"))))


def bookkeeping():
	expect(findings(m1=told(*one_round(0, [0]), (5, "assigned", [0]))), "bookkeeping")
	expect(findings(m1=told((5, "revoked", [0]))), "bookkeeping")


def clock():
	expect(findings(m1=told((5, "prepare"), (4, "complete"))), "clock")


def coordinator_owns_nothing():
	line = {"t_us": 1, "src": "coordinator", "event": "assigned", "partitions": {"t": [0]}}
	expect(findings(c=[line], m1=told(*one_round(0, [0]))))


def several_members_in_one_stream():
	with tempfile.TemporaryDirectory() as folder:
		path = os.path.join(folder, "all.jsonl")
		with open(path, "w", encoding="utf-8") as file:
			for t, client in ((0, "a"), (10, "b")):
				for event in told(*one_round(t, [0])):
					print(json.dumps({**event, "client": client}), file=file)
		found = events.check(events.load({"all": path}))
	expect(found, "ownership")
	assert "a and b" in found[0], found


def records():
	ends = {"t": {"0": 2, "1": 1}}
	every = [("t", 0, 0), ("t", 0, 1), ("t", 1, 0)]
	assert events.check_records(every, ends, False) == ([], 0)
	expect(events.check_records(every[1:], ends, False)[0], "records")
	expect(events.check_records(every + every[:1], ends, False)[0], "records")
	assert events.check_records(every + every[:1], ends, True) == ([], 1)
	expect(events.check_records(every + [("t", 1, 1)], ends, True)[0], "records")


def command_line():
	"""The exit codes and the half line that only a killed process may leave."""
	def run(*arguments):
		done = subprocess.run([sys.executable, os.path.join(HERE, "events.py"), *arguments], capture_output=True, text=True)
		return done.returncode, done.stdout + done.stderr

	with tempfile.TemporaryDirectory() as folder:
		def write(name, text):
			path = os.path.join(folder, name)
			with open(path, "w", encoding="utf-8") as file:
				file.write(text)
			return path

		m1 = write("m1.jsonl", "".join(json.dumps(e) + "\n" for e in told(*one_round(1_000_000, [0]))))
		m2 = write("m2.jsonl", "".join(json.dumps(e) + "\n" for e in told(*one_round(3_000_000, [0]))))
		cut = write("cut.jsonl", json.dumps(told((1, "start"))[0]) + '\n{"t_us":2,"ev')
		wrong = write("wrong.jsonl", '{"t_us":"now","event":"start"}\n')
		out = write("out", "t 0 0\nt 0 1\n")
		ends = write("ends", '{"t": {"0": 3}}')
		assert run(m1)[0] == 0, run(m1)
		assert run(m1, m2)[0] == 1, run(m1, m2)
		assert run("--kill", "m1=2.5", m1, m2)[0] == 0
		assert run("first=" + m1, m1)[0] == 1
		assert run(m1, m1)[0] == 2
		assert run(cut)[0] == 2 and run("--kill", "cut=1", cut)[0] == 0
		assert run(wrong)[0] == 2 and "wrong.jsonl:1" in run(wrong)[1]
		assert run("--records", out, "--ends", ends, m1)[0] == 1
		assert "t 0 offset 2" in run("--records", out, "--ends", ends, m1)[1]


def main():
	report = Report()
	for case in (clean_handover, two_owners, two_owners_to_the_end, three_owners_one_long, same_microsecond,
			lost_and_closed_end_it, killed_ends_it, alternation, bookkeeping, clock, coordinator_owns_nothing,
			several_members_in_one_stream, records, command_line):
		report.case(case.__name__, case)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up test cases from the logs that `meson test` leaves (meson-logs/*.json).

    count.py LOG…        one line per test that failed or was skipped, with what a failed one said last, then
                         "N passed, N failed, N skipped"

A program of Check tells its cases ("100%: Checks: 12, Failures: 0, Errors: 0", once per runner), a script tells
"N passed, N failed, N skipped"; a program that tells neither is one case. A program that failed without telling of a failed
case (a crash, a timeout, a leak found at exit) adds one, and so does one that "passed" without running a case.
Exit code 1 when anything failed or nothing ran.
"""
import json
import re
import sys

CHECK = re.compile(r"^\s*\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)\s*$", re.M)
SCRIPT = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.M)
FOUND = re.compile(r".*((ERROR|WARNING): \w+Sanitizer|: runtime error:)")
SAID_LINES = 12
GOOD = {"OK", "EXPECTEDFAIL"}


def last_words(test):
	"""Of a test that failed: what a sanitizer found and what its cases failed on, else the end of what it printed."""
	stdout, stderr = test.get("stdout") or "", test.get("stderr") or ""
	lines = [line for line in stderr.split("\n") if FOUND.match(line)]
	if CHECK.search(stdout):
		lines += stdout[list(CHECK.finditer(stdout))[-1].end():].split("\n")[:SAID_LINES]
	else:
		lines += [line for line in stdout.split("\n") if line.startswith("FAIL")]
	lines = [line for line in lines if line.strip()] or [line for line in (stdout + "\n" + stderr).split("\n") if line.strip()]
	return "".join(f"\n    {line.strip()[:500]}" for line in lines[-SAID_LINES:])


def count_test(test):
	"""(passed, failed, skipped, what to say about it or None)"""
	name, result, text = test["name"], test["result"], test.get("stdout") or ""
	if result == "SKIP":
		said = [line for line in (text + "\n" + (test.get("stderr") or "")).split("\n") if line.strip()]
		return 0, 0, 1, f"SKIPPED {name}: {said[-1] if said else 'no reason told'}"
	runners = CHECK.findall(text)
	scripts = SCRIPT.findall(text)
	if runners:
		ran, failures, errors = (sum(int(r[i]) for r in runners) for i in range(3))
		passed, failed, skipped = ran - failures - errors, failures + errors, 0
	elif scripts:
		passed, failed, skipped = map(int, scripts[-1])
	else:
		passed, failed, skipped = int(result in GOOD), 0, 0
	told = f"SKIPPED {name}: {skipped} of its cases" if skipped else None
	if result not in GOOD:
		failed = max(failed, 1)
	elif passed + failed + skipped == 0:
		failed = 1
		result = "ran no case"
	if failed:
		told = f"FAILED {name}: {result}, {failed} failed{last_words(test)}"
	return passed, failed, skipped, told


def count(paths):
	total, lines = [0, 0, 0], []
	for path in paths:
		with open(path, encoding="utf-8") as file:
			for line in file:
				*numbers, told = count_test(json.loads(line))
				total = [a + b for a, b in zip(total, numbers)]
				if told:
					lines.append(told)
	return total, lines


def main():
	(passed, failed, skipped), lines = count(sys.argv[1:])
	if passed + failed + skipped == 0:
		failed = 1
		lines.append("FAILED: no test was run")
	for line in lines:
		print(line)
	print(f"{passed} passed, {failed} failed, {skipped} skipped")
	return 1 if failed else 0


if __name__ == "__main__":
	sys.exit(main())

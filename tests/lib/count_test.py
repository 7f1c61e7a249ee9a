#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count.py: nothing that failed, was left out or ran nothing may look like a success."""
import json
import os
import subprocess
import sys
import tempfile

import count
from report import Report

HERE = os.path.dirname(os.path.abspath(__file__))


def of(result, stdout="", **fields):
	return count.count_test({"name": "unit / x", "result": result, "stdout": stdout, **fields})[:3]


def check_programs():
	assert of("OK", "Running suite(s): x\n100%: Checks: 12, Failures: 0, Errors: 0\n") == (12, 0, 0)
	assert of("FAIL", "50%: Checks: 4, Failures: 1, Errors: 1\nx.c:3:F:...\n") == (2, 2, 0)
	assert of("OK", "100%: Checks: 2, Failures: 0, Errors: 0\n100%: Checks: 3, Failures: 0, Errors: 0\n") == (5, 0, 0)


def failures_nobody_told():
	assert of("FAIL", "100%: Checks: 12, Failures: 0, Errors: 0\n") == (12, 1, 0), "a leak found at exit"
	assert of("TIMEOUT") == (0, 1, 0)
	assert of("ERROR", "") == (0, 1, 0)
	assert of("OK", "100%: Checks: 0, Failures: 0, Errors: 0\n") == (0, 1, 0), "an empty suite"
	assert of("UNEXPECTEDPASS") == (0, 1, 0)


def scripts():
	assert of("OK", "ok a\n3 passed, 0 failed, 1 skipped\n") == (3, 0, 1)
	assert of("FAIL", "FAIL a\n3 passed, 2 failed, 0 skipped\n") == (3, 2, 0)
	assert of("OK") == (1, 0, 0)


def skips():
	passed, failed, skipped, told = count.count_test(
		{"name": "broker / x", "result": "SKIP", "stdout": "", "stderr": "there is no java\n"})
	assert (passed, failed, skipped) == (0, 0, 1) and "there is no java" in told


def last_words():
	def said(**fields):
		return count.count_test({"name": "x", "result": "FAIL", **fields})[3].split("\n    ")[1:]

	assert said(stdout="much\n50%: Checks: 2, Failures: 1, Errors: 0\na.c:3:F:x:y:0: no\nmore of it\n", stderr="log") == \
		["a.c:3:F:x:y:0: no", "more of it"]
	assert said(stdout="ok a\nFAIL b: why\nok c\n1 passed, 1 failed, 0 skipped\n") == ["FAIL b: why"]
	assert said(stdout="100%: Checks: 2, Failures: 0, Errors: 0\n", stderr="==7==ERROR: LeakSanitizer: 8 bytes\nat\n") == \
		["==7==ERROR: LeakSanitizer: 8 bytes"]
	assert said(stdout="".join(f"{i}\n" for i in range(50)), stderr="last\n")[-2:] == ["49", "last"]


def command_line():
	with tempfile.TemporaryDirectory() as folder:
		def run(*tests):
			path = os.path.join(folder, "log.json")
			with open(path, "w", encoding="utf-8") as file:
				file.writelines(json.dumps(test) + "\n" for test in tests)
			done = subprocess.run([sys.executable, os.path.join(HERE, "count.py"), path], capture_output=True, text=True)
			return done.returncode, done.stdout.strip().split("\n")

		good = {"name": "a", "result": "OK", "stdout": "100%: Checks: 2, Failures: 0, Errors: 0\n"}
		bad = {"name": "b", "result": "FAIL", "stdout": ""}
		assert run(good) == (0, ["2 passed, 0 failed, 0 skipped"])
		assert run(good, bad) == (1, ["FAILED b: FAIL, 1 failed", "2 passed, 1 failed, 0 skipped"])
		assert run()[0] == 1


def main():
	report = Report()
	for case in (check_programs, failures_nobody_told, scripts, skips, last_words, command_line):
		report.case(case.__name__, case)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

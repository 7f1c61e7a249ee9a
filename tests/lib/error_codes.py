#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every error that a public header says a call returns is returned by it in a test, and every error there is somewhere.

    error_codes.py ROOT

Told apart by text: a test, or a helper of one, that has both the call's name (or that of a helper which calls it) and the
error's. That the test would fail without is for whoever writes it.
"""
import os
import re
import sys

from report import Report

DECLARATION = re.compile(r"/\*\*((?:(?!\*/).)*)\*/\s*((?:RG_API [^;{]*;\s*)+)", re.S)
# Calls that tests make through helpers.
THROUGH = {
	"rg_consumer_poll": "crew_turn|crew_until|crew_poll_for",
	"rg_consumer_commit": "AGAIN",
	"rg_member_new": "rg__member_new_on|make_member",
}
# What no test can bring about, and why.
EXCUSED = {
	("rg_consumer_new", "RG_ERR_LIBRDKAFKA"): "librdkafka takes every combination of properties that gets past rg_conf_set()",
	("rg_consumer_poll", "RG_ERR_LIBRDKAFKA"): "librdkafka refuses no partition that a leader may give",
	("rg_consumer_position", "RG_ERR_LIBRDKAFKA"): "librdkafka has a position for every partition it was given",
	("rg_testkit_new", "RG_ERR_LIBRDKAFKA"): "librdkafka's mock broker only fails without descriptors",
	("rg_testkit_produce", "RG_ERR_LIBRDKAFKA"): "librdkafka's producer has nothing against what the kit gives it",
	("rg_testkit_produce", "RG_ERR_TIMED_OUT"): "takes a minute",
}


def documented(text):
	"""(call, error) for each that a header's comments promise."""
	for comment, declarations in DECLARATION.findall(text):
		for call in re.findall(r"\b(rg_\w+)\(", declarations):
			for error in sorted(set(re.findall(r"\bRG_ERR_\w+", comment))):
				yield call, error


def functions(root):
	"""The text of each function and test of the suites."""
	for folder, _, names in os.walk(os.path.join(root, "tests")):
		for name in names:
			if name.endswith(".c"):
				with open(os.path.join(folder, name), encoding="utf-8") as file:
					yield from re.split(r"\n}\n|\nEND_TEST", file.read())


def is_tested(call, error, texts):
	name = re.compile(rf"\b(?:{call}|{THROUGH.get(call, call)})\b")
	# In what poll told, errors stand by their names.
	code = re.compile(rf"\b{error}\b|\"[^\"\n]*\b{error.removeprefix('RG_ERR_')}\b")
	return any(name.search(text) and code.search(text) for text in texts)


def check_call(call, error, texts):
	tested = is_tested(call, error, texts)
	if (call, error) in EXCUSED:
		assert not tested, "it is tested, so it needs no excuse"
	else:
		assert tested, f"no test has {call} and {error} in one function"


def check_error(error, texts):
	assert any(re.search(rf"\b{error}\b", text) for text in texts), f"{error} is in no test"


def main():
	root = sys.argv[1]
	headers = os.path.join(root, "include", "regroup")
	texts = list(functions(root))
	report = Report()
	for name in sorted(os.listdir(headers)):
		if not name.endswith(".h"):
			continue
		with open(os.path.join(headers, name), encoding="utf-8") as file:
			text = file.read()
		for call, error in documented(text):
			report.case(f"{call} returns {error}", check_call, call, error, texts)
		for error in re.findall(r"^\t(RG_ERR_\w+) = ", text, re.M):
			report.case(f"{error} is returned", check_error, error, texts)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of scenarios, held against the tests.

    scenarios.py ROOT           fails when tests/SCENARIOS.md and the tests' comments do not agree
    scenarios.py ROOT --write   brings the generated part of tests/SCENARIOS.md up to date
    scenarios.py ROOT --count   how many are tested, how many are not, and how many have a reason

A test carries a tag when a comment in it or before it, or its docstring, says "scenarios A.16, B.45", "scenarios F.101 to
F.105", "bugs 15, 16", "bugs kafka 20938", "bugs librdkafka 3, 5", or KAFKA-20938 if that number is in the list. Remarks in
parentheses after a number are skipped. Where a file has no tests of Check or functions, the file itself is the test.
"""
import ast
import io
import os
import re
import sys
import tokenize

from report import Report

LIST = os.path.join("tests", "SCENARIOS.md")
NOT_YET = "no test yet"
BEGIN, END = "<!-- generated: begin -->", "<!-- generated: end -->"
REMARK = r"(?:\s*\([^()]*\))?"
ENTRY = rf"(?:(?:kafka|librdkafka)\s+)?\d+{REMARK}|KAFKA-\d+{REMARK}"
BUGS = re.compile(rf"\bbugs\s+(?:{ENTRY})(?:(?:,\s*|\s+and\s+)(?:{ENTRY})|;\s*(?:kafka|librdkafka)\s+\d+{REMARK})*")
SCENARIO = re.compile(r"\b([A-J])\.(\d+)(?:\s+to\s+\1\.(\d+))?\b")
C_TEST = re.compile(r"^START_TEST\((\w+)\)(.*?)^END_TEST", re.M | re.S)
C_TOKEN = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def tags_of(comment, listed):
	"""The tags that a comment carries. KAFKA-n outside a list of bugs is a tag only if it is `listed`: else it is a
	reference like any other."""
	text = re.sub(r"\s*\n\s*(?:\*|#)?\s*", " ", comment)
	if re.search(r"\bscenarios\s", text):
		for letter, first, last in SCENARIO.findall(text):
			for number in range(int(first), int(last or first) + 1):
				yield f"{letter}.{number}"
	for found in BUGS.finditer(text):
		kind = ""
		for who, number in re.findall(r"(kafka\s+|librdkafka\s+|KAFKA-)?(\d+)", re.sub(r"\([^()]*\)", "", found.group())):
			if who != "KAFKA-":
				kind = who.strip() + " " if who else kind
				yield f"bugs {kind}{number}"
	for number in re.findall(r"\bKAFKA-(\d+)", text):
		if f"bugs kafka {number}" in listed:
			yield f"bugs kafka {number}"


def c_comments(text):
	"""(comment, test that it is in or before or None)"""
	tests = [(m.start(), m.end(), m.group(1)) for m in C_TEST.finditer(text)]
	for token in C_TOKEN.finditer(text):
		if token.group().startswith("/*"):
			yield token.group(), next((name for _, end, name in tests if token.start() < end), None)


def python_comments(text):
	functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
	functions.sort(key=lambda node: node.end_lineno)
	for node in functions:
		if ast.get_docstring(node):
			yield ast.get_docstring(node), node.name
	for token in tokenize.generate_tokens(io.StringIO(text).readline):
		if token.type == tokenize.COMMENT:
			yield token.string, next((node.name for node in functions if token.start[0] <= node.end_lineno), None)


def tests_of(path, text):
	"""The names of what is run in a file, or None if the file itself is the test."""
	if path.endswith(".py"):
		names = [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
	else:
		names = [m.group(1) for m in C_TEST.finditer(text)]
	return {name for name in names if len(re.findall(rf"\b{name}\b", text)) > 1} if names else None


def sources(root):
	for where, folders, names in os.walk(os.path.join(root, "tests")):
		folders[:] = sorted(f for f in folders if f != "lib" and not f.startswith((".", "__")))
		for name in sorted(names):
			if name.endswith((".c", ".h", ".py")):
				path = os.path.join(where, name)
				with open(path, encoding="utf-8") as file:
					yield os.path.relpath(path, os.path.join(root, "tests")), file.read()


def carried(root, listed):
	"""{tag: [place]} with "file: test" or "file" as place, and what is wrong with places."""
	where, wrong = {}, []
	for path, text in sources(root):
		run = tests_of(path, text)
		for comment, test in (python_comments if path.endswith(".py") else c_comments)(text):
			for tag in tags_of(comment, listed):
				place = f"{path}: {test}" if run is not None and test else path
				if run is not None and test not in run:
					wrong.append(f"{tag} in {path} belongs to no test that is run ({test})")
				elif place not in where.setdefault(tag, []):
					where[tag].append(place)
	return where, wrong


class Listed:
	"""tests/SCENARIOS.md"""

	def __init__(self, root):
		self.path = os.path.join(root, LIST)
		with open(self.path, encoding="utf-8") as file:
			self.text = file.read()
		assert self.text.count(BEGIN) == 1 and self.text.count(END) == 1, "the marks of the generated part"
		self.before, rest = self.text.split(BEGIN)
		self.generated, self.after = rest.split(END)
		self.reasons, self.double = {}, []
		for row in re.findall(r"^\| ((?:[A-J]\.|bugs )[^|]*?) *\|(.*)\|$", self.before, re.M):
			tag, cells = row[0], [cell.strip() for cell in row[1].split("|")]
			assert len(cells) == 2 and cells[0], f"{tag}: a row is tag, scenario, reason"
			if tag in self.reasons:
				self.double.append(tag)
			self.reasons[tag] = cells[1]


def generated(listed, where):
	rows = [f"| {tag} | {'; '.join(where[tag])} |" for tag in listed.reasons if tag in where]
	return "\n".join(["", "| tag | tested by |", "|---|---|", *rows, ""])


def nothing(findings):
	assert not findings, "\n  ".join(["", *findings])


def named_tests(root, listed):
	"""Places that a reason or the generated part names and that are not there."""
	known = {path: tests_of(path, text) for path, text in sources(root)}
	for path, test in re.findall(r"([\w/]+\.(?:c|py|md))(?:: (\w+))?", listed.text):
		if path not in known and not os.path.exists(os.path.join(root, "tests", path.removeprefix("tests/"))):
			yield f"{path} does not exist"
		elif test and test not in (known.get(path) or ()):
			yield f"{path} runs no test {test}"


def main():
	root, options = sys.argv[1], sys.argv[2:]
	listed = Listed(root)
	where, wrong = carried(root, listed.reasons)
	if options == ["--write"]:
		with open(listed.path, "w", encoding="utf-8") as file:
			file.write(listed.before + BEGIN + generated(listed, where) + END + listed.after)
		return 0
	tested = [tag for tag in listed.reasons if tag in where]
	open_ones = [tag for tag, reason in listed.reasons.items() if reason.startswith(NOT_YET)]
	print(f"# {len(tested)} tested, {len(listed.reasons) - len(tested) - len(open_ones)} with a reason, "
		f"{len(open_ones)} without a test yet")
	if options == ["--count"]:
		return 0
	report = Report()
	report.case("every tag has a test or a reason", nothing,
		[f"{tag}: no test carries it, and there is no reason" for tag, reason in listed.reasons.items()
			if tag not in where and not reason])
	report.case("what is tested needs no reason", nothing,
		[f"{tag}: {listed.reasons[tag]!r}, but {where[tag][0]} carries it" for tag in tested if listed.reasons[tag]])
	report.case("every tag of a test is in the list, once", nothing,
		[f"{tag}, in {places[0]}, is not listed" for tag, places in where.items() if tag not in listed.reasons] +
		[f"{tag} is listed twice" for tag in listed.double])
	report.case("every tag belongs to a test", nothing, wrong)
	report.case("every test that is named exists", nothing, list(named_tests(root, listed)))
	report.case("the generated part is up to date", nothing,
		[] if listed.generated == generated(listed, where) else ["run tests/lib/scenarios.py ROOT --write"])
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scenarios.py reads tags as they are written, and objects to what it should object to."""
import contextlib
import io
import os
import sys
import tempfile

import scenarios
from report import Report

C = "/* scenarios A.1 */\nSTART_TEST(one)\n{\n}\nEND_TEST\nvoid fill(void)\n{\n\tadd(one);\n}\n"
TABLE = "| A.1 | a thing | |\n| bugs 2 | another | no test yet |\n"


def read(comment):
	return list(scenarios.tags_of(comment, {"bugs kafka 7": ""}))


def forms():
	assert read("/* scenarios A.16 */") == ["A.16"]
	assert read("/* scenarios B.45, B.47; bugs librdkafka 1 */") == ["B.45", "B.47", "bugs librdkafka 1"]
	assert read("/* scenarios F.101 to F.103: x */") == ["F.101", "F.102", "F.103"]
	assert read("/* bugs 57, 64; librdkafka 59, 60: x */") == ["bugs 57", "bugs 64", "bugs librdkafka 59",
		"bugs librdkafka 60"]
	assert read("/* bugs 64, librdkafka 60 (#5327), kafka 3\n * (remark) */") == ["bugs 64", "bugs librdkafka 60", "bugs kafka 3"]
	assert read("/* bugs librdkafka 3; 16 at all others */") == ["bugs librdkafka 3"]
	assert read("/* x, bugs librdkafka\n\t * 46 (27 counts) */") == ["bugs librdkafka 46"]
	assert read("/* bugs 69, KAFKA-7: see KAFKA-8 */") == ["bugs 69", "bugs kafka 7"]
	assert read("/* bugs 1 and 2, and A.1 is no tag */") == ["bugs 1", "bugs 2"]


def failed_cases(test=C, table=TABLE, fresh=True):
	"""How many of the cases fail for a tree of one test and a list."""
	with tempfile.TemporaryDirectory() as root:
		os.mkdir(os.path.join(root, "tests"))
		for name, text in (("a.c", test), ("SCENARIOS.md", table + scenarios.BEGIN + scenarios.END)):
			with open(os.path.join(root, "tests", name), "w", encoding="utf-8") as file:
				file.write(text)
		said, sys.argv = io.StringIO(), ["scenarios.py", root]
		with contextlib.redirect_stdout(said):
			if fresh:
				sys.argv.append("--write")
				scenarios.main()
				sys.argv.pop()
			scenarios.main()
		return said.getvalue().count("FAIL ")


def objections():
	assert failed_cases() == 0
	assert failed_cases(fresh=False) == 1, "a generated part of yesterday"
	assert failed_cases(table=TABLE + "| A.2 | neither test nor reason | |\n") == 1
	assert failed_cases(table=TABLE + "| A.2 | a | no use |\n| A.2 | a | no use |\n") == 1, "twice"
	assert failed_cases(table=TABLE.replace("| A.1 |", "| A.2 |").replace("a thing | |", "a | no use |")) == 1, "an unknown tag"
	assert failed_cases(table=TABLE.replace("a thing | |", "a thing | no test yet |")) == 1, "a reason that is no longer true"
	assert failed_cases(table=TABLE + "| A.2 | a | see a.c: two |\n") == 1, "no such test"
	assert failed_cases(table=TABLE + "| A.2 | a | see b.c |\n") == 1, "no such file"
	assert failed_cases(test=C.replace("add(one)", "add(two)")) >= 1, "a test that is not run"
	assert failed_cases(test=C + "/* bugs 2 */\n") >= 1, "a tag behind the last test"


def main():
	report = Report()
	for case in (forms, objections):
		report.case(case.__name__, case)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

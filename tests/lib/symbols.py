#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A shared library exports what its symbol file says, and that is what its public headers declare, no more and no less.

    symbols.py LIBRARY.so FILE.map HEADER…

A folder stands for all headers in it but the testkit's, which belong to a library of their own.
"""
import glob
import os
import re
import subprocess
import sys

from report import Report

DECLARED = re.compile(r"\bRG_API\b[^;{]*?\b(rg_\w+)\s*(?:\(|;|\[)")
SECTION = re.compile(r"([A-Z][A-Z0-9_.]*)\s*\{(.*?)\}", re.S)


def code_only(text):
	return re.sub(r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*", " ", text, flags=re.S | re.M)


def exported(library):
	done = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
	names = set()
	for line in done.stdout.split("\n"):
		parts = line.split()
		# "A" marks the version sections themselves.
		if len(parts) == 3 and parts[1] != "A":
			names.add(parts[2].split("@")[0])
	return names


def in_map(path):
	with open(path, encoding="utf-8") as file:
		text = code_only(file.read())
	names = set()
	for _, body in SECTION.findall(text):
		public = re.split(r"\blocal\s*:", body)[0].replace("global:", " ")
		names.update(name for name in re.split(r"[;\s]+", public) if name)
	return names


def in_headers(paths):
	names = set()
	for path in [one for path in paths for one in (glob.glob(path + "/*.h") if os.path.isdir(path) else [path])
			if path == one or not os.path.basename(one).startswith("testkit")]:
		with open(path, encoding="utf-8") as file:
			names.update(DECLARED.findall(code_only(file.read())))
	return names


def same(what, have, want):
	missing, extra = sorted(want - have), sorted(have - want)
	assert not missing and not extra, f"{what}: missing {missing}, too many {extra}"


def prefixed(names):
	wrong = sorted(name for name in names if not re.fullmatch(r"rg_[a-z0-9]\w*", name))
	assert names, "nothing is exported"
	assert not wrong, f"exported, but not a public name: {wrong}"


def main():
	library, symbol_file, headers = sys.argv[1], sys.argv[2], sys.argv[3:]
	report = Report()
	report.case("every exported name is public", prefixed, exported(library))
	report.case("exported = symbol file", same, "library against symbol file", exported(library), in_map(symbol_file))
	report.case("exported = public headers", same, "library against headers", exported(library), in_headers(headers))
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every public header stands on its own, may be included twice, and is clean in C11 and in C++11.

    headers.py ROOT
"""
import os
import shlex
import shutil
import subprocess
import sys
import tempfile

from report import Report, Skip

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-fsyntax-only"]
COMPILERS = {"gcc": ["-xc", "-std=c11"], "clang": ["-xc", "-std=c11"],
	"g++": ["-xc++", "-std=c++11"], "clang++": ["-xc++", "-std=c++11"]}


def compile_header(compiler, include, header):
	if not shutil.which(compiler):
		raise Skip(f"no {compiler} here")
	flags = shlex.split(subprocess.run(["pkg-config", "--cflags", "rdkafka"], capture_output=True, text=True).stdout)
	with tempfile.TemporaryDirectory() as folder:
		path = os.path.join(folder, "one.c")
		with open(path, "w", encoding="utf-8") as file:
			# The second time the guard must hold; main keeps an otherwise empty unit legal.
			file.write(f"#include <{header}>\n#include <{header}>\nint main(void) {{ return 0; }}\n")
		done = subprocess.run([compiler, *COMPILERS[compiler], *WARNINGS, "-I", include, *flags, path],
			capture_output=True, text=True)
	assert done.returncode == 0, done.stderr


def main():
	include = os.path.join(sys.argv[1], "include")
	headers = sorted(name for name in os.listdir(os.path.join(include, "regroup")) if name.endswith(".h"))
	report = Report()
	for compiler in COMPILERS:
		for header in headers:
			report.case(f"{header} with {compiler}", compile_header, compiler, include, f"regroup/{header}")
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the documents repeat of the code is what the code says.

    documents.py ROOT DUMP_TABLES [PROGRAM…]

  README.md             shows examples/minimal.c as it is, and names only files that exist
  src/ARCHITECTURE.md   shows the state tables as the code prints them, names only files and functions that exist, and
                        leaves out no folder of src/
  man/regroup_conf.7    has every property with its type, range and default, and the properties that are refused
  man/regroup.7         has every event that the sources write
  man/regroup_error.3   has every error of include/regroup/error.h
  man/*.1               have the options that the programs' --help has
"""
import glob
import os
import re
import subprocess
import sys

from report import Report

root = ""


def read(*path):
	with open(os.path.join(root, *path), encoding="utf-8") as file:
		return file.read()


def output(*command):
	return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=20).stdout


def equal(found, expected, what):
	found, expected = list(found), list(expected)
	lacking, foreign = [x for x in expected if x not in found], [x for x in found if x not in expected]
	assert not lacking and not foreign, f"{what} lacks {lacking}, and has {foreign} that is nowhere else"


# --- README.md and src/ARCHITECTURE.md ---

def code_blocks(text):
	return re.findall(r"^```(?:\w*)\n(.*?)^```$", text, re.M | re.S)


def shows_minimal_program():
	program = read("examples", "minimal.c")
	assert program in code_blocks(read("README.md")), "README.md does not show examples/minimal.c as it is"
	lines = [line for line in program.split("\n") if line.strip() and "SPDX" not in line]
	assert len(lines) <= 25, f"{len(lines)} lines: too long for a first example"


def shows_state_tables(dump_tables):
	for table in output(dump_tables, "states").strip().split("\n\n"):
		assert table in read("src", "ARCHITECTURE.md"), f"src/ARCHITECTURE.md does not show:\n{table}"


def sources():
	for folder in ("src", "include", "tests", "examples"):
		for where, _, names in os.walk(os.path.join(root, folder)):
			for name in names:
				if name.endswith((".c", ".h", ".py", ".sh")):
					with open(os.path.join(where, name), encoding="utf-8") as file:
						yield file.read()


def names_what_exists(*document):
	"""Every `path` and `function` in backticks is there. A path may also be meant from src/ on."""
	prose = re.sub(r"^```.*?^```$", "", read(*document), flags=re.M | re.S)
	everything = "\n".join(sources())
	missing = []
	for word in re.findall(r"`([^`\n]+)`", prose):
		path = re.fullmatch(r"[\w.*-]+(?:/[\w.*-]+)+/?|[\w*-]+\.(?:[chd]|md|py|sh|map|txt|pc)", word)
		if path and not any(glob.glob(os.path.join(root, base, word)) for base in ("", "src", os.path.dirname(document[0]))):
			missing.append(word)
		name = re.fullmatch(r"((?:rg|RG)_\w+)(?:\(\))?", word)
		if name and not re.search(rf"\b{name.group(1)}\b", everything):
			missing.append(word)
	assert not missing, f"{'/'.join(document)} names what does not exist: {missing}"


def maps_every_folder():
	src = os.path.join(root, "src")
	folders = [name for name in sorted(os.listdir(src)) if os.path.isdir(os.path.join(src, name))]
	text = read("src", "ARCHITECTURE.md")
	missing = [folder for folder in folders if not re.search(rf"`(?:src/)?{folder}/`", text)]
	assert not missing, f"src/ARCHITECTURE.md leaves out {missing}"


# --- The manual ---

def section(page, title):
	"""What stands between one .Sh or .Ss and the next."""
	match = re.search(rf"^\.S[hs] {re.escape(title)}\n(.*?)(?=^\.S[hs] |\Z)", page, re.M | re.S)
	assert match, f"there is no section {title}"
	return match.group(1)


def has_every_property(dump_tables):
	page = read("man", "regroup_conf.7")
	table = dict(line.split("\t") for line in output(dump_tables, "properties").splitlines())
	described = re.sub(r"^\.Ss Refused\n.*", "", page, flags=re.M | re.S)
	items = dict(re.findall(r"^\.It Cm (\S+)\n(.*)$", described, re.M))
	equal(items, table, "man/regroup_conf.7")
	wrong = {name: text for name, text in table.items() if items[name] != text}
	assert not wrong, f"man/regroup_conf.7 should say {wrong}"


def has_every_assignor(dump_tables):
	strategy = read("man", "regroup_conf.7").split(".It Cm partition.assignment.strategy\n")[1].split(".It ")[0]
	names = output(dump_tables, "assignors").split()
	missing = [name for name in names if not re.search(rf"^\.Cm {name}\b", strategy, re.M)]
	assert not missing, f"man/regroup_conf.7 does not tell of {missing}"


def tells_what_is_refused(dump_tables):
	items = re.findall(r"^\.It Cm (.*)$", section(read("man", "regroup_conf.7"), "Refused"), re.M)
	names = [name for name in re.findall(r"[\w.]+", " ".join(items)) if "." in name]
	refused = output(dump_tables, "refused", *names).split()
	assert names and set(refused) == {"1"}, f"not refused: {[n for n, r in zip(names, refused) if r != '1']}"


def has_every_error():
	declared = re.findall(r"^\s*(RG_ERR_\w+) = ", read("include", "regroup", "error.h"), re.M)
	described = re.findall(r"^\.It Dv (RG_ERR_\w+)$", section(read("man", "regroup_error.3"), "ERRORS"), re.M)
	equal(described, declared, "man/regroup_error.3")


EMITTERS = (r'\b(?:rg__)?trace(?:_\w+)?\(\s*\w+, "(\w+)"', r'rg__event_of(?:_\w+)?\(\s*\w+, "(\w+)"',
	r'begin\(\w+, &\w+, "(\w+)"', r'rg__event_begin\([^;]*?"(\w+)"\);', r'\[RG__KIT_EVENT_\w+\] = "(\w+)"')


def tells_of_every_event():
	"""The names of events that the sources write, as far as they are literals, are those of regroup(7)."""
	emitted = set()
	for path in glob.glob(os.path.join(root, "src", "*", "*.c")):
		with open(path, encoding="utf-8") as file:
			text = file.read()
		for pattern in EMITTERS:
			emitted.update(re.findall(pattern, text))
	page = read("man", "regroup.7")
	told = set()
	for title in ("Events of a client", "Events of a coordinator"):
		for line in re.findall(r"^\.It Cm (.*)$", section(page, title), re.M):
			told.update(re.findall(r"\w+", line))
	assert len(emitted) > 15, f"the sources are written otherwise now; found only {emitted}"
	equal(sorted(told), sorted(emitted), "man/regroup.7")


def has_the_options(program):
	name = os.path.basename(program)
	page = read("man", name + ".1")
	helped = set(re.findall(r"^\s+(--?[a-zA-Z][\w-]*)", output(program, "--help"), re.M)) | {"--help"}
	listed = {"-" + flag for flag in re.findall(r"^\.It Fl (\S+)", page, re.M)}
	equal(sorted(listed), sorted(helped), f"man/{name}.1")
	usage = {"-" + flag for flag in re.findall(r"\bFl (-?[a-zA-Z][\w-]*)", section(page, "SYNOPSIS"))}
	equal(sorted(usage), sorted(helped - {"--help", "--version"}), f"the SYNOPSIS of man/{name}.1")


def main():
	global root
	root, dump_tables, *programs = sys.argv[1:]
	report = Report()
	report.case("README.md shows minimal.c", shows_minimal_program)
	report.case("README.md names what exists", names_what_exists, "README.md")
	report.case("ARCHITECTURE.md shows the state tables", shows_state_tables, dump_tables)
	report.case("ARCHITECTURE.md names what exists", names_what_exists, "src", "ARCHITECTURE.md")
	report.case("ARCHITECTURE.md maps every folder", maps_every_folder)
	report.case("regroup_conf(7) has every property", has_every_property, dump_tables)
	report.case("regroup_conf(7) has every assignor", has_every_assignor, dump_tables)
	report.case("regroup_conf(7) tells what is refused", tells_what_is_refused, dump_tables)
	report.case("regroup_error(3) has every error", has_every_error)
	report.case("regroup(7) tells of every event", tells_of_every_event)
	for program in programs:
		report.case(f"{os.path.basename(program)}(1) has the options", has_the_options, program)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

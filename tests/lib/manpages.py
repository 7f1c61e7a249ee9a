#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual is well formed, complete and leads nowhere wrong.

    manpages.py ROOT

  lint        every page is clean under mandoc -T lint
  references  every .Xr leads to a page of ours
  functions   every public function is in NAME and SYNOPSIS of its header's page, as the header declares it
  names       every type, field and constant of a header is in its page
  installed   every page is installed
"""
import glob
import os
import re
import shutil
import subprocess
import sys

from report import Report, Skip

root = ""
# Their pages are regroup(7) and the headers' own text.
WITHOUT_PAGE = ("export", "regroup")


def read(*path):
	with open(os.path.join(root, *path), encoding="utf-8") as file:
		return file.read()


def pages():
	return sorted(os.path.basename(path) for path in glob.glob(os.path.join(root, "man", "*.[137]")))


def headers():
	"""{header's name: (its page's text, its own without comments)}"""
	found = {}
	for path in sorted(glob.glob(os.path.join(root, "include", "regroup", "*.h"))):
		name = os.path.basename(path)[:-2]
		if name not in WITHOUT_PAGE:
			page = f"regroup_{name}.3"
			assert page in pages(), f"there is no man/{page}"
			text = re.sub(r"/\*.*?\*/|^\s*#[^\n]*", " ", read("include", "regroup", name + ".h"), flags=re.S | re.M)
			found[name] = read("man", page), text
	assert found
	return found


def lint(page):
	if not shutil.which("mandoc"):
		raise Skip("there is no mandoc here")
	done = subprocess.run(["mandoc", "-T", "lint", os.path.join(root, "man", page)], stdout=subprocess.PIPE,
		stderr=subprocess.DEVNULL, text=True)
	# Whether our pages refer to each other rightly cannot be seen before they are installed; references() looks.
	found = [line for line in done.stdout.splitlines() if "referenced manual not found" not in line]
	assert not found, "\n".join(found)
	assert ".\\\" SPDX-License-Identifier: Apache-2.0" in read("man", page).split("\n")[0], "no licence line"


def references():
	wrong = []
	for page in pages():
		for name, number in re.findall(r"\bXr (\S+) (\d)", read("man", page)):
			if f"{name}.{number}" not in pages():
				wrong.append(f"{page}: {name}({number})")
	assert not wrong, wrong


def normal(text):
	return re.sub(r"\s*([*(),])\s*", r"\1", " ".join(text.split()))


def declared(header):
	return {name: normal(f"{returns} {name}({args})")
		for returns, name, args in re.findall(r"RG_API\s+([^;{()]*?)\b(rg_\w+)\s*\(([^;]*)\)\s*;", header)}


def words(text):
	"""The arguments of a macro: in quotes or without."""
	return [quoted or plain for quoted, plain in re.findall(r'"([^"]*)"|(\S+)', text)]


def in_synopsis(page):
	synopsis = re.search(r"^\.Sh SYNOPSIS\n(.*?)^\.Sh ", page, re.M | re.S).group(1)
	found, returns, name, args = {}, "", "", []
	for macro, rest in re.findall(r"^\.(Ft|Fn|Fo|Fa|Fc)\b *(.*)$", synopsis, re.M):
		if macro == "Ft":
			returns = " ".join(words(rest))
		elif macro == "Fa":
			args.append(words(rest)[0])
		elif macro in ("Fn", "Fo"):
			name, *args = words(rest)
		if macro in ("Fn", "Fc"):
			found[name] = normal(f"{returns} {name}({', '.join(args)})")
	return found


def functions():
	wrong = []
	for name, (page, header) in headers().items():
		here, there = declared(header), in_synopsis(page)
		named = re.findall(r"^\.Nm (\S+)", page.split(".Sh LIBRARY")[0], re.M)
		assert here, f"no functions found in {name}.h"
		wrong += [f"regroup_{name}.3: {name}.h declares {here[f]}" for f in here if there.get(f) != here[f]]
		wrong += [f"regroup_{name}.3: {name}.h has no {f}" for f in there if f not in here]
		wrong += [f"regroup_{name}.3: not in NAME: {f}" for f in here if f not in named]
	assert not wrong, "\n".join(wrong)


def public_names(header):
	"""Types, constants and fields that a header declares; functions are seen to elsewhere."""
	header = re.sub(r'extern "C"\s*\{', "", header)
	# A constant that only gives another one its value is not declared here.
	names = set(re.findall(r"(?<!= )\bRG_[A-Z0-9_]+\b(?=\s*(?:=|,|\}))", header))
	for body, name in re.findall(r"typedef\s+(?:struct|enum)\s*\w*\s*(\{.*?\n\}|)\s*(\w+)\s*;", header, re.S):
		names.add(name)
		for field in body.strip("{}\n").split(";"):
			function = re.search(r"\(\*(\w+)\)", field)
			if function:
				names.add(function.group(1))
			elif "RG_" not in field:
				# "const char *name, *other" names two.
				names.update(match for part in field.split(",") for match in re.findall(r"(\w+)(?:\[\w+\])?\s*$", part))
	names.update(re.findall(r"typedef\s+[\w\s*]+?\b(rg_\w+)\s*[;(]", header))
	return names


def names():
	missing = []
	for name, (page, header) in headers().items():
		found = public_names(header)
		assert found, f"nothing found in {name}.h"
		text = re.sub(r"\\&", "", page)
		missing += [f"regroup_{name}.3: {one}" for one in sorted(found) if not re.search(rf"(?<!\w){one}(?!\w)", text)]
	assert not missing, "\n".join(missing)


def installed():
	listed = re.findall(r"'([\w-]+\.[137])'", read("man", "meson.build"))
	assert sorted(listed) == pages(), f"man/meson.build lists {sorted(listed)}, man/ has {pages()}"


def main():
	global root
	root = sys.argv[1]
	report = Report()
	for page in pages():
		report.case(f"lint {page}", lint, page)
	for case in (references, functions, names, installed):
		report.case(case.__name__, case)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What may lean on what, held against the sources.

    layers.py ROOT

  layers    a folder of src/ includes only itself and folders above it; the public headers include only each other,
            librdkafka and the language; examples include only public headers
  purity    codec, group and assign know no clock, thread, socket, file, environment, chance or librdkafka
  memory    nothing but base/alloc.c calls malloc and its kin
  tidiness  every file of ours begins with its licence line, and no note-to-self is left in the code
"""
import os
import re
import sys

from report import Report

LAYERS = ["base", "codec", "group", "assign", "link", "member", "consumer", "testkit"]
PURE = ["codec", "group", "assign"]
IMPURE_HEADERS = re.compile(r"^(time|sys/.*|pthread|threads|uv|unistd|fcntl|poll|netdb|netinet/.*|arpa/.*|signal|"
	r"stdatomic|librdkafka/.*)\.h$")
IMPURE_CALLS = re.compile(r"\b(time|clock|clock_gettime|gettimeofday|localtime\w*|gmtime\w*|nanosleep|u?sleep|"
	r"pthread_\w+|thrd_\w+|mtx_\w+|socket|connect|accept|send(?:to|msg|mmsg)?|recv(?:from|msg|mmsg)?|poll|select|epoll_\w+|uv_\w+|rd_kafka_\w+|"
	r"f?open|read|write|getenv|s?rand(?:om)?|rand_r|[dejlmn]rand48|getrandom|arc4random\w*)\s*\(")
ALLOCATION = re.compile(r"\b(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf|aligned_alloc)\s*\(")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.M)
CODE = (".c", ".h")
LICENSED = CODE + (".py", ".sh", ".java")
NOTES = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


def files(root, folder, endings=CODE):
	for where, folders, names in os.walk(os.path.join(root, folder)):
		folders[:] = sorted(f for f in folders if not f.startswith("."))
		for name in sorted(names):
			if name.endswith(endings):
				yield os.path.relpath(os.path.join(where, name), root)


def read(root, path):
	with open(os.path.join(root, path), encoding="utf-8") as file:
		return file.read()


def code_only(text):
	"""Comments and literals become blanks, lines stay where they are."""
	token = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
	return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), text)


def places(pattern, text, path, what):
	for match in pattern.finditer(text):
		yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {what} {match.group(1)}"


def layers(root):
	for path in files(root, "src"):
		layer = path.split(os.sep)[1]
		if layer not in LAYERS:
			yield f"{path}: {layer} is no layer"
			continue
		for quote, header in INCLUDE.findall(read(root, path)):
			folder = header.split("/")[0]
			if quote == '"' and "/" not in header:
				yield f'{path}: "{header}" must be named from src/ on'
			elif quote == '"' and folder != "regroup" and folder not in LAYERS[:LAYERS.index(layer) + 1]:
				yield f"{path}: {layer} lies above {header}"
	for path in files(root, "include"):
		for quote, header in INCLUDE.findall(read(root, path)):
			if quote == '"' or "/" in header and header.split("/")[0] not in ("regroup", "librdkafka", "sys"):
				yield f"{path}: a public header includes {header}"
	for path in files(root, "examples"):
		for quote, header in INCLUDE.findall(read(root, path)):
			if quote == '"' and os.path.exists(os.path.join(root, "src", header)):
				yield f"{path}: an example includes the private {header}"


def purity(root):
	for layer in PURE:
		for path in files(root, os.path.join("src", layer)):
			text = read(root, path)
			for _, header in INCLUDE.findall(text):
				if IMPURE_HEADERS.match(header):
					yield f"{path}: includes {header}"
			yield from places(IMPURE_CALLS, code_only(text), path, "calls")


def memory(root):
	for path in files(root, "src"):
		if path not in (os.path.join("src", "base", "alloc.c"), os.path.join("src", "base", "alloc.h")):
			yield from places(ALLOCATION, code_only(read(root, path)), path, "calls")


def tidiness(root):
	for folder in ("src", "include", "examples", "tests", ".ci"):
		for path in files(root, folder, LICENSED):
			text = read(root, path)
			if "SPDX-License-Identifier: Apache-2.0" not in "".join(text.split("\n")[:2]):
				yield f"{path}: no licence line"
			yield from places(NOTES, text, path, "still says")


def holds(rule, root):
	found = list(rule(root))
	assert not found, "\n".join(found)


def main():
	report = Report()
	for rule in (layers, purity, memory, tidiness):
		report.case(rule.__name__, holds, rule, sys.argv[1])
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

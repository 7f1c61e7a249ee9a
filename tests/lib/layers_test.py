#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""layers.py objects to what it should object to, and to nothing else."""
import os
import sys
import tempfile

import layers
from report import Report

LICENCE = "/* SPDX-License-Identifier: Apache-2.0 */\n"


def judged(rule, **sources):
	"""Findings for a tree of {path with __ for /, _h or _c at the end: text}."""
	with tempfile.TemporaryDirectory() as root:
		for key, text in sources.items():
			path = os.path.join(root, *key.rsplit("_", 1)[0].split("__")) + "." + key.rsplit("_", 1)[1]
			os.makedirs(os.path.dirname(path), exist_ok=True)
			with open(path, "w", encoding="utf-8") as file:
				file.write(text)
		return list(rule(root))


def layering():
	assert not judged(layers.layers, src__group__a_c='#include "base/bytes.h"\n#include "group/b.h"\n#include <regroup/x.h>\n')
	assert judged(layers.layers, src__base__a_c='#include "codec/x.h"\n')
	assert judged(layers.layers, src__group__a_c='#include "b.h"\n')
	assert judged(layers.layers, src__misc__a_c="int a;\n")
	assert judged(layers.layers, include__regroup__a_h='#include "base/bytes.h"\n')
	assert judged(layers.layers, include__regroup__a_h="#include <uv/x.h>\n")
	assert judged(layers.layers, examples__a_c='#include "base/bytes.h"\n', src__base__bytes_h="")


def pure_folders():
	assert not judged(layers.purity, src__group__a_c='/* time( */ const char *s = "time(0)"; int deadline(int time);\n')
	assert judged(layers.purity, src__group__a_c="int a(void)\n{\n\treturn time(0);\n}\n") == ["src/group/a.c:3: calls time"]
	assert judged(layers.purity, src__codec__a_c="#include <pthread.h>\n")
	assert judged(layers.purity, src__assign__a_h="#include <librdkafka/rdkafka.h>\n")
	assert not judged(layers.purity, src__link__a_c="#include <uv.h>\nint a = time(0);\n")


def allocation():
	assert judged(layers.memory, src__base__bytes_c="void f(void) { free(p); }\n")
	assert not judged(layers.memory, src__base__alloc_c="void f(void) { free(p); }\n",
		src__base__b_c="void f(void) { rg__free(p); x->free_list(p); }\n")


def licence_and_notes():
	assert judged(layers.tidiness, src__base__a_c="int a;\n") == ["src/base/a.c: no licence line"]
	assert not judged(layers.tidiness, src__base__a_c=LICENCE + "int a;\n")
	assert judged(layers.tidiness, src__base__a_c=LICENCE + "/* TO" + "DO: later */\n")


def main():
	report = Report()
	for case in (layering, pure_folders, allocation, licence_and_notes):
		report.case(case.__name__, case)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

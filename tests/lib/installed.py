#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gets installed is usable: from C and from C++ through pkg-config, shared and static, and as a Meson subproject.

    installed.py SOURCE_ROOT BUILD_ROOT
"""
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

from report import Report

TINY = """#include <regroup/regroup.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
	/* Something from the library itself, so that it is really linked. */
	puts(rg_err_name(27));
	return strcmp(rg_err_name(27), "REBALANCE_IN_PROGRESS") != 0;
}
"""
USER_PROJECT = """project('user', 'c', default_options: ['c_std=c11'])
regroup = dependency('regroup', fallback: ['regroup', 'regroup_dep'],
  default_options: ['tests=disabled', 'examples=disabled'])
test('tiny', executable('tiny', 'tiny.c', dependencies: regroup))
"""


def run(*command, **options):
	done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
	assert done.returncode == 0, f"{shlex.join(command)}\n{done.stdout}"
	return done.stdout


class Installed:
	def __init__(self, build, folder):
		run("meson", "install", "-C", build, "--no-rebuild", "--quiet", "--destdir", folder)
		found = glob.glob(os.path.join(folder, "**", "pkgconfig", "*.pc"), recursive=True)
		self.packages = sorted(os.path.basename(path)[:-3] for path in found)
		assert "regroup" in self.packages, f"no regroup.pc among {found}"
		self.pkgconfig = os.path.dirname(found[0])
		for path in found:
			# As if the destination were the prefix; --define-variable would move the dependencies as well.
			with open(path, encoding="utf-8") as file:
				text = file.read()
			with open(path, "w", encoding="utf-8") as file:
				file.write(re.sub(r"^prefix=(.*)$", lambda m: "prefix=" + folder + m.group(1), text, flags=re.M))
		self.libdir = os.path.dirname(self.pkgconfig)
		self.folder = folder

	def flags(self, *options):
		env = {**os.environ, "PKG_CONFIG_PATH": self.pkgconfig}
		return shlex.split(run("pkg-config", *options, env=env))

	def use(self, compiler, standard, package, *options):
		source = os.path.join(self.folder, "tiny.c")
		program = os.path.join(self.folder, f"tiny-{standard[4:]}-{package}-{len(options)}")
		text = TINY
		if package == "regroup-testkit":
			text = "#include <regroup/testkit.h>\n" + TINY
		with open(source, "w", encoding="utf-8") as file:
			file.write(text)
		libs = self.flags("--libs", package)
		if "--static" in options:
			# Ours from the archive, what it stands on as it comes: --static would ask for archives of that, too.
			needs = self.flags("--print-requires-private", package) + self.flags("--print-requires", package)
			libs = [f"-l:lib{lib[2:]}.a" if lib.startswith("-lregroup") else lib for lib in libs]
			libs += self.flags("--libs", *(need for need in needs if re.match(r"[a-z]", need))) + ["-pthread"]
		run(*shlex.split(compiler), standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror",
			*(["-xc++"] if "++" in standard else []), source, "-xnone", "-o", program,
			*self.flags("--cflags", package), *libs)
		needed = run("readelf", "-d", program)
		assert ("libregroup" in needed) == ("--static" not in options), needed
		run(program, env={**os.environ, "LD_LIBRARY_PATH": self.libdir})


def subproject(root, folder):
	os.mkdir(folder)
	os.mkdir(os.path.join(folder, "subprojects"))
	os.symlink(root, os.path.join(folder, "subprojects", "regroup"))
	for name, text in (("meson.build", USER_PROJECT), ("tiny.c", TINY)):
		with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
			file.write(text)
	# An installed regroup must not stand in for the one under test.
	env = {**os.environ, "PKG_CONFIG_PATH": ""}
	run("meson", "setup", "--force-fallback-for=regroup", "b", cwd=folder, env=env)
	run("meson", "test", "-C", "b", "tiny", cwd=folder, env=env)


def main():
	root, build = map(os.path.abspath, sys.argv[1:3])
	report = Report()
	with tempfile.TemporaryDirectory() as folder:
		kit = None

		def install():
			nonlocal kit
			kit = Installed(build, os.path.join(folder, "dest"))

		if report.case("meson install", install):
			cc, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
			for package in kit.packages:
				report.case(f"{package} from C", kit.use, cc, "-std=c11", package)
				report.case(f"{package} from C++", kit.use, cxx, "-std=c++11", package)
			report.case("regroup from C, linked statically", kit.use, cc, "-std=c11", "regroup", "--static")
		report.case("as a Meson subproject", subproject, root, os.path.join(folder, "user"))
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

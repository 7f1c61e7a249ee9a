#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   coverage.sh [FOLDER…]     how much of src/FOLDER (default: codec group assign) the plain suites run
#
# Lines and branches for each folder, and where one is below 95 % of its lines or 85 % of its branches, which. Asserts
# are left out of the build: the branch in which one fails is one that nobody wants to see. In the environment:
#
#   BUILD_DIR   where to build, with clang (default: build-coverage/ beside the sources)
#   SUITES      what runs (default: unit codec group fault fuzz, without what is in the suite "long" as well)
#   LISTED      1: list what was not run wherever it is
#   ONLY_BUILD  1: nothing is run
#
# Exit code: 0 it was measured, whatever came out; 1 the build or a test failed.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
BUILD_DIR=${BUILD_DIR:-$root/build-coverage}
SUITES=${SUITES:-unit codec group fault fuzz}
test $# -gt 0 || set -- codec group assign

# clang's tools carry its version where it is not Debian's default one.
tool() {
	for name in "$1" "$1-$(clang -dumpversion | cut -d. -f1)"; do
		if command -v "$name" >/dev/null 2>&1; then
			echo "$name"
			return
		fi
	done
	echo "coverage.sh: there is no $1 (Debian: llvm)" >&2
	exit 1
}
profdata=$(tool llvm-profdata)
cov=$(tool llvm-cov)

if test ! -e "$BUILD_DIR/build.ninja"; then
	mkdir -p "$BUILD_DIR"
	CC=clang CXX=clang++ meson setup -Dtests=enabled -Dexamples=disabled -Db_ndebug=true -Db_lundef=false -Dbuildtype=debug \
		-Dc_args='-fprofile-instr-generate -fcoverage-mapping' -Dc_link_args=-fprofile-instr-generate \
		"$BUILD_DIR" "$root" >"$BUILD_DIR/setup.log" 2>&1 || { tail -n 30 "$BUILD_DIR/setup.log"; exit 1; }
fi
ninja -C "$BUILD_DIR" >"$BUILD_DIR/ninja.log" 2>&1 || { tail -n 50 "$BUILD_DIR/ninja.log"; exit 1; }
test "${ONLY_BUILD:-0}" != 1 || exit 0

# One file for each program, whichever of its processes wrote to it.
rm -rf "$BUILD_DIR/profiles"
export LLVM_PROFILE_FILE="$BUILD_DIR/profiles/%4m.profraw" CK_FORK=no
chosen=''
for suite in $SUITES; do
	chosen="$chosen --suite $suite"
done
# shellcheck disable=SC2086 # words on purpose
meson test -C "$BUILD_DIR" --no-rebuild --print-errorlogs --timeout-multiplier 4 $chosen --no-suite long >"$BUILD_DIR/test.log" 2>&1 \
	</dev/null || { tail -n 60 "$BUILD_DIR/test.log"; exit 1; }
"$profdata" merge -sparse -o "$BUILD_DIR/all.profdata" "$BUILD_DIR"/profiles/*.profraw

programs=$(meson introspect "$BUILD_DIR" --tests | python3 -c '
import json, sys
wanted = set(sys.argv[1].split())
print(*sorted({test["cmd"][0] for test in json.load(sys.stdin)
               if {name.split(":")[-1] for name in test["suite"]} & wanted and "python" not in test["cmd"][0]}), sep="\n")
' "$SUITES")
set -- "$root" "$@"
first=$(echo "$programs" | head -n 1)
objects=$(echo "$programs" | sed -n '2,$s/^/-object /p')
# shellcheck disable=SC2086
"$cov" export -format=lcov -instr-profile "$BUILD_DIR/all.profdata" "$first" $objects "$root/src" \
	>"$BUILD_DIR/coverage.lcov" 2>"$BUILD_DIR/coverage.log" || { cat "$BUILD_DIR/coverage.log"; exit 1; }
LISTED=${LISTED:-0} python3 "$here/coverage.py" "$BUILD_DIR/coverage.lcov" "$@"

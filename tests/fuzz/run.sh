#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
#   run.sh [SECONDS [TARGET…]]     builds the fuzz targets with clang and runs each that long (default 30),
#                                  as many at once as there are processors
#
# One line for each: executions, coverage (cov: edges, ft: features, which are edges with how often), finds. In the environment:
#
#   BUILD_DIR   where to build (default: build-fuzz/ beside the sources); what a fuzzer finds and learns stays in its fuzz/
#   CC          the compiler (default: clang)
#   ONLY_BUILD  1: nothing is run
#
# Exit code: 0 nothing was found, 1 something was or did not work.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$(dirname "$here")")
BUILD_DIR=${BUILD_DIR:-$root/build-fuzz}
seconds=${1:-30}
test $# -eq 0 || shift
targets=${*:-$(cd "$here/corpus" && echo *)}

if test ! -e "$BUILD_DIR/build.ninja"; then
	mkdir -p "$BUILD_DIR"
	CC=${CC:-clang} meson setup -Dfuzz=true -Dwerror=true -Db_lundef=false -Dtests=enabled -Dexamples=disabled \
		"$BUILD_DIR" "$root" >"$BUILD_DIR/setup.log" 2>&1 || { tail -n 30 "$BUILD_DIR/setup.log"; exit 1; }
fi
programs=''
for target in $targets; do
	programs="$programs tests/fuzz/fuzz_$target"
done
# shellcheck disable=SC2086 # words on purpose, here and below
ninja -C "$BUILD_DIR" $programs >"$BUILD_DIR/ninja.log" 2>&1 || { tail -n 50 "$BUILD_DIR/ninja.log"; exit 1; }
test "${ONLY_BUILD:-0}" != 1 || exit 0

export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}"
fuzz() { # TARGET
	out=$BUILD_DIR/fuzz/$1
	log=$out/log
	mkdir -p "$out/learnt" "$out/finds"
	before=$(find "$out/finds" -type f | wc -l)
	code=0
	"$BUILD_DIR/tests/fuzz/fuzz_$1" -max_total_time="$seconds" -max_len=4096 -timeout=20 -rss_limit_mb=1500 \
		-print_final_stats=1 -artifact_prefix="$out/finds/" "$out/learnt" "$here/corpus/$1" >"$log" 2>&1 \
		</dev/null || code=$?
	executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	coverage=$(grep -o 'cov: [0-9]* ft: [0-9]*' "$log" | tail -n 1)
	finds=$(($(find "$out/finds" -type f | wc -l) - before))
	echo "$1: ${executions:-0} executions in $seconds s, ${coverage:-no coverage}, $finds finds"
	test $code -eq 0 && test $finds -eq 0 && test "${executions:-0}" -gt 0 && return
	tail -n 60 "$log"
	return 1
}

# As many at once as there are processors; a batch ends with its last.
processors=$(nproc)
failed=0
pids='' # of the batch
join_batch() {
	for pid in $pids; do
		wait "$pid" || failed=1
	done
	pids=''
}
trap 'kill $pids 2>/dev/null; exit 1' INT TERM
for target in $targets; do
	fuzz "$target" &
	pids="$pids $!"
	# shellcheck disable=SC2086
	set -- $pids
	test $# -lt "$processors" || join_batch
done
join_batch
exit $failed

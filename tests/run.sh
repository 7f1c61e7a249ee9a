#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs what is missing, builds, runs the suites, and closes with "N passed, N failed, N skipped". In the environment:
#
#   SUITES          which (default: tree unit codec group testkit sim fault fuzz broker)
#   BUILD_DIR       where to build (default: build/ beside the sources)
#   NATIVE_FILE     a Meson native file, such as tests/sanitize-thread.ini (for a new build directory)
#   CC, CXX         the compilers (likewise)
#   WERROR          1: a compiler warning fails the build (likewise)
#   REQUIRE_BROKER  1: a broker suite that cannot run is a failure
#   ONLY_BUILD      1: nothing is run
#
# Exit code: 0 all passed, 1 a failure, 2 packages are missing and we may not install them.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
lib=$here/lib
SUITES=${SUITES:-tree unit codec group testkit sim fault fuzz broker}
BUILD_DIR=${BUILD_DIR:-$root/build}

gave_up() {
	echo "tests/run.sh: $*"
	echo "0 passed, 1 failed, 0 skipped"
	exit 1
}

wants() {
	case " $SUITES " in *" $1 "*) return 0 ;; esac
	return 1
}

sh "$lib/install.sh" build test || exit $?
broker_tools=yes
if wants broker; then
	# Their absence is the broker suite's to tell: it skips, or fails where brokers are required.
	sh "$lib/install.sh" broker || broker_tools=no
fi

if test ! -e "$BUILD_DIR/build.ninja"; then
	mkdir -p "$BUILD_DIR"
	meson setup ${NATIVE_FILE:+--native-file "$NATIVE_FILE"} ${WERROR:+-Dwerror=true} -Dtests=enabled -Dexamples=enabled \
		"$BUILD_DIR" "$root" >"$BUILD_DIR/setup.log" 2>&1 || { tail -n 30 "$BUILD_DIR/setup.log"; gave_up "meson setup failed"; }
else
	# The demo, say, may have made it, on a machine that had nothing to test with.
	meson configure -Dtests=enabled -Dexamples=enabled "$BUILD_DIR" >"$BUILD_DIR/setup.log" 2>&1 ||
		{ tail -n 30 "$BUILD_DIR/setup.log"; gave_up "meson configure failed"; }
fi
ninja -C "$BUILD_DIR" >"$BUILD_DIR/ninja.log" 2>&1 || {
	grep -A 20 -E 'FAILED|error:|ERROR' "$BUILD_DIR/ninja.log" | head -n 100
	gave_up "the build failed (all of it: $BUILD_DIR/ninja.log)"
}
warnings=$(grep -c 'warning:' "$BUILD_DIR/ninja.log" || :)
test "$warnings" -eq 0 || grep 'warning:' "$BUILD_DIR/ninja.log"
test "${ONLY_BUILD:-0}" != 1 || exit 0

# For sanitizers, and without effect elsewhere. Check must not fork under them: a leak or race in a child would be told twice
# or not at all, and TSan knows no fork of a threaded process.
wrapper='' slower=1 at_once=$(($(nproc) * 3)) # most of them wait most of the time
case $(meson introspect "$BUILD_DIR" --buildoptions |
	python3 -c 'import json, sys; print(*(o["value"] for o in json.load(sys.stdin) if o["name"] == "b_sanitize"))') in
*thread*)
	export CK_FORK=no
	slower=10 at_once=$(($(nproc) * 2))
	# librdkafka's threads would be unknown to it.
	wrapper="env LD_PRELOAD=$(cd "$BUILD_DIR" && pwd)/tests/lib/libc11-threads.so"
	# Its shadow memory does not fit every layout that randomization may choose.
	if setarch -R true 2>/dev/null; then wrapper="$wrapper setarch -R"; fi
	;;
*address*)
	export CK_FORK=no
	slower=5 at_once=$(($(nproc) * 2))
	;;
esac
export ASAN_OPTIONS="${ASAN_OPTIONS:-detect_leaks=1:detect_stack_use_after_return=1:strict_string_checks=1}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1:halt_on_error=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-halt_on_error=1:second_deadlock_stack=1:suppressions=$lib/tsan.supp}"

logs=''
failed=0
run_suites() { # LOG_NAME PROCESSES SUITE…
	log=$1
	processes=$2
	shift 2
	chosen=''
	for suite in "$@"; do
		chosen="$chosen --suite $suite"
	done
	# shellcheck disable=SC2086 # words on purpose
	$wrapper meson test -C "$BUILD_DIR" --no-rebuild --print-errorlogs --timeout-multiplier $slower --num-processes "$processes" \
		--logbase "$log" $chosen \
		</dev/null || failed=1
	test ! -e "$BUILD_DIR/meson-logs/$log.json" || logs="$logs $BUILD_DIR/meson-logs/$log.json"
}

rm -f "$BUILD_DIR"/meson-logs/regroup-*.json
filled=" $(meson introspect "$BUILD_DIR" --tests | python3 -c '
import json, sys
print(*sorted({name.split(":")[-1] for test in json.load(sys.stdin) for name in test["suite"]}))') "
plain='' empty=''
for suite in $SUITES; do
	case $filled in
	*" $suite "*) test "$suite" = broker || plain="$plain $suite" ;;
	*) empty="$empty $suite" ;;
	esac
done
test -z "$empty" || echo "No tests in:$empty"
# shellcheck disable=SC2086
test -z "$plain" || run_suites regroup-plain $at_once $plain

skipped_broker=0
failed_broker=0
run_broker_suite() {
	# One Kafka for all suites that need just one; those that break theirs start their own.
	kafka=$(mktemp -d)
	trap 'sh "$here/broker/kafka.sh" stop "$kafka/one"; rm -rf "$kafka"' EXIT
	trap 'exit 1' INT TERM
	result=0
	if test $broker_tools = no && test "${REQUIRE_BROKER:-0}" != 1; then
		result=77
	else
		told=$(sh "$here/broker/kafka.sh" start 1 "$kafka/one") || result=$?
	fi
	case $result in
	0)
		REGROUP_BOOTSTRAP=$(echo "$told" | sed -n 's/^BOOTSTRAP=//p')
		export REGROUP_BOOTSTRAP
		run_suites regroup-broker "$(nproc)" broker
		;;
	77)
		echo "*** THE BROKER SUITE WAS SKIPPED: there is no Kafka to be had here (it needs Java and Maven) ***"
		skipped_broker=1
		;;
	*)
		echo "FAILED broker: no Kafka could be started"
		failed_broker=1
		;;
	esac
}
case " $empty " in
*' broker '*)
	if test "${REQUIRE_BROKER:-0}" = 1; then
		echo "FAILED broker: there is no test in the suite"
		failed_broker=1
	fi
	;;
*) if wants broker; then run_broker_suite; fi ;;
esac

# shellcheck disable=SC2086
summary=$(python3 "$lib/count.py" $logs) || failed=1
echo "$summary" | sed '$d'
test "$warnings" -eq 0 || echo "$warnings compiler warnings"
echo "$summary" | tail -n 1 | {
	read -r passed _ bad _ skipped _
	bad=$((bad + failed_broker))
	# Whatever meson itself objected to without a failed case of its own is a failure too.
	test $failed -eq 0 || test $bad -gt 0 || bad=1
	skipped=$((skipped + skipped_broker))
	echo "$passed passed, $bad failed, $skipped skipped"
	test $bad -eq 0
}

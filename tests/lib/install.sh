#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs with apt what is missing on Debian 12 for the purposes named as arguments:
#
#   build    what a library user needs to compile regroup and its programs
#   demo     what examples/demo.sh needs beyond that
#   test     what the suites and the checks of the tree need beyond that
#   broker   what a real Kafka needs
#   newest   what tests/lib/librdkafka.sh builds librdkafka's newest version with
#
# A purpose counts as present when its commands and pkg-config modules are found, wherever they came from. Exit codes:
# 0 everything is there, 1 apt failed, 2 something is missing and we are not root (the packages are printed).
set -eu

# Each row: how to tell that it is there, then the package that brings it.
needed_to_build='
command meson meson
command ninja ninja-build
command gcc gcc
command pkg-config pkg-config
header stdio.h libc6-dev
module rdkafka librdkafka-dev
module libuv libuv1-dev
module jansson libjansson-dev
header uthash.h uthash-dev
'
needed_for_demo='
command kcat kcat
command python3 python3
'
needed_to_test='
command g++ g++
command clang clang
runtime asan libclang-rt-14-dev
command llvm-symbolizer llvm
module check check
command kcat kcat
command mandoc mandoc
command python3 python3
command git git
'
needed_for_broker='
command java default-jdk-headless
command javac default-jdk-headless
command mvn maven
command kcat kcat
command python3 python3
'
needed_for_newest='
command cargo cargo
command make make
command g++ g++
command python3 python3
'

has() {
	case $1 in
	command) command -v "$2" >/dev/null 2>&1 ;;
	module) pkg-config --exists "$2" 2>/dev/null ;;
	header) test -e "/usr/include/$2" || test -e "/usr/local/include/$2" ;;
	# clang finds its sanitizer run time in its own folder, so it is asked rather than a path guessed.
	runtime) command -v clang >/dev/null 2>&1 &&
		test -n "$(find "$(clang -print-resource-dir)/lib" -name "libclang_rt.$2*" 2>/dev/null | head -n 1)" ;;
	esac
}

missing_packages() {
	while read -r how name package; do
		test -n "$how" || continue
		has "$how" "$name" || echo "$package"
	done | sort -u
}

rows() {
	for purpose in "$@"; do
		case $purpose in
		build) echo "$needed_to_build" ;;
		demo) echo "$needed_for_demo" ;;
		test) echo "$needed_to_test" ;;
		broker) echo "$needed_for_broker" ;;
		newest) echo "$needed_for_newest" ;;
		*) echo "install.sh: unknown purpose '$purpose' (build, demo, test, broker, newest)" >&2; exit 64 ;;
		esac
	done
}

test $# -gt 0 || set -- build test
table=$(rows "$@")
packages=$(echo "$table" | missing_packages | tr '\n' ' ')
test -n "$packages" || exit 0

if test "$(id -u)" -ne 0; then
	echo "Missing (for: $*). Please run as root:" >&2
	echo "    apt-get install $packages" >&2
	exit 2
fi
command -v apt-get >/dev/null 2>&1 || {
	echo "Missing (for: $*), and there is no apt-get here: $packages" >&2
	exit 1
}
echo "Installing with apt: $packages" >&2
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # the list is words on purpose
{ apt-get update -q && apt-get install -y -q --no-install-recommends $packages; } >"$log" 2>&1 </dev/null || {
	tail -n 20 "$log" >&2
	echo "apt could not install: $packages" >&2
	exit 1
}
still=$(echo "$table" | missing_packages | tr '\n' ' ')
test -z "$still" || { echo "apt reported success, but this is still missing: $still" >&2; exit 1; }

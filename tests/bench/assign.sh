#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sh tests/bench/assign.sh BUILD_DIR [SVG]
# Times the assignors of this library and those of kafka-clients on the same groups, one after the other, and the whole
# path of a leader, and prints tables and which goals are met; then how time grows with partitions and members, and draws
# it if a file is named. Takes about a quarter of an hour, nearly all Java's: each of its measurements is ended after
# JAVA_LIMIT_S seconds (45) on a processor, the plan it starts from included; 0: ours alone, in two minutes. Without Java or
# Maven only ours are timed, too. BUILD_DIR should be built with --buildtype=release. Nothing here passes or fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bench=${1:?usage: sh tests/bench/assign.sh BUILD_DIR [SVG]}/tests/bench
limit_s=${JAVA_LIMIT_S:-45}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/../lib/maven.sh"

# One measurement of Java's, as a line; 1: it was ended.
time_java() { # ASSIGNOR PATTERN TOPICS PARTITIONS MEMBERS RACKS EVENT
	(ulimit -t "$limit_s" && exec java -Xmx6g -XX:+UseSerialGC -cp "$work:$jars/*" JavaAssign "$@" </dev/null)
} 2>/dev/null # also the shell's word on how it ended

"$bench/bench-assign" >"$work/lines"
if [ "$limit_s" -gt 0 ] && jars=$(kafka_clients_dir); then
	javac -cp "$jars/*" -d "$work" "$here/JavaAssign.java"
	"$bench/bench-assign" --list | while IFS="$(printf '\t')" read -r assignor pattern topics partitions members racks; do
		ended=0
		for event in fresh join leave; do
			# Both others begin with a fresh plan, so they would be ended, too.
			if [ "$ended" = 1 ] ||
				! time_java "$assignor" "$pattern" "$topics" "$partitions" "$members" "$racks" "$event" >>"$work/lines"; then
				[ "$event" != fresh ] || ended=1
				printf 'java\t%s\t%s\t%d\t%d\t%s\t>%d\t-\n' "$assignor" "$pattern$([ "$racks" = 0 ] || echo +racks)" \
					$((topics * partitions)) "$members" "$event" $((limit_s * 1000)) >>"$work/lines"
			fi
		done
	done
else
	echo "assign.sh: nothing of Java's to compare with" >&2
fi
"$bench/bench-assign" --growth >"$work/growth"
"$bench/bench-leader" >"$work/leader"
python3 "$here/assign_report.py" "$work/lines" "$work/growth" "$work/leader" ${2+"$2"}

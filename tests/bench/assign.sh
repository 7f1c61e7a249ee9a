#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sh tests/bench/assign.sh BUILD_DIR [SVG]
# Times the assignors of this library and those of kafka-clients on the same groups, one after the other, and prints a table;
# then how time grows with partitions and members, and draws it if a file is named. Takes many minutes, nearly all Java's;
# each of its measurements is ended after JAVA_LIMIT_S seconds (60) on a processor, the plan it starts from included.
# Without Java or Maven only ours are timed. Nothing here passes or fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bench=${1:?usage: sh tests/bench/assign.sh BUILD_DIR [SVG]}/tests/bench/bench-assign
limit_s=${JAVA_LIMIT_S:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/../lib/maven.sh"

"$bench" >"$work/lines"
if jars=$(kafka_clients_dir); then
	javac -cp "$jars/*" -d "$work" "$here/JavaAssign.java"
	"$bench" --list | while IFS="$(printf '\t')" read -r assignor pattern topics partitions members racks; do
		for event in fresh join leave; do
			(ulimit -t "$limit_s" && exec java -Xmx6g -XX:+UseSerialGC -cp "$work:$jars/*" JavaAssign "$assignor" "$pattern" \
				"$topics" "$partitions" "$members" "$racks" "$event" </dev/null >>"$work/lines" 2>/dev/null) ||
				printf 'java\t%s\t%s\t%d\t%d\t%s\t>%d\t-\n' "$assignor" "$pattern$([ "$racks" = 0 ] || echo +racks)" \
					$((topics * partitions)) "$members" "$event" $((limit_s * 1000)) >>"$work/lines"
		done
	done
else
	echo "assign.sh: no Java to compare with" >&2
fi
"$bench" --growth >"$work/growth"
python3 "$here/assign_report.py" "$work/lines" "$work/growth" ${2+"$2"}

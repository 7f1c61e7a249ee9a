#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# sh tests/bench/assign.sh BUILD_DIR [SVG]
# Times the assignors of this library and those of kafka-clients on the same groups, one after the other, and prints a table;
# then how time grows with partitions and members, and draws it if a file is named. Takes some minutes, nearly all Java's.
# Without Java or Maven only ours are timed. Nothing here passes or fails.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bench=${1:?usage: sh tests/bench/assign.sh BUILD_DIR [SVG]}/tests/bench/bench-assign
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. "$here/../lib/maven.sh"

"$bench" >"$work/lines"
if jars=$(kafka_clients_dir); then
	"$bench" --list | java -Xmx6g -XX:+UseSerialGC -cp "$jars/*" "$here/JavaAssign.java" >>"$work/lines"
else
	echo "assign.sh: no Java to compare with" >&2
fi
"$bench" --growth >"$work/growth"
python3 "$here/assign_report.py" "$work/lines" "$work/growth" ${2+"$2"}

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Shows what regroup does: two rebalances as sequence diagrams, then records consumed by members that come and go.
#
#   sh examples/demo.sh                          on the embedded cluster (regroup-coordinator)
#   sh examples/demo.sh --bootstrap HOST:PORT    on a Kafka of yours; topics and groups called regroup-demo-… are created
#
# On a bare Debian 12 it installs what is missing (as root, with apt) and builds into build/. Exit code 0 means that
# everything happened as told: one prepare and one complete per rebalance, no partition with two owners, every record seen.
set -eu

root=$(cd "$(dirname "$0")/.." && pwd)
build=${BUILD_DIR:-$root/build}
bin=$build/examples
records=10000
bootstrap=''

while test $# -gt 0; do
	case $1 in
	--bootstrap) bootstrap=${2:?--bootstrap needs HOST:PORT}; shift 2 ;;
	--bootstrap=*) bootstrap=${1#*=}; shift ;;
	*) sed -n '4,10s/^# \{0,1\}//p' "$0"; exit 64 ;;
	esac
done

sh "$root/tests/lib/install.sh" build demo
test -e "$build/build.ninja" || {
	echo "Building into $build"
	meson setup -Dexamples=enabled "$build" "$root" >"$build.log" 2>&1 || { tail -n 20 "$build.log"; exit 1; }
	mv "$build.log" "$build/demo-setup.log"
}
ninja -C "$build" >"$build/demo-build.log" 2>&1 || { tail -n 40 "$build/demo-build.log"; exit 1; }

dir=$(mktemp -d)
pids=''
clean_up() {
	for pid in $pids; do
		kill "$pid" 2>/dev/null || :
	done
	wait
	test "${KEEP:-0}" = 1 && echo "Kept: $dir" || rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 1' INT TERM

fail() {
	echo "demo: $*" >&2
	for file in "$dir"/*.err; do
		test ! -s "$file" || { echo "-- ${file##*/}:"; tail -n 10 "$file"; } >&2
	done
	exit 1
}

# start NAME PROGRAM ARGUMENT…: in the background, with its output, words and events in files called after it.
start() {
	name=$1
	program=$2
	shift 2
	: >"$dir/$name.jsonl"
	"$bin/$program" "$@" --events "$dir/$name.jsonl" >"$dir/$name.out" 2>"$dir/$name.err" </dev/null &
	pids="$pids $!"
	eval "pid_$name=$!"
}

# leave NAME: ask it to go, and expect it to have gone well.
leave() {
	eval "pid=\$pid_$1"
	kill "$pid"
	wait "$pid" || fail "$1 ended with exit code $?"
	pids=$(echo "$pids" | sed "s/ $pid\b//")
}

# until_seen COUNT PATTERN FILE…: until that many lines match, for 30 s at most.
until_seen() {
	count=$1
	pattern=$2
	shift 2
	tries=0
	until test "$(cat "$@" | grep -c "$pattern")" -ge "$count"; do
		tries=$((tries + 1))
		test $tries -lt 600 || fail "waited for $count lines with $pattern in $*"
		sleep 0.05
	done
}

member() { # NAME GROUP TOPIC [OPTION…]
	member_name=$1 member_group=$2 member_topic=$3
	shift 3
	start "$member_name" regroup-member -b "$bootstrap" -g "$member_group" -t "$member_topic" \
		-X client.id="${member_name##*_}" "$@"
}

# picture TITLE GROUP NAME…: the events of these members, and of the coordinator where it is ours.
picture() { # also takes --from=UNIX_SECONDS
	title=$1
	group=$2
	shift 2
	files=''
	for name in "$@"; do
		case $name in
		--*) files="$files $name" ;;
		*) files="$files ${name##*_}=$dir/$name.jsonl" ;;
		esac
	done
	test ! -e "$dir/cluster.jsonl" || files="$files cluster=$dir/cluster.jsonl"
	echo
	# shellcheck disable=SC2086 # names without blanks
	python3 "$root/examples/sequence.py" --title "$title" --group "$group" $files
	echo
}

# check NAME…: what must hold in the events of these members.
check() {
	files=''
	for name in "$@"; do
		files="$files $dir/$name.jsonl"
	done
	# shellcheck disable=SC2086
	python3 "$root/tests/lib/events.py" $files || fail "that is not what should have happened"
}

mark=regroup-demo-$$
if test -z "$bootstrap"; then
	start cluster regroup-coordinator --port 0 --topics "$mark-a:4,$mark-b:6,$mark-c:6"
	until_seen 1 '^listening ' "$dir/cluster.out"
	bootstrap=$(sed -n 's/^listening //p' "$dir/cluster.out")
	echo "The embedded cluster listens on $bootstrap."
else
	for topic in a:4 b:6 c:6; do
		python3 "$root/tests/lib/wire.py" -b "$bootstrap" create "$mark-${topic%:*}" "${topic#*:}" || fail "no topic could be created"
	done
fi

echo
echo "1. Not yet stable: m2 joins while m1, the leader, is still at its plan. m1's SyncGroup is refused, it joins again,"
echo "   and nobody's application hears of it: one prepare and one complete each."
member s1_m1 "$mark-1" "$mark-a" --delay-assign 1000
until_seen 1 '"join_received".*"leader":true' "$dir/s1_m1.jsonl"
member s1_m2 "$mark-1" "$mark-a"
until_seen 1 '"event":"assigned"' "$dir/s1_m1.jsonl"
until_seen 1 '"event":"assigned"' "$dir/s1_m2.jsonl"
picture "not yet stable" "$mark-1" s1_m1 s1_m2
leave s1_m2
leave s1_m1
grep -q '"sync_received".*REBALANCE_IN_PROGRESS' "$dir/s1_m1.jsonl" || fail "m1's SyncGroup was not refused"
check s1_m1 s1_m2

echo
echo "2. Stable: m3 joins a group that is at work; the others learn of it by heartbeat and share anew."
member s2_m1 "$mark-2" "$mark-b"
until_seen 1 '"event":"complete"' "$dir/s2_m1.jsonl"
member s2_m2 "$mark-2" "$mark-b"
until_seen 2 '"event":"complete"' "$dir/s2_m1.jsonl"
until_seen 1 '"event":"complete"' "$dir/s2_m2.jsonl"
since=$(date +%s.%N)
member s2_m3 "$mark-2" "$mark-b"
until_seen 3 '"event":"assigned"' "$dir/s2_m1.jsonl"
until_seen 2 '"event":"assigned"' "$dir/s2_m2.jsonl"
until_seen 1 '"event":"assigned"' "$dir/s2_m3.jsonl"
picture "a third member" "$mark-2" s2_m1 s2_m2 s2_m3 "--from=$since"
for name in s2_m3 s2_m2 s2_m1; do
	leave $name
done
check s2_m1 s2_m2 s2_m3

echo
echo "3. $records records over 6 partitions, while consumers come and go."
consumer() {
	start "$1" regroup-consume -b "$bootstrap" -g "$mark-3" -t "$mark-c" -X auto.offset.reset=earliest \
		-X client.id="$1" -f '%t %p %o\n'
}
written=0
produce() { # COUNT
	seq "$written" $((written + $1 - 1)) | kcat -P -b "$bootstrap" -t "$mark-c" -X sticky.partitioning.linger.ms=0
	written=$((written + $1))
}
consumer c1
produce 2000
until_seen 1500 '' "$dir/c1.out"
consumer c2
consumer c3
until_seen 1 '"event":"assigned".*"partitions":{"' "$dir/c2.jsonl"
until_seen 1 '"event":"assigned".*"partitions":{"' "$dir/c3.jsonl"
produce 3000
until_seen 4500 '' "$dir"/c?.out
leave c2
produce 2000
until_seen 6500 '' "$dir"/c?.out
consumer c4
until_seen 1 '"event":"assigned".*"partitions":{"' "$dir/c4.jsonl"
produce $((records - written))
until_seen "$records" '' "$dir"/c?.out
for name in c1 c3 c4; do
	leave $name
done
python3 "$root/tests/lib/wire.py" -b "$bootstrap" ends "$mark-c" | sed "s/.*/{\"$mark-c\": &}/" >"$dir/ends"
for name in c1 c2 c3 c4; do
	echo "   $name consumed $(wc -l <"$dir/$name.out") records"
done
python3 "$root/tests/lib/events.py" --ends "$dir/ends" --no-duplicates --records "$dir/c1.out" --records "$dir/c2.out" \
	--records "$dir/c3.out" --records "$dir/c4.out" "$dir/c1.jsonl" "$dir/c2.jsonl" "$dir/c3.jsonl" "$dir/c4.jsonl" ||
	fail "a record was lost or seen twice"
echo
echo "Every record was seen once, and no partition had two owners at any time."

#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# A throw-away Kafka on loopback, in KRaft mode, each node broker and controller in one process.
#
#   kafka.sh fetch                          get the jars into the cache (also done by start)
#   kafka.sh start NODES DIR                start NODES brokers with everything they write under DIR (new or empty);
#                                           prints BOOTSTRAP=host:port,… and PIDS=…
#   kafka.sh topic DIR NAME PARTITIONS      create a topic, replicated to all nodes
#   kafka.sh kill-node DIR N                kill -9 node N (1…), as a crash would
#   kafka.sh restart-node DIR N             start it again on its old port and data
#   kafka.sh console-consumer DIR ARG…      Kafka's own ConsoleConsumer against it, in the foreground (exec: the pid stays)
#   kafka.sh stop DIR                       end all nodes and delete their data; logs stay
#
# Exit code 77: there is no Java or Maven here, or Maven could not get Kafka. With REQUIRE_BROKER=1 that is 1 instead.
# Nodes stay in the caller's process group, so that whoever ends the group (meson at a timeout, Ctrl-C) ends them too.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
lib=$here/../lib
version=${KAFKA_VERSION:-4.1.2}
. "$lib/maven.sh"
cache=$regroup_cache/kafka-$version

fail() {
	echo "kafka.sh: $*" >&2
	exit 1
}

no_broker() {
	if test "${REQUIRE_BROKER:-0}" = 1; then
		fail "$* (and REQUIRE_BROKER=1)"
	fi
	echo "kafka.sh: NO BROKER TESTS: $*" >&2
	exit 77
}

fetch() {
	command -v java >/dev/null 2>&1 || no_broker "there is no java command here"
	maven_fetch "$cache" "org.apache.kafka:kafka_2.13:$version" "org.apache.kafka:kafka-tools:$version" \
		org.slf4j:slf4j-simple:1.7.36 || no_broker "Maven could not get Kafka $version"
}

tool() {
	exec java -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto -Xmx256m -Dorg.slf4j.simpleLogger.defaultLogLevel=off \
		-cp "$cache/*" "$@"
}

# A pid alone may have been given to somebody else since: the start time (field 22 of stat, and the name in field 2 may hold
# blanks) makes it ours.
start_time() {
	sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

node_pid() {
	test -e "$1/pid" || return 1
	read -r pid born <"$1/pid" || return 1
	test "$(start_time "$pid")" = "$born" || return 1
	echo "$pid"
}

# Prints as many free loopback ports as asked for, all held at once while choosing so that no two are the same.
free_ports() {
	python3 -c '
import socket, sys
held = [socket.socket() for _ in range(int(sys.argv[1]))]
for s in held: s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in held))' "$1"
}

write_properties() { # NODE_DIR NODE_ID PORT CONTROLLER_PORT VOTERS NODES
	cat >"$1/server.properties" <<-END
		process.roles=broker,controller
		node.id=$2
		controller.quorum.voters=$5
		listeners=PLAINTEXT://127.0.0.1:$3,CONTROLLER://127.0.0.1:$4
		advertised.listeners=PLAINTEXT://127.0.0.1:$3
		controller.listener.names=CONTROLLER
		inter.broker.listener.name=PLAINTEXT
		listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
		log.dirs=$1/data
		num.network.threads=2
		num.io.threads=4
		num.partitions=1
		auto.create.topics.enable=false
		offsets.topic.replication.factor=$6
		offsets.topic.num.partitions=5
		transaction.state.log.replication.factor=$6
		transaction.state.log.min.isr=1
		transaction.state.log.num.partitions=5
		share.coordinator.state.topic.replication.factor=$6
		share.coordinator.state.topic.min.isr=1
		group.initial.rebalance.delay.ms=0
		group.min.session.timeout.ms=1000
		group.consumer.min.heartbeat.interval.ms=100
		group.consumer.min.session.timeout.ms=1000
		group.coordinator.append.linger.ms=0
		broker.session.timeout.ms=6000
		broker.heartbeat.interval.ms=1000
	END
	# What a test needs beyond this, one property a line.
	test -z "${KAFKA_PROPERTIES:-}" || printf '%s\n' "$KAFKA_PROPERTIES" >>"$1/server.properties"
}

launch() { # NODE_DIR
	# A Kafka without a logger exits without a word when its port is taken, so it gets one.
	java -Xmx700m -Xms256m -XX:+UseSerialGC -Xshare:auto -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
		-Dorg.slf4j.simpleLogger.showDateTime=true -cp "$cache/*" kafka.Kafka "$1/server.properties" \
		>>"$1/log" 2>&1 </dev/null &
	echo "$! $(start_time $!)" >"$1/pid"
}

kill_node() { # NODE_DIR
	if pid=$(node_pid "$1"); then
		kill -9 "$pid" 2>/dev/null || :
		while test "$(start_time "$pid")" != "" && test "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != Z; do
			sleep 0.05
		done
	fi
	rm -f "$1/pid"
}

stop() { # DIR
	for node in "$1"/node-*; do
		test -d "$node" || continue
		kill_node "$node"
		rm -rf "$node/data"
	done
}

# Somebody else may take a port between our look and Kafka's bind; then everything is started again on other ports.
lost_a_port() {
	grep -qs 'Address already in use' "$1"/node-*/log
}

all_alive() {
	for node in "$1"/node-*; do
		node_pid "$node" >/dev/null || return 1
	done
}

try_start() { # NODES DIR; 0 ready, 1 a port was taken, 2 anything else
	set -- "$1" "$2" $(free_ports $((2 * $1)))
	nodes=$1 dir=$2
	shift 2
	bootstrap='' voters='' n=1
	ports=$*
	for port in $ports; do
		case $((n % 2)) in
		1) bootstrap=$bootstrap${bootstrap:+,}127.0.0.1:$port ;;
		0) voters=$voters${voters:+,}$((n / 2))@127.0.0.1:$port ;;
		esac
		n=$((n + 1))
	done
	# 16 bytes in base64url; the fixed first letter keeps a leading dash from looking like an option.
	cluster=R$(python3 -c 'import base64, uuid; print(base64.urlsafe_b64encode(uuid.uuid4().bytes).decode()[1:22])')
	formatting='' n=1
	while test $n -le "$nodes"; do
		node=$dir/node-$n
		mkdir -p "$node/data"
		: >"$node/log"
		write_properties "$node" $n "$1" "$2" "$voters" "$nodes"
		shift 2
		(tool kafka.tools.StorageTool format -t "$cluster" -c "$node/server.properties" >>"$node/log" 2>&1 </dev/null) &
		formatting="$formatting $!"
		n=$((n + 1))
	done
	for pid in $formatting; do
		wait "$pid" || return 2
	done
	for node in "$dir"/node-*; do
		launch "$node"
	done
	echo "$bootstrap" >"$dir/bootstrap"
	tries=0
	until python3 "$lib/wire.py" -b "$bootstrap" wait "$nodes" 5 "$cluster" 2>"$dir/waiting"; do
		lost_a_port "$dir" && return 1
		all_alive "$dir" || return 2
		tries=$((tries + 1))
		test $tries -lt 24 || return 2
	done
	rm -f "$dir/waiting"
}

start() { # NODES DIR
	fetch
	mkdir -p "$2"
	dir=$(cd "$2" && pwd)
	for node in "$dir"/node-*; do
		test ! -d "$node" || fail "$dir holds a cluster already"
	done
	trap 'stop "$dir"' EXIT
	trap 'exit 1' INT TERM
	for attempt in 1 2 3; do
		result=0
		try_start "$1" "$dir" || result=$?
		test $result -ne 0 || break
		stop "$dir"
		test $result -eq 1 || break
		rm -rf "$dir"/node-*
		echo "kafka.sh: a port was taken by somebody else; attempt $((attempt + 1))" >&2
	done
	if test $result -ne 0; then
		cat "$dir/waiting" >&2 2>/dev/null || :
		tail -n 15 "$dir"/node-*/log >&2 2>/dev/null || :
		fail "Kafka did not start"
	fi
	trap - EXIT INT TERM
	echo "BOOTSTRAP=$(cat "$dir/bootstrap")"
	pids=''
	for node in "$dir"/node-*; do
		pids="$pids $(node_pid "$node")"
	done
	echo "PIDS=${pids# }"
}

command=${1:-help}
test $# -eq 0 || shift
case $command in
fetch) fetch; echo "$cache" ;;
start) start "${1:?NODES}" "${2:?DIR}" ;;
topic)
	nodes=$(ls -d "$1"/node-* | wc -l)
	python3 "$lib/wire.py" -b "$(cat "$1/bootstrap")" create "$2" "$3" "$nodes"
	;;
kill-node) kill_node "$1/node-$2" ;;
restart-node)
	node_pid "$1/node-$2" >/dev/null && fail "node $2 is running"
	launch "$(cd "$1/node-$2" && pwd)"
	;;
console-consumer)
	bootstrap=$(cat "$1/bootstrap")
	shift
	tool org.apache.kafka.tools.consumer.ConsoleConsumer --bootstrap-server "$bootstrap" "$@"
	;;
stop) stop "${1:?DIR}" ;;
*)
	sed -n '3,/^set -eu/{/^set/d;s/^# \{0,1\}//p}' "$0" >&2
	exit 64
	;;
esac

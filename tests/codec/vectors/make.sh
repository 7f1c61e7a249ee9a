#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Writes the fixtures in this directory anew, with Kafka's own classes. Needs Java 17 or newer, and Maven the first
# time. The versions are those we speak; kafka-clients 4.1.2 has all of them. (OffsetCommit 0-1 and OffsetFetch 0 are
# gone from it with KIP-896; we do not speak them either.)
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../lib/maven.sh"

jars=$(kafka_clients_dir)
classes=$(mktemp -d)
trap 'rm -rf "$classes"' EXIT
javac -Xlint:all -cp "$jars/*" -d "$classes" "$here/Vectors.java"
rm -f "$here"/*.txt
java -XX:TieredStopAtLevel=1 -cp "$classes:$jars/*" Vectors "$here" ApiVersions:0-4 Metadata:0-13 FindCoordinator:0-6 \
	JoinGroup:0-9 SyncGroup:0-5 Heartbeat:0-4 LeaveGroup:0-5 DescribeGroups:0-6 ListGroups:0-5 OffsetCommit:2-9 \
	OffsetFetch:1-9 TxnOffsetCommit:0-3

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad input: what is refused at once, what is told and retried without spinning, and that ending always works."""
import json
import os
import signal
import socket
import socketserver
import struct
import subprocess
import sys
import threading
import time

from harness import Cases, Kafka, Ours, all_of, check_events, program, scratch, settled, unique, until

WATCHED = 3.0  # seconds a hopeless member is watched for spinning


def refused(option, value, *words):
	"""The program ends at once, not with 0, and its words name the property and what would be accepted."""
	options = {"-b": "127.0.0.1:1", "-g": "g", "-t": "t", option: value}
	command = [program("regroup-member"), *(word for pair in options.items() for word in pair)]
	done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=10)
	assert done.returncode > 0, f"exit code {done.returncode}\n{done.stderr}"
	for word in words:
		assert word in done.stderr, f"{word!r} is not in: {done.stderr}"


def cpu_seconds(pid):
	with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
		fields = file.read().rsplit(") ", 1)[1].split()
	return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def hopeless(bootstrap, *causes):
	"""An error event names the address and the cause; it goes on trying, at ease; SIGTERM ends it in time."""
	folder = scratch()
	member = Ours(None, folder, "m1", unique("bad"), ["t"], bootstrap=bootstrap)

	def told():
		for event in member.events():
			text = json.dumps(event).lower()
			if event["event"] == "error" and bootstrap in text and any(c in text for c in causes):
				return event
		return None

	member.until(f"an error that names {bootstrap} and one of {causes}", told, 20)
	used, events_before = cpu_seconds(member.process.pid), len(member.events())
	# Watching for a while is the point here: what does it do when nothing can be done?
	time.sleep(WATCHED)
	spent, grown = cpu_seconds(member.process.pid) - used, len(member.events()) - events_before
	assert spent < 0.1 * WATCHED, f"{spent} s of CPU in {WATCHED} s"
	assert grown < 30 * WATCHED, f"{grown} events in {WATCHED} s"
	took = member.stop(12)
	check_events(member)
	print(f"     {spent:.2f} s of CPU and {grown} events in {WATCHED:g} s; ended in {took:.1f} s")


def nobody_listening():
	with socket.socket() as held:
		# Bound but not listening: nobody else can come to listen there while we look.
		held.bind(("127.0.0.1", 0))
		hopeless(f"127.0.0.1:{held.getsockname()[1]}", "refused")


def name_that_does_not_resolve():
	hopeless("no-such-host.invalid:9092", "resolve", "not known", "name resolution", "name or service")


class Http(socketserver.BaseRequestHandler):
	"""As the usual servers: whatever it gets, it does not wait for more of it before it says that it was not HTTP."""

	def handle(self):
		if self.request.recv(4096):
			self.request.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


class Old(socketserver.BaseRequestHandler):
	"""A broker of the time of Kafka 0.8.2 that can at least tell its versions: OffsetCommit only up to 1."""

	APIS = ((0, 0, 1), (1, 0, 1), (2, 0, 0), (3, 0, 0), (8, 0, 1), (9, 0, 1), (10, 0, 0), (11, 0, 0), (12, 0, 0),
		(13, 0, 0), (14, 0, 0), (18, 0, 0))

	def handle(self):
		with self.request.makefile("rb") as stream:
			while len(head := stream.read(4)) == 4:
				api, version, correlation = struct.unpack(">hhi", stream.read(struct.unpack(">i", head)[0])[:8])
				if api != 18:
					return
				answer = struct.pack(">ihi", correlation, 35 if version else 0, len(self.APIS))
				answer += b"".join(struct.pack(">hhh", *ranges) for ranges in self.APIS)
				self.request.sendall(struct.pack(">i", len(answer)) + answer)


class Older(socketserver.BaseRequestHandler):
	"""Kafka before 0.10: what it does not know, such as ApiVersions, ends the connection."""

	def handle(self):
		self.request.recv(4096)


def hopeless_server(kind, *causes):
	with socketserver.ThreadingTCPServer(("127.0.0.1", 0), kind) as server:
		threading.Thread(target=server.serve_forever, daemon=True).start()
		try:
			hopeless(f"127.0.0.1:{server.server_address[1]}", *causes)
		finally:
			server.shutdown()


def port_that_talks_http():
	hopeless_server(Http, "http", "not kafka")


def broker_too_old():
	hopeless_server(Old, "broker too old: it has offsetcommit in versions 0 to 1, we speak 2 to 9")


def broker_without_api_versions():
	hopeless_server(Older, "older than 0.10")


def port_that_says_nothing():
	"""Accepts and is silent: the request times out, and ending does not wait for it."""
	with socket.socket() as silent:
		silent.bind(("127.0.0.1", 0))
		silent.listen(16)
		folder = scratch()
		member = Ours(None, folder, "m1", unique("bad"), ["t"], bootstrap=f"127.0.0.1:{silent.getsockname()[1]}")
		silent.settimeout(20)
		connection, _ = silent.accept()
		connection.recv(4)
		print(f"     ended in {member.stop(12):.1f} s")
		connection.close()


def topic_that_appears_later(kafka):
	"""scenarios E.96: an empty assignment and a warning, then a rebalance when the topic is there."""
	folder, group, topic = scratch(), unique("bad"), unique("later")
	member = Ours(kafka, folder, "m1", group, [topic], settings={"metadata.max.age.ms": 1000})
	member.wait_for("complete")
	assert not member.owned()
	member.until("a warning that names the topic", lambda: topic in member.text(member.err_path) or any(
		topic in json.dumps(e) for e in member.events() if e["event"] in ("error", "warning")))
	kafka.cluster.create(topic, 2)
	until("both partitions owned", lambda: member.owned() == all_of({topic: 2}), also=member.told)
	settled(kafka, group, 1, all_of({topic: 2}), "range")
	member.stop()
	check_events(member)


def ends_politely(kafka, sign):
	"""SIGTERM and SIGINT: what was consumed is committed, the group is left at once, exit code 0."""
	folder, group, topic = scratch(), unique("bad"), kafka.topic(2)
	kafka.produce(topic, 100, 2)
	member = Ours(kafka, folder, "c1", group, [topic], consume=True, settings={"auto.offset.reset": "earliest"})
	member.until("100 records", lambda: member.text(member.out_path).count("\n") >= 100)
	took = member.stop(5, sign)
	assert kafka.cluster.committed(group, topic) == kafka.cluster.ends(topic)
	state = kafka.cluster.group(group)
	assert state["state"] in ("Empty", "Dead"), f"the group was not left: {state}"
	check_events(member)
	print(f"     ended in {took:.1f} s")


def stops_polling(kafka):
	"""KIP-62: who does not poll for max.poll.interval.ms leaves, and the others take over long before its session ends."""
	folder, group, topics = scratch(), unique("bad"), {kafka.topic(4): 4}
	settings = {"session.timeout.ms": 45000, "heartbeat.interval.ms": 500}
	# The interval also is the rebalance timeout, and must be no shorter than the session timeout allows.
	m1 = Ours(kafka, folder, "m1", group, list(topics), settings=settings)
	m1.wait_for("complete")
	m2 = Ours(kafka, folder, "m2", group, list(topics), options=["--stall-after", "2000"],
		settings={**settings, "session.timeout.ms": 3000, "max.poll.interval.ms": 3000})
	m2.wait_for("complete")
	until("m1 to own everything", lambda: m1.owned() == all_of(topics), also=m1.told)
	settled(kafka, group, 1, all_of(topics), "range")
	m1.stop()
	m2.end()


def main():
	report = Cases()
	for option, value, *words in (
			("-X", "session.timeout.ms=soon", "session.timeout.ms"),
			("-X", "session.timeout.ms=-5", "session.timeout.ms"),
			("-X", "heartbeat.interval.ms=60000", "heartbeat.interval.ms", "session.timeout.ms"),
			("-X", "no.such.property=1", "no.such.property"),
			("-g", "", "group.id"),
			("-a", "nonesuch", "nonesuch", "range")):
		report.case(f"refused: {option} {value}", refused, option, value, *words)
	for case in (nobody_listening, name_that_does_not_resolve, port_that_talks_http, broker_too_old,
			broker_without_api_versions, port_that_says_nothing):
		report.case(case.__name__, case)
	with Kafka() as kafka:
		report.case("topic_that_appears_later", topic_that_appears_later, kafka)
		for sign in (signal.SIGTERM, signal.SIGINT):
			report.case(f"ends_politely, {sign.name}", ends_politely, kafka, sign)
		report.case("stops_polling", stops_polling, kafka)
	return report.finish()


if __name__ == "__main__":
	sys.exit(main())

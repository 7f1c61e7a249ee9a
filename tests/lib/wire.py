#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A very small Kafka client for the tests: what a broker itself says about its topics and groups.

It shares no line with the library under test, so it can bear witness against it. One request per connection, the oldest
version of each API that Kafka 4 still speaks (none of them has tagged fields).

    wire.py -b HOST:PORT[,…] wait BROKERS SECONDS [ID]    until each address names BROKERS brokers (of the cluster ID)
    wire.py -b … create TOPIC PARTITIONS [REPLICATION]    create a topic and wait until its partitions have leaders
    wire.py -b … group GROUP                              state, protocol, and members with their partitions, as JSON
    wire.py -b … committed GROUP TOPIC                    {"partition": offset} as JSON
    wire.py -b … ends TOPIC                               {"partition": offset} as JSON
"""
import argparse
import json
import socket
import struct
import sys
import time

API_LIST_OFFSETS, API_METADATA, API_OFFSET_FETCH, API_FIND_COORDINATOR = 2, 3, 9, 10
API_JOIN_GROUP, API_LEAVE_GROUP, API_SYNC_GROUP = 11, 13, 14
API_DESCRIBE_GROUPS, API_CREATE_TOPICS, API_DELETE_TOPICS = 15, 19, 20
TOPIC_ALREADY_EXISTS = 36
RETRIABLE = {3, 5, 6, 7, 14, 15, 16}  # unknown topic, no leader, not leader, timed out, coordinator loading/absent/elsewhere


class WireError(Exception):
	def __init__(self, what, code=None):
		super().__init__(what if code is None else f"{what}: error {code}")
		self.code = code


class Writer:
	def __init__(self):
		self.out = bytearray()

	def num(self, form, value):
		self.out += struct.pack(">" + form, value)
		return self

	def string(self, text):
		raw = text.encode()
		self.num("h", len(raw))
		self.out += raw
		return self

	def blob(self, raw):
		self.num("i", len(raw))
		self.out += raw
		return self

	def array(self, items, write):
		self.num("i", len(items))
		for item in items:
			write(item)
		return self


class Reader:
	def __init__(self, data):
		self.data, self.at = data, 0

	def num(self, form):
		size = struct.calcsize(">" + form)
		(value,) = struct.unpack_from(">" + form, self.data, self.at)
		self.at += size
		return value

	def take(self, size):
		if size > len(self.data) - self.at:
			raise WireError("answer too short")
		self.at += size
		return self.data[self.at - size:self.at]

	def string(self):
		size = self.num("h")
		return None if size < 0 else self.take(size).decode()

	def blob(self):
		size = self.num("i")
		return b"" if size < 0 else self.take(size)

	def array(self, read):
		return [read() for _ in range(max(0, self.num("i")))]


def parse_bootstrap(text):
	return [(host or "127.0.0.1", int(port)) for host, _, port in (part.rpartition(":") for part in text.split(","))]


def call(address, api, version, body, timeout=5.0, client="regroup-wire"):
	"""One request on a connection of its own; returns a Reader at the start of the answer's body."""
	head = Writer().num("h", api).num("h", version).num("i", 1).string(client)
	frame = bytes(head.out + body.out)
	with socket.create_connection(address, timeout=timeout) as sock:
		sock.sendall(struct.pack(">i", len(frame)) + frame)
		answer = b""
		wanted = 4
		while len(answer) < wanted:
			chunk = sock.recv(65536)
			if not chunk:
				raise WireError("connection closed before the answer")
			answer += chunk
			if wanted == 4 and len(answer) >= 4:
				wanted = 4 + struct.unpack_from(">i", answer)[0]
	reader = Reader(answer[4:])
	if reader.num("i") != 1:
		raise WireError("foreign correlation id")
	return reader


class Cluster:
	def __init__(self, bootstrap, timeout=5.0):
		self.addresses = parse_bootstrap(bootstrap)
		self.timeout = timeout

	def _any(self, api, version, body):
		last = None
		for address in self.addresses:
			try:
				return call(address, api, version, body, self.timeout)
			except (OSError, WireError) as error:
				last = error
		raise WireError(f"no broker answered: {last}")

	def metadata(self, topics=None):
		"""Brokers {id: address}, controller id, topics {name: {partition: leader}} (leader -1: none yet), cluster id."""
		body = Writer()
		if topics is None:
			body.num("i", -1)
		else:
			body.array(topics, body.string)
		r = self._any(API_METADATA, 2, body)
		brokers = {}
		for node, host, port, _ in r.array(lambda: (r.num("i"), r.string(), r.num("i"), r.string())):
			brokers[node] = (host, port)
		cluster_id = r.string()
		controller = r.num("i")

		def partition():
			error, index, leader = r.num("h"), r.num("i"), r.num("i")
			r.array(lambda: r.num("i"))
			r.array(lambda: r.num("i"))
			return index, (leader if error == 0 else -1)

		def topic():
			error, name, _ = r.num("h"), r.string(), r.num("b")
			return name, error, dict(r.array(partition))

		return brokers, controller, {name: parts for name, error, parts in r.array(topic) if error == 0}, cluster_id

	def wait_brokers(self, count, seconds, cluster_id=None):
		"""Until each bootstrap address by itself names all `count` brokers: what any client will then see.

		With a cluster id, only the cluster of that id will do: at a port just chosen a stranger may be answering."""
		deadline = time.monotonic() + seconds
		last = None
		for address in self.addresses:
			one = Cluster(f"{address[0]}:{address[1]}", self.timeout)
			while True:
				try:
					brokers, controller, _, found = one.metadata([])
					last = f"{len(brokers)} of {count} brokers, cluster {found}"
					if len(brokers) == count and controller >= 0 and cluster_id in (None, found):
						break
				except WireError as error:
					last = error
				if time.monotonic() > deadline:
					raise WireError(f"{address[0]}:{address[1]} not ready after {seconds} s: {last}")
				time.sleep(0.1)

	def create(self, name, partitions, replication=1, seconds=20):
		def request(topic):
			body.string(topic).num("i", partitions).num("h", replication).num("i", 0).num("i", 0)

		deadline = time.monotonic() + seconds
		while True:
			brokers, controller, _, _ = self.metadata([])
			body = Writer()
			body.array([name], request).num("i", int(seconds * 1000)).num("b", 0)
			r = call(brokers.get(controller, self.addresses[0]), API_CREATE_TOPICS, 2, body, seconds)
			r.num("i")
			((_, error, message),) = r.array(lambda: (r.string(), r.num("h"), r.string()))
			if error in (0, TOPIC_ALREADY_EXISTS):
				break
			if time.monotonic() > deadline or error not in RETRIABLE | {38, 41}:  # 38 too few brokers yet, 41 controller moved
				raise WireError(f"cannot create {name}: {message}", error)
			time.sleep(0.1)
		while True:
			leaders = self.metadata([name])[2].get(name, {})
			if len(leaders) >= partitions and all(leader >= 0 for leader in leaders.values()):
				return
			if time.monotonic() > deadline:
				raise WireError(f"{name} has no leaders after {seconds} s: {leaders}")
			time.sleep(0.05)

	def delete(self, name, seconds=10):
		brokers, controller, _, _ = self.metadata([])
		body = Writer()
		body.array([name], body.string).num("i", int(seconds * 1000))
		r = call(brokers[controller], API_DELETE_TOPICS, 1, body, seconds)
		r.num("i")
		((_, error),) = r.array(lambda: (r.string(), r.num("h")))
		if error:
			raise WireError(f"cannot delete {name}", error)

	def coordinator(self, group, seconds=20):
		"""(node id, address). The first question makes the broker create its offsets topic, so it may take a while."""
		deadline = time.monotonic() + seconds
		while True:
			r = self._any(API_FIND_COORDINATOR, 1, Writer().string(group).num("b", 0))
			r.num("i")
			error, _, node, host, port = r.num("h"), r.string(), r.num("i"), r.string(), r.num("i")
			if error == 0:
				return node, (host, port)
			if time.monotonic() > deadline or error not in RETRIABLE:
				raise WireError(f"no coordinator for {group}", error)
			time.sleep(0.1)

	def group(self, group):
		"""{"state", "protocol", "members": {id: {"client", "owned": {topic: [partitions]}}}} as its coordinator tells it."""
		deadline = time.monotonic() + 20
		while True:
			body = Writer()
			body.array([group], body.string)
			r = call(self.coordinator(group)[1], API_DESCRIBE_GROUPS, 0, body, self.timeout)

			def member():
				ident, client, _ = r.string(), r.string(), r.string()
				r.blob()
				return ident, {"client": client, "owned": parse_assignment(r.blob())}

			def one():
				return {"error": r.num("h"), "group": r.string(), "state": r.string(), "type": r.string(),
					"protocol": r.string(), "members": dict(r.array(member))}

			(told,) = r.array(one)
			if told["error"] == 0:
				return told
			if told["error"] not in RETRIABLE or time.monotonic() > deadline:
				raise WireError(f"cannot describe {group}", told["error"])
			time.sleep(0.1)

	def committed(self, group, topic):
		partitions = sorted(self.metadata([topic])[2].get(topic, {}))
		body = Writer()
		body.string(group).num("i", 1).string(topic)
		body.array(partitions, lambda p: body.num("i", p))
		r = call(self.coordinator(group)[1], API_OFFSET_FETCH, 1, body, self.timeout)

		def partition():
			index, offset, _, error = r.num("i"), r.num("q"), r.string(), r.num("h")
			if error:
				raise WireError(f"committed offset of {topic} {index}", error)
			return index, offset

		answer = dict(r.array(lambda: (r.string(), dict(r.array(partition)))))
		return answer.get(topic, {})

	def ends(self, topic):
		"""End offset of every partition, each asked of the partition's leader."""
		brokers, _, topics, _ = self.metadata([topic])
		ends = {}
		for partition, leader in topics.get(topic, {}).items():
			body = Writer().num("i", -1).num("i", 1).string(topic).num("i", 1).num("i", partition).num("q", -1)
			r = call(brokers[leader], API_LIST_OFFSETS, 1, body, self.timeout)

			def entry():
				index, error, _, offset = r.num("i"), r.num("h"), r.num("q"), r.num("q")
				if error:
					raise WireError(f"end of {topic} {index}", error)
				return index, offset

			for _, parts in r.array(lambda: (r.string(), r.array(entry))):
				ends.update(parts)
		return ends


class RawMember:
	"""A member that says whatever bytes it is told to: what a leader may meet in a group of strangers."""

	def __init__(self, cluster, group, session_ms=6000, client="regroup-wire"):
		self.cluster, self.group, self.session_ms, self.client = cluster, group, session_ms, client
		self.address = cluster.coordinator(group)[1]
		self.member, self.generation = "", -1

	def join(self, protocol, metadata, timeout=30):
		"""Blocks until everyone has joined. Returns whether it leads."""
		body = Writer().string(self.group).num("i", self.session_ms).num("i", 30000).string(self.member).string("consumer")
		body.num("i", 1).string(protocol).blob(metadata)
		deadline = time.monotonic() + timeout
		while True:
			r = call(self.address, API_JOIN_GROUP, 2, body, timeout, self.client)
			r.num("i")
			error, generation, _, leader, member = r.num("h"), r.num("i"), r.string(), r.string(), r.string()
			if error == 0:
				self.generation, self.member = generation, member
				return leader == member
			if error not in RETRIABLE or time.monotonic() > deadline:
				raise WireError(f"cannot join {self.group}", error)
			time.sleep(0.1)

	def sync(self, timeout=30):
		"""As a follower. Returns the assignment's bytes."""
		body = Writer().string(self.group).num("i", self.generation).string(self.member).num("i", 0)
		r = call(self.address, API_SYNC_GROUP, 1, body, timeout)
		r.num("i")
		error, assignment = r.num("h"), r.blob()
		if error:
			raise WireError(f"cannot sync {self.group}", error)
		return assignment

	def leave(self):
		r = call(self.address, API_LEAVE_GROUP, 1, Writer().string(self.group).string(self.member))
		r.num("i")
		error = r.num("h")
		if error:
			raise WireError(f"cannot leave {self.group}", error)


def parse_assignment(raw):
	"""ConsumerProtocolAssignment: version, then topics with partitions. Userdata and later fields are not needed here."""
	if not raw:
		return {}
	r = Reader(raw)
	r.num("h")
	return {topic: sorted(parts) for topic, parts in r.array(lambda: (r.string(), r.array(lambda: r.num("i"))))}


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("-b", "--bootstrap", required=True)
	parser.add_argument("command", choices=["wait", "create", "group", "committed", "ends"])
	parser.add_argument("args", nargs="*")
	o = parser.parse_args()
	cluster = Cluster(o.bootstrap)
	try:
		if o.command == "wait":
			cluster.wait_brokers(int(o.args[0]), float(o.args[1]), *o.args[2:3])
		elif o.command == "create":
			cluster.create(o.args[0], int(o.args[1]), *(int(a) for a in o.args[2:3]))
		else:
			print(json.dumps(getattr(cluster, o.command)(*o.args), sort_keys=True))
	except (WireError, OSError) as error:
		print(f"wire.py: {error}", file=sys.stderr)
		return 1
	return 0


if __name__ == "__main__":
	sys.exit(main())

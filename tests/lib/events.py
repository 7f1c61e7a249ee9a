#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reads the event streams (JSON lines) of several processes as one story, and checks what must hold in it.

    events.py [--kill NAME=UNIX_SECONDS]… [--records OUT]… [--ends FILE] [--no-duplicates] [NAME=]FILE…

A file is one process and, unless told otherwise, called after its file name without the ending; a stream that holds several
members (a simulation's) names them in a "client" field of each line. Coordinator lines are kept but own nothing. Checked:

  clock        time never goes back from callback to callback of a process (or no other finding could be trusted)
  alternation  prepare and complete alternate strictly, starting with prepare
  ownership    at no moment do two processes own a partition. A process owns it from "assigned" until "revoked", "lost",
               "left" or "closed"; a process killed -9 until it was killed, and so says --kill
  bookkeeping  nothing is assigned twice without having been taken away, nothing taken away that was not owned
  records      each OUT holds lines "topic partition offset"; --ends is the JSON {"topic": {"partition": end offset}}:
               every offset below the end was seen by somebody; with --no-duplicates exactly once

Exit code 0: all holds; 1: it does not, one line per finding; 2: a file could not be read.
"""
import argparse
import collections
import json
import os
import sys

RELEASES = ("revoked", "lost")
ENDINGS = ("left", "closed")
CALLBACKS = ("prepare", "complete", "assigned") + RELEASES


class BadFile(Exception):
	pass


def name_of(path):
	return os.path.splitext(os.path.basename(path))[0]


def load_file(path, name=None, killed=False):
	"""The events of one file, in its own order. Only a process that was killed may leave half a line behind, as its last."""
	name = name or name_of(path)
	events = []
	with open(path, encoding="utf-8") as file:
		lines = file.read().split("\n")
	half = lines.pop()
	if half and not killed:
		raise BadFile(f"{path}: the last line is cut short")
	for number, line in enumerate(lines, 1):
		try:
			event = json.loads(line)
			if not isinstance(event["t_us"], int) or not isinstance(event["event"], str):
				raise ValueError("t_us is a number and event a string")
		except (ValueError, KeyError, TypeError) as error:
			raise BadFile(f"{path}:{number}: not an event: {error}: {line[:120]}") from None
		event["process"] = event.get("client") or name
		events.append(event)
	return events


def merge(streams):
	"""One list by time; within a stream its own order stays."""
	every = [event for stream in streams for event in stream]
	return sorted(every, key=lambda event: event["t_us"])


def load(paths, kills=None):
	"""paths: {name: path}. Returns {name: [events]} as written."""
	return {name: load_file(path, name, name in (kills or {})) for name, path in paths.items()}


def by_process(events):
	processes = collections.OrderedDict()
	for event in events:
		if event.get("src", "client") == "client":
			processes.setdefault(event["process"], []).append(event)
	return processes


def partitions_of(event):
	return [(topic, part) for topic, parts in sorted((event.get("partitions") or {}).items()) for part in parts]


def show(partition):
	return f"{partition[0]} {partition[1]}"


def check_clock(events):
	found = []
	for process, stream in by_process(events).items():
		# Lines of other threads (heartbeats) may be stamped just before and written just after.
		told = [event for event in stream if event["event"] in CALLBACKS + ENDINGS]
		for before, after in zip(told, told[1:]):
			if after["t_us"] < before["t_us"]:
				found.append(f"clock: {process}: {after['event']} at {after['t_us']} comes after {before['event']} at "
					f"{before['t_us']}")
	return found


def check_alternation(events):
	"""`events` must hold each process's events in the order of its file."""
	found = []
	for process, stream in by_process(events).items():
		expected = "prepare"
		for event in stream:
			if event["event"] in ("start", "closed"):
				expected = "prepare"
			elif event["event"] in ("prepare", "complete"):
				if event["event"] != expected:
					found.append(f"alternation: {process}: {event['event']} at {event['t_us']} where {expected} was due")
				expected = "complete" if event["event"] == "prepare" else "prepare"
	return found


def intervals(events, kills=None):
	"""{(topic, partition): [(from, until or None, process)]} and the bookkeeping findings."""
	kills = kills or {}
	spans = collections.defaultdict(list)
	found = []
	for process, stream in by_process(events).items():
		owned = {}
		for event in stream:
			kind, now = event["event"], event["t_us"]
			if kind == "assigned":
				for partition in partitions_of(event):
					if partition in owned:
						found.append(f"bookkeeping: {process}: {show(partition)} assigned at {now}, owned since "
							f"{owned[partition]}")
					else:
						owned[partition] = now
			elif kind in RELEASES:
				for partition in partitions_of(event):
					if partition in owned:
						spans[partition].append((owned.pop(partition), now, process))
					else:
						found.append(f"bookkeeping: {process}: {show(partition)} {kind} at {now}, but not owned")
			elif kind in ENDINGS:
				for partition in sorted(owned):
					spans[partition].append((owned[partition], now, process))
				owned = {}
		for partition, since in owned.items():
			spans[partition].append((since, kills.get(process), process))
	return spans, found


def check_ownership(events, kills=None):
	spans, found = intervals(events, kills)
	for partition, owners in sorted(spans.items()):
		owners.sort(key=lambda span: span[0])
		open_until, open_by = None, None
		for since, until, process in owners:
			# Half-open spans: handed over in the same microsecond is handed over.
			end = float("inf") if until is None else until
			if open_by is not None and since < open_until and end > since:
				both = min(end, open_until) - since
				found.append(f"ownership: {show(partition)} has two owners from {since} on: {open_by} and {process}"
					+ (f", for {both} us" if both != float("inf") else ", to the end"))
			if open_by is None or end > open_until:
				open_until, open_by = end, process
	return found


def owners_at(events, t_us, kills=None):
	"""{(topic, partition): [processes]} at a moment."""
	owners = collections.defaultdict(list)
	for partition, spans in intervals(events, kills)[0].items():
		for since, until, process in spans:
			if since <= t_us and (until is None or t_us < until):
				owners[partition].append(process)
	return dict(owners)


def read_records(path, killed=False):
	"""[(topic, partition, offset)] of the lines "topic partition offset …". Half a last line counts as not processed."""
	records = []
	with open(path, encoding="utf-8", errors="replace") as file:
		lines = file.read().split("\n")
	half = lines.pop()
	if half and not killed:
		raise BadFile(f"{path}: the last line is cut short")
	for number, line in enumerate(lines, 1):
		parts = line.split()
		try:
			records.append((parts[0], int(parts[1]), int(parts[2])))
		except (IndexError, ValueError):
			raise BadFile(f"{path}:{number}: not 'topic partition offset': {line[:120]}") from None
	return records


def check_records(records, ends, duplicates_allowed):
	"""ends: {topic: {partition: end offset}}; offsets start at 0. Returns findings and how many came more than once."""
	found = []
	seen = collections.Counter(records)
	repeated = sum(count - 1 for count in seen.values())
	expected = {(topic, int(part), offset) for topic, parts in ends.items() for part, end in parts.items()
		for offset in range(end)}
	missing = sorted(expected - set(seen))
	foreign = sorted(set(seen) - expected)
	for what, which in (("never seen", missing), ("seen, but never written", foreign)):
		if which:
			found.append(f"records: {len(which)} {what}, the first: {which[0][0]} {which[0][1]} offset {which[0][2]}")
	if repeated and not duplicates_allowed:
		topic, part, offset = next(record for record, count in seen.items() if count > 1)
		found.append(f"records: {repeated} seen more than once, one of them: {topic} {part} offset {offset}")
	return found, repeated


def check(streams, kills=None):
	"""Everything that can be said of event streams {name: [events]}; kills: {name: t_us}. A list of findings."""
	every = [event for stream in streams.values() for event in stream]
	return check_clock(every) + check_alternation(every) + check_ownership(every, kills)


def named_paths(arguments):
	paths = collections.OrderedDict()
	for argument in arguments:
		name, equals, path = argument.partition("=")
		if not equals or os.sep in name:
			name, path = name_of(argument), argument
		if name in paths:
			raise BadFile(f"two files are called {name}; write NAME=FILE")
		paths[name] = path
	return paths


def parse_kill(text):
	name, equals, seconds = text.partition("=")
	if not equals:
		raise argparse.ArgumentTypeError("NAME=UNIX_SECONDS")
	return name, int(float(seconds) * 1_000_000)


def main(argv=None):
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("files", nargs="+", metavar="[NAME=]FILE")
	parser.add_argument("--kill", action="append", default=[], type=parse_kill, metavar="NAME=UNIX_SECONDS")
	parser.add_argument("--records", action="append", default=[], metavar="OUT")
	parser.add_argument("--ends", metavar="FILE")
	parser.add_argument("--no-duplicates", action="store_true")
	o = parser.parse_args(argv)
	kills = dict(o.kill)
	try:
		streams = load(named_paths(o.files), kills)
		found = check(streams, kills)
		told = f"{sum(map(len, streams.values()))} events of {len(streams)} files"
		if o.ends:
			with open(o.ends, encoding="utf-8") as file:
				ends = json.load(file)
			records = [record for path in o.records for record in read_records(path, name_of(path) in kills)]
			lost, repeated = check_records(records, ends, not o.no_duplicates)
			found += lost
			told += f", {len(records)} records ({repeated} of them repeated)"
	except (OSError, BadFile, ValueError) as error:
		print(f"events.py: {error}", file=sys.stderr)
		return 2
	for finding in found:
		print(finding)
	print(f"{told}: {'all holds' if not found else str(len(found)) + ' findings'}")
	return 1 if found else 0


if __name__ == "__main__":
	sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what happened in a group as a sequence diagram: members and coordinator as columns, time downwards.

    sequence.py [--title TEXT] [--group GROUP] [--from UNIX_SECONDS] [--to UNIX_SECONDS] [--width N] [--all]
                [--kill NAME=UNIX_SECONDS]… [NAME=]FILE…

Each file holds the events one process wrote with --events and becomes a column called after the file; the coordinator's
file is found by its contents. Without a coordinator's file (a real Kafka) the same picture is drawn from the members' side
alone. Members that only the coordinator has seen (kcat, say) get a column too. Heartbeats and commits that went well are left
out unless --all is given.
"""
import argparse
import json
import os
import re
import sys

COORDINATOR = "coordinator"
GAP_US = 400_000  # a pause longer than this is shown as a pause
CALLBACKS = ("prepare", "complete", "revoked", "assigned", "lost")
SHORT_STATES = {"CompletingRebalance": "AwaitingSync"}


def load(arguments):
	"""{column name: [events]}, coordinator lines apart; half a last line (a killed process) is dropped."""
	members, coordinator = {}, []
	for argument in arguments:
		name, equals, path = argument.partition("=")
		if not equals or os.sep in name:
			name, path = os.path.splitext(os.path.basename(argument))[0], argument
		with open(path, encoding="utf-8") as file:
			for line in file:
				if not line.endswith("\n"):
					break
				event = json.loads(line)
				if event.get("src") == COORDINATOR:
					coordinator.append(event)
				else:
					members.setdefault(event.get("client") or name, []).append(event)
	return members, coordinator


def error_of(event):
	error = event.get("error")
	return "" if error in (None, "", "NONE", "NO_ERROR", 0) else str(error)


def ranges(numbers):
	"""[0,1,2,5] -> 0-2,5"""
	out, numbers = [], sorted(numbers)
	for number in numbers:
		if out and out[-1][1] == number - 1:
			out[-1][1] = number
		else:
			out.append([number, number])
	return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in out)


def partitions_text(event):
	parts = event.get("partitions") or {}
	return " ".join(f"{topic} {ranges(numbers)}" for topic, numbers in sorted(parts.items()) if numbers) or "nothing"


class Names:
	"""Whose column a member id of the coordinator belongs to."""

	def __init__(self, members, coordinator):
		self.columns = list(members)
		self.of_id = {}
		for name, events in members.items():
			for event in events:
				if event.get("member"):
					self.of_id[event["member"]] = name
		self.foreign = set()
		for event in coordinator:
			ident = event.get("member")
			if ident and ident not in self.of_id:
				label = self._label(ident)
				self.of_id[ident] = label
				self.foreign.add(label)
				self.columns.append(label)

	def _label(self, ident):
		match = re.fullmatch(r"(.+)-([0-9a-f]{4})[0-9a-f]{4}-[0-9a-f-]+", ident)
		label = f"{match.group(1)}-{match.group(2)}" if match else ident[:16]
		return label if label not in self.columns else ident


class Canvas:
	"""Rows of text over the lifelines."""

	def __init__(self, columns, width, out):
		self.columns, self.out = columns, out
		self.margin = 10
		# Narrower than this no state's name fits; many members make a wide picture instead.
		self.pitch = max(26, (width - self.margin) // len(columns))
		self.x = {name: self.margin + self.pitch * i + self.pitch // 2 for i, name in enumerate(columns)}
		self.width = self.margin + self.pitch * len(columns)
		self.last_time = None

	def _row(self, stamp=""):
		row = [" "] * self.width
		for x in self.x.values():
			row[x] = "│"
		self._put(row, 1, stamp)
		return row

	@staticmethod
	def _put(row, at, text):
		for i, char in enumerate(text):
			if 0 <= at + i < len(row):
				row[at + i] = char

	def _print(self, row):
		print("".join(row).rstrip(), file=self.out)

	def time(self, seconds):
		stamp = f"{seconds:8.3f}"
		shown = "" if stamp == self.last_time else stamp
		self.last_time = stamp
		return shown

	def heads(self):
		row = [" "] * self.width
		for name, x in self.x.items():
			label = name if len(name) <= self.pitch - 2 else name[:self.pitch - 3] + "…"
			self._put(row, x - len(label) // 2, label)
		self._print(row)
		self._print(self._row())

	def pause(self):
		row = [" "] * self.width
		for x in self.x.values():
			row[x] = "┊"
		self._print(row)

	def note(self, stamp, column, text):
		"""Text on a lifeline, folded at blanks and commas where it is too long for its column."""
		room = self.pitch - 2
		for line in fold(text, room):
			row = self._row(stamp)
			self._put(row, self.x[column] - len(line) // 2, line)
			self._print(row)
			stamp = ""

	def arrow(self, stamp, source, target, labels):
		"""The first of the labels that fits is taken, the last is cut if it must be."""
		row = self._row(stamp)
		a, b = self.x[source], self.x[target]
		left, right = min(a, b), max(a, b)
		for x in range(left + 1, right):
			row[x] = "─"
		row[left + 1 if b < a else right - 1] = "◀" if b < a else "▶"
		row[a] = "├" if a < b else "┤"
		# The member is always left of the coordinator: best beside it, before the next lifeline; else over those between.
		beside, between = self.pitch - 5, right - left - 5
		label = next((label for room in (beside, between) for label in labels if len(label) <= room),
			labels[-1][:between - 1] + "…")
		member = a if source != COORDINATOR else b
		at = left + 3 if member == left else right - 3 - len(label) - 2
		self._put(row, at, f" {label} ")
		self._print(row)


def fold(text, room):
	lines, line = [], ""
	# Partition lists have no blanks: their parts are words of their own that join without one.
	for blank, word in re.findall(r"(\s*)([^\s,]+,*|,)", text):
		joint = " " if line and blank else ""
		if line and len(line) + len(joint) + len(word) > room:
			lines.append(line)
			line, joint = "", ""
		line += joint + word
	lines.append(line)
	return [line if len(line) <= room else line[:room - 1] + "…" for line in lines]


class Drawing:
	def __init__(self, canvas, names, options):
		self.canvas, self.names, self.options = canvas, names, options
		self.joins = {}      # column -> JoinGroups sent since its last prepare
		self.quiet = {}      # column -> the heartbeat or commit that was sent and not yet drawn
		self.planned = set() # columns of leaders whose plan is made and not yet sent

	def request(self, stamp, column, *labels):
		self.canvas.arrow(stamp, column, COORDINATOR, labels)

	def answer(self, stamp, column, *labels):
		self.canvas.arrow(stamp, COORDINATOR, column, labels)

	def draw(self, stamp, column, event):
		"""One event. `stamp` is called only when something is drawn."""
		if column == COORDINATOR:
			self.coordinator_event(stamp, event)
		else:
			self.member_event(stamp, column, event)

	def member_event(self, stamp, column, event):
		kind, error = event["event"], error_of(event)
		if kind == "prepare":
			self.joins[column] = 0
		handler = getattr(self, "on_" + kind, None)
		if kind in CALLBACKS:
			self.callback(stamp, column, event)
		elif handler:
			handler(stamp, column, event, error)
		elif kind.startswith(("heartbeat_", "commit_")):
			self.background(stamp, column, event, error)
		elif self.options.all:
			self.canvas.note(stamp(), column, f"({kind})")

	def callback(self, stamp, column, event):
		kind = event["event"]
		text = kind
		if kind == "complete" and event.get("gen") is not None:
			text += f" gen {event['gen']}"
		if kind in ("revoked", "assigned", "lost"):
			text += " " + partitions_text(event)
		if kind == "lost" and event.get("reason"):
			text += f" ({event['reason']})"
		self.canvas.note(stamp(), column, f"● {text}")

	def on_start(self, stamp, column, event, _):
		self.canvas.note(stamp(), column, "○ starts")

	def on_join_sent(self, stamp, column, event, _):
		self.joins[column] = self.joins.get(column, 0) + 1
		self.request(stamp(), column, f"JoinGroup #{self.joins[column]}")

	def on_join_received(self, stamp, column, event, error):
		if error:
			self.answer(stamp(), column, f"JoinGroup: {error}", error)
			return
		gen = event.get("gen", "?")
		role = "leader" if event.get("leader") else "member"
		self.answer(stamp(), column, f"JoinGroup: gen {gen}, {role}", f"gen {gen}, {role}")

	def on_assign(self, stamp, column, event, _):
		self.planned.add(column)
		self.canvas.note(stamp(), column, "● runs its assignor")

	def on_sync_sent(self, stamp, column, event, _):
		self.request(stamp(), column, "SyncGroup + plan" if column in self.planned else "SyncGroup", "SyncGroup")
		self.planned.discard(column)

	def on_sync_received(self, stamp, column, event, error):
		if error:
			self.answer(stamp(), column, f"SyncGroup: {error}", error)
		else:
			self.answer(stamp(), column, f"SyncGroup: {partitions_text(event)}" if event.get("partitions") else "SyncGroup: ok",
				"SyncGroup: ok")

	def on_leaving(self, stamp, column, event, _):
		self.request(stamp(), column, "LeaveGroup")

	def on_left(self, stamp, column, event, error):
		if error:
			self.answer(stamp(), column, f"LeaveGroup: {error}", error)

	def on_closed(self, stamp, column, event, _):
		self.canvas.note(stamp(), column, "○ closed")

	def on_killed(self, stamp, column, event, _):
		self.canvas.note(stamp(), column, "✗ killed -9")

	def on_error(self, stamp, column, event, error):
		reason = event.get("reason") or event.get("text") or ""
		self.canvas.note(stamp(), column, f"! {error or 'error'} {reason}".rstrip())

	def background(self, stamp, column, event, error):
		"""Heartbeats and commits: many, and only those that say something are worth a row."""
		api = "Heartbeat" if event["event"].startswith("heartbeat") else "OffsetCommit"
		if self.options.all:
			labels = (f"{api}: {error}", error) if error else (api,)
			(self.request if event["event"].endswith("_sent") else self.answer)(stamp(), column, *labels)
		elif event["event"].endswith("_sent"):
			self.quiet[(column, api)] = True
		else:
			sent = self.quiet.pop((column, api), False)
			if error:
				shown = stamp()
				if sent:
					self.request(shown, column, api)
					shown = ""
				self.answer(shown, column, f"{api}: {error}", error)

	def coordinator_event(self, stamp, event):
		kind, error = event["event"], error_of(event)
		if self.options.group and event.get("group", self.options.group) != self.options.group:
			return
		if kind == "state":
			state = event.get("to", "?")
			self.canvas.note(stamp(), COORDINATOR, f"[{SHORT_STATES.get(state, state)}]")
		elif kind == "delayed_join":
			done = event.get("completed") is True or "completed" in (event.get("what"), event.get("phase"), event.get("action"))
			self.canvas.note(stamp(), COORDINATOR, "delayed join " + ("completes" if done else "created"))
		elif kind == "expired":
			who = self.names.of_id.get(event.get("member"), "a member")
			self.canvas.note(stamp(), COORDINATOR, f"{who} expired")
		else:
			# What was said to and by our own members is drawn from their side.
			column = self.names.of_id.get(event.get("member"))
			if column in self.names.foreign:
				self.foreign_event(stamp, column, kind, event, error)

	def foreign_event(self, stamp, column, kind, event, error):
		if kind == "join_received":
			self.request(stamp(), column, "JoinGroup")
		elif kind == "join_answered":
			self.on_join_received(stamp, column, event, error)
		elif kind == "sync_received":
			self.request(stamp(), column, "SyncGroup")
		elif kind == "sync_answered":
			self.answer(stamp(), column, f"SyncGroup: {error}" if error else "SyncGroup: ok", error or "SyncGroup: ok")


def parse_kill(text):
	name, _, seconds = text.partition("=")
	return name, int(float(seconds) * 1_000_000)


def main(argv=None):
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parser.add_argument("files", nargs="+", metavar="[NAME=]FILE")
	parser.add_argument("--title")
	parser.add_argument("--group")
	parser.add_argument("--from", dest="start", type=float, metavar="UNIX_SECONDS")
	parser.add_argument("--to", dest="end", type=float, metavar="UNIX_SECONDS")
	parser.add_argument("--width", type=int, default=116)
	parser.add_argument("--kill", action="append", default=[], type=parse_kill, metavar="NAME=UNIX_SECONDS")
	parser.add_argument("--all", action="store_true")
	o = parser.parse_intermixed_args(argv)
	try:
		members, coordinator = load(o.files)
	except (OSError, ValueError) as error:
		print(f"sequence.py: {error}", file=sys.stderr)
		return 2
	for name, t_us in o.kill:
		members.setdefault(name, []).append({"t_us": t_us, "event": "killed"})
	if o.group:
		coordinator = [event for event in coordinator if event.get("group", o.group) == o.group]
	names = Names(members, coordinator)
	timeline = [(event["t_us"], name, event) for name, events in members.items() for event in events]
	timeline += [(event["t_us"], COORDINATOR, event) for event in coordinator]
	timeline = [item for item in timeline if (o.start is None or item[0] >= o.start * 1e6)
		and (o.end is None or item[0] <= o.end * 1e6)]
	if not timeline:
		print("sequence.py: no events in these files and this span of time", file=sys.stderr)
		return 1
	timeline.sort(key=lambda item: item[0])

	if o.title:
		print(f"── {o.title} " + "─" * max(0, o.width - 4 - len(o.title)))
	canvas = Canvas(names.columns + [COORDINATOR], o.width, sys.stdout)
	canvas.heads()
	drawing = Drawing(canvas, names, o)
	first, last_drawn = timeline[0][0], timeline[0][0]

	for t_us, column, event in timeline:
		def stamp(t_us=t_us):
			nonlocal last_drawn
			if t_us - last_drawn > GAP_US:
				canvas.pause()
			last_drawn = t_us
			return canvas.time((t_us - first) / 1e6)

		drawing.draw(stamp, column, event)
	return 0


if __name__ == "__main__":
	try:
		sys.exit(main())
	except BrokenPipeError:
		os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

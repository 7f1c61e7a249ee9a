# SPDX-License-Identifier: Apache-2.0
"""Turns what bench-assign, JavaAssign and bench-leader print into a table, the goals and whether they are met, and the
lines of bench-assign --growth into numbers and a plot (SVG).

    python3 assign_report.py LINES GROWTH LEADER [SVG]
"""
import math
import sys

EVENTS = ["fresh", "join", "leave"]
MILLION = (1_000_000, 2000)
# assignor, subscriptions, partitions, members -> milliseconds for each event, MiB at most (None: no goal). Racks may take
# double.
GOALS = {
	("cooperative-sticky", "uniform", *MILLION): (150, 64), ("sticky", "uniform", *MILLION): (150, 64),
	("cooperative-sticky", "narrow", *MILLION): (300, None), ("cooperative-sticky", "narrow", 10_000, 1000): (20, None),
	("cooperative-sticky", "buckets", 10_000, 1000): (20, None), ("cooperative-sticky", "half", 100_000, 500): (100, None),
	("cooperative-sticky", "uniform", 3000, 450): (5, None),
	("range", "uniform", *MILLION): (100, None), ("roundrobin", "uniform", *MILLION): (100, None),
}
LEADER_GOAL = (2000, 100_000, 100)
LEADER_STEPS = ["decode JoinGroup", "read subscriptions", "view, assign, check, encode shares", "encode SyncGroup"]


def read(path):
	with open(path, encoding="utf-8") as file:
		for line in file:
			who, assignor, pattern, partitions, members, event, ms, mib = line.rstrip("\n").split("\t")
			# ">60000": it was ended then
			yield who, assignor, pattern, int(partitions), int(members), event, ms if ms[0] == ">" else float(ms), mib


def java(ms):
	if ms is None:
		return "-"
	return f"{ms:,.0f}" if isinstance(ms, float) else f">{int(ms[1:]):,}"


def table(lines):
	rows = {}
	for who, assignor, pattern, partitions, members, event, ms, mib in lines:
		row = rows.setdefault((assignor, pattern, partitions, members), {})
		row[who, event] = ms
		if who == "regroup":
			row["mib"] = max(float(mib), row.get("mib", 0.0))
	head = f"{'assignor':19}{'subscriptions':15}{'partitions':>10}{'members':>8}"
	head += "".join(f"{event:>10}" for event in EVENTS) + f"{'MiB':>7}"
	head += "".join(f"{'java ' + event:>13}" for event in EVENTS)
	print("Milliseconds on one core. MiB: the most memory used at a time, the plan included. A > for Java: it was")
	print("ended after so much, which includes making the plan that members own before one joins or leaves.\n" + head)
	for (assignor, pattern, partitions, members), row in rows.items():
		text = f"{assignor:19}{pattern:15}{partitions:>10,}{members:>8,}"
		text += "".join(f"{row['regroup', event]:>10.1f}" for event in EVENTS) + f"{row['mib']:>7.1f}"
		text += "".join(f"{java(row.get(('java', event))):>13}" for event in EVENTS)
		print(text)
	return rows


def judge(met, text):
	print(f"{'met   ' if met else 'MISSED'}  {text}")
	return met


def goals(rows, leader):
	print("\ngoals (the slowest of fresh, join and leave)")
	results = []
	for (assignor, pattern, partitions, members), row in rows.items():
		ms, mib = GOALS.get((assignor, pattern.removesuffix("+racks"), partitions, members), (None, None))
		if ms is None:
			continue
		name = f"{assignor}, {pattern}, {partitions:,} x {members:,}"
		slowest = max(row["regroup", event] for event in EVENTS)
		racks = pattern.endswith("+racks")
		limit = 2 * ms if racks else ms
		results.append(judge(slowest <= limit, f"{name}: {slowest:.1f} of {limit} ms"))
		if racks:
			plain = rows[assignor, pattern.removesuffix("+racks"), partitions, members]
			ratios = [row["regroup", event] / plain["regroup", event] for event in EVENTS]
			print("        racks take " + ", ".join(f"{ratio:.1f} ({event})" for ratio, event in zip(ratios, EVENTS)) +
				" times as long as none")
		elif mib:
			results.append(judge(row["mib"] <= mib, f"{name}: {row['mib']:.1f} of {mib} MiB"))
	for members, partitions, _, _, whole, *_ in leader:
		if (members, partitions) == LEADER_GOAL[:2]:
			results.append(judge(whole <= LEADER_GOAL[2], f"a leader, from the JoinGroup answer to SyncGroup, {partitions:,} x "
				f"{members:,}: {whole:.1f} of {LEADER_GOAL[2]} ms"))
	print(f"{sum(results)} of {len(results)} goals met")


def read_leader(path):
	with open(path, encoding="utf-8") as file:
		for line in file:
			members, partitions, *rest = line.split("\t")
			yield int(members), int(partitions), *map(float, rest)


def leader_table(leader):
	print("\nA leader, from the bytes of the JoinGroup answer to those of SyncGroup, one member new; milliseconds")
	print(f"{'members':>8}{'partitions':>11}{'answer MiB':>11}{'memory MiB':>11}{'the whole':>10}  " + "; ".join(LEADER_STEPS))
	for members, partitions, answer, memory, whole, *steps in leader:
		print(f"{members:>8,}{partitions:>11,}{answer:>11.1f}{memory:>11.1f}{whole:>10.1f}  " +
			"; ".join(f"{ms:.1f}" for ms in steps))


def series(lines):
	"""Curves by partitions at a fixed number of members, and by members at a fixed number of partitions."""
	by_partitions, by_members = {}, {}
	for _, _, pattern, partitions, members, event, ms, _ in lines:
		if members == 1000: # one of these is measured twice, as it is in both
			by_partitions.setdefault((pattern, event), {}).setdefault(partitions, ms)
		if partitions == 200000:
			by_members.setdefault((pattern, event), {}).setdefault(members, ms)
	return [(what, fixed, {key: sorted(points.items()) for key, points in curves.items()}) for what, fixed, curves in (
		("partitions", "1,000 members", by_partitions), ("members", "200,000 partitions", by_members))]


def exponent(points):
	"""Of the power of x that grows most like y: 1 is in proportion."""
	logs = [(math.log(x), math.log(max(y, 1e-3))) for x, y in points]
	mean_x, mean_y = (sum(values) / len(logs) for values in zip(*logs))
	return sum((x - mean_x) * (y - mean_y) for x, y in logs) / sum((x - mean_x) ** 2 for x, _ in logs)


def numbers(charts):
	for what, fixed, curves in charts:
		print(f"\nmilliseconds by {what}, with {fixed}; ~n^: the power of {what} it grows with")
		xs = sorted({x for points in curves.values() for x, _ in points})
		print(f"{'':18}" + "".join(f"{x:>11,}" for x in xs) + f"{'~n^':>7}")
		for (pattern, event), points in curves.items():
			values = dict(points)
			print(f"{pattern + ' ' + event:18}" + "".join(f"{values[x]:>11.2f}" if x in values else f"{'':>11}" for x in xs) +
				f"{exponent(points):>7.2f}")


# --- The plot ---

# Colours that are told apart by most eyes, and dashes for those who see none of them.
COLOURS = {("uniform", "fresh"): "#0072b2", ("uniform", "join"): "#d55e00", ("uniform", "leave"): "#009e73",
	("narrow", "fresh"): "#56b4e9", ("narrow", "join"): "#e69f00", ("narrow", "leave"): "#8fce9f"}
MARKS = {"fresh": "circle", "join": "square", "leave": "triangle"}
WIDTH, HEIGHT, TOP = 430, 330, 92


def short(number):
	for size, unit in ((1_000_000, "M"), (1000, "k")):
		if number >= size:
			return f"{number / size:g}{unit}"
	return f"{number:g}"


def mark(kind, x, y, colour):
	if kind == "circle":
		return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}"/>'
	if kind == "square":
		return f'<rect x="{x - 3:.1f}" y="{y - 3:.1f}" width="6" height="6" fill="{colour}"/>'
	return f'<path d="M{x - 3.8:.1f} {y + 3:.1f}h7.6l-3.8 -6.8z" fill="{colour}"/>'


def ticks(low, high):
	"""1, 2 and 5 times powers of ten."""
	for power in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1):
		for digit in (1, 2, 5):
			if low * 0.999 <= digit * 10.0 ** power <= high * 1.001:
				yield digit * 10.0 ** power


def chart(what, fixed, curves, left):
	"""One chart with logarithmic axes as SVG elements."""
	points = [point for curve in curves.values() for point in curve]
	x0, x1 = min(x for x, _ in points), max(x for x, _ in points)
	y0, y1 = min(max(y, 1e-3) for _, y in points) / 1.4, max(y for _, y in points) * 1.4
	if y1 / y0 < 30: # what is flat should look so
		y0, y1 = math.sqrt(y0 * y1 / 30), math.sqrt(y0 * y1 * 30)

	def at(x, y):
		return (left + 12 + math.log(x / x0) / math.log(x1 / x0) * (WIDTH - 24),
			TOP + HEIGHT - math.log(max(y, y0) / y0) / math.log(y1 / y0) * HEIGHT)

	middle = left + WIDTH / 2
	out = [f'<text x="{middle}" y="{TOP - 12}" text-anchor="middle" font-size="14">by {what}, with {fixed}</text>']
	for value in ticks(y0, y1):
		y = at(x0, value)[1]
		out.append(f'<path d="M{left} {y:.1f}h{WIDTH}" stroke="#e4e4e4"/>')
		out.append(f'<text x="{left - 7}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
	for x in sorted({x for x, _ in points}):
		place = at(x, y0)[0]
		out.append(f'<path d="M{place:.1f} {TOP}v{HEIGHT}" stroke="#f0f0f0"/>')
		out.append(f'<text x="{place:.1f}" y="{TOP + HEIGHT + 17}" text-anchor="middle">{short(x)}</text>')
	out.append(f'<rect x="{left}" y="{TOP}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#777"/>')
	out.append(f'<text x="{middle}" y="{TOP + HEIGHT + 38}" text-anchor="middle">{what} (logarithmic)</text>')
	out.append(f'<text transform="translate({left - 42} {TOP + HEIGHT / 2}) rotate(-90)" text-anchor="middle">'
		"milliseconds on one core (logarithmic)</text>")
	for (pattern, event), curve in curves.items():
		colour = COLOURS[pattern, event]
		places = [at(*point) for point in sorted(curve)]
		dash = ' stroke-dasharray="5 3"' if pattern == "narrow" else ""
		out.append(f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}" fill="none" stroke="{colour}" '
			f'stroke-width="1.8"{dash}/>')
		out += [mark(MARKS[event], x, y, colour) for x, y in places]
	return out


def legend(y):
	words = {"uniform": "all subscribe to all", "narrow": "one subscribes to one topic"}
	out = []
	for row, pattern in enumerate(words):
		for column, event in enumerate(EVENTS):
			x, line = 80 + 330 * column, y + 20 * row
			colour, dash = COLOURS[pattern, event], ' stroke-dasharray="5 3"' if pattern == "narrow" else ""
			out.append(f'<path d="M{x} {line - 4}h34" stroke="{colour}" stroke-width="1.8"{dash}/>')
			out.append(mark(MARKS[event], x + 17, line - 4, colour))
			out.append(f'<text x="{x + 42}" y="{line}">{words[pattern]}: '
				f'{dict(fresh="a new group", join="one joins", leave="one leaves")[event]}</text>')
	return out


def draw(charts, path):
	width, height = 1070, TOP + HEIGHT + 110
	out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
		'font-family="sans-serif" font-size="12" fill="#222">',
		f'<rect width="{width}" height="{height}" fill="white"/>',
		f'<text x="{width / 2}" y="34" text-anchor="middle" font-size="18" font-weight="bold">'
		'How long cooperative-sticky takes</text>',
		f'<text x="{width / 2}" y="54" text-anchor="middle">one plan of 50 topics, median of five</text>']
	for number, (what, fixed, curves) in enumerate(charts):
		out += chart(what, fixed, curves, 76 + 525 * number)
	out += legend(TOP + HEIGHT + 70)
	with open(path, "w", encoding="utf-8") as file:
		file.write("\n".join(out + ["</svg>", ""]))


def main():
	rows = table(read(sys.argv[1]))
	leader = list(read_leader(sys.argv[3]))
	goals(rows, leader)
	leader_table(leader)
	charts = series(read(sys.argv[2]))
	numbers(charts)
	if len(sys.argv) > 4:
		draw(charts, sys.argv[4])


main()

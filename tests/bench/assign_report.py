# SPDX-License-Identifier: Apache-2.0
"""Turns the lines of bench-assign and JavaAssign into a table, and its --growth lines into numbers and a plot (SVG).

    python3 assign_report.py LINES GROWTH [SVG]
"""
import math
import sys

EVENTS = ["fresh", "join", "leave"]
COLOURS = {"uniform": "#1f6fb4", "narrow": "#d1622b"}


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


def series(lines):
    """Curves by partitions at a fixed number of members, and by members at a fixed number of partitions."""
    by_partitions, by_members = {}, {}
    for _, _, pattern, partitions, members, event, ms, _ in lines:
        if members == 1000:
            by_partitions.setdefault((pattern, event), []).append((partitions, ms))
        if partitions == 200000:
            by_members.setdefault((pattern, event), []).append((members, ms))
    return [("partitions, with 1,000 members", by_partitions), ("members, with 200,000 partitions", by_members)]


def numbers(charts):
    for title, curves in charts:
        print(f"\nmilliseconds by {title}")
        xs = sorted({x for points in curves.values() for x, _ in points})
        print(f"{'':18}" + "".join(f"{x:>11,}" for x in xs))
        for (pattern, event), points in curves.items():
            values = dict(points)
            print(f"{pattern + ' ' + event:18}" + "".join(f"{values[x]:>11.2f}" if x in values else f"{'':>11}" for x in xs))


def chart(title, curves, left):
    """One chart with logarithmic axes as SVG elements."""
    width, height, top = 420, 300, 50
    points = [point for curve in curves.values() for point in curve]
    x0, x1 = (math.log10(f(x for x, _ in points)) for f in (min, max))
    y0 = math.floor(math.log10(max(min(y for _, y in points), 1e-3)))
    y1 = math.ceil(math.log10(max(y for _, y in points)))

    def at(x, y):
        return (left + (math.log10(x) - x0) / (x1 - x0) * width,
                top + height - (math.log10(max(y, 1e-3)) - y0) / (y1 - y0) * height)

    out = [f'<text x="{left}" y="{top - 18}" font-weight="bold">milliseconds by {title}</text>',
           f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>']
    for exponent in range(y0, y1 + 1):
        y = at(10 ** x0, 10.0 ** exponent)[1]
        out.append(f'<path d="M{left} {y:.1f}h{width}" stroke="#ddd"/>')
        out.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{10.0 ** exponent:g}</text>')
    for x in sorted({x for x, _ in points}):
        label = f"{x // 1000}k" if x >= 10000 else f"{x:,}"
        out.append(f'<text x="{at(x, 1)[0]:.1f}" y="{top + height + 16}" text-anchor="middle">{label}</text>')
    dashes = {"fresh": "", "join": ' stroke-dasharray="6 3"', "leave": ' stroke-dasharray="2 3"'}
    for number, ((pattern, event), curve) in enumerate(curves.items()):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in sorted(curve)))
        style = f'stroke="{COLOURS[pattern]}" stroke-width="2"{dashes[event]}'
        out.append(f'<polyline points="{path}" fill="none" {style}/>')
        y = top + 16 + 16 * number
        out.append(f'<path d="M{left + 10} {y - 4}h30" {style}/><text x="{left + 46}" y="{y}">{pattern}, {event}</text>')
    return out


def draw(charts, path):
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="1010" height="400" font-family="sans-serif" font-size="12">',
           '<rect width="1010" height="400" fill="white"/>']
    for number, (title, curves) in enumerate(charts):
        out += chart(title, curves, 60 + 500 * number)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>", ""]))


def main():
    table(read(sys.argv[1]))
    charts = series(read(sys.argv[2]))
    numbers(charts)
    if len(sys.argv) > 3:
        draw(charts, sys.argv[3])


main()

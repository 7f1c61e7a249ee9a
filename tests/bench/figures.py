# SPDX-License-Identifier: Apache-2.0
"""Samples, and how they are shown: median, smallest and largest, the clients side by side."""
import os
import statistics


def machine():
	with open("/proc/loadavg", encoding="ascii") as file:
		load = file.read().split()[0]
	return f"{os.cpu_count()} processors, load {load}"


def number(value, unit):
	if unit == "ms":
		return f"{value * 1000:.0f}" if value >= 0.1 else f"{value * 1000:.1f}"
	if unit == "%":
		return f"{value:.2f}"
	return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def summary(samples, unit):
	if not samples:
		return "-"
	middle, least, most = statistics.median(samples), min(samples), max(samples)
	if len(samples) == 1:
		return number(middle, unit)
	return f"{number(middle, unit)} ({number(least, unit)}–{number(most, unit)})"


def ratio(of, to):
	"""How many times as much `of` has as `to`, at the medians."""
	if not of or not to or statistics.median(to) <= 0:
		return "-"
	return f"{statistics.median(of) / statistics.median(to):.1f}"


def table(rows):
	"""Lines of a Markdown table with aligned columns; the first row is the head."""
	widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
	lines = ["| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |" for row in rows]
	lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
	return "\n".join(lines)

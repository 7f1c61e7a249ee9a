# SPDX-License-Identifier: Apache-2.0
"""Reads what llvm-cov exports (lcov's format) and says how much of each folder was run.

    coverage.py EXPORTED ROOT FOLDER…"""
import os
import pathlib
import sys

LINES_MIN, BRANCHES_MIN = 95.0, 85.0


def read(text):
    """path -> ({line: times}, [(line, times)]), the second for each side of each branch."""
    files = {}
    for row in text.splitlines():
        kind, _, rest = row.partition(":")
        if kind == "SF":
            lines, sides = files.setdefault(rest, ({}, []))
        elif kind == "DA":
            line, times = map(int, rest.split(",")[:2])
            lines[line] = lines.get(line, 0) + times
        elif kind == "BRDA":
            line, _, _, times = rest.split(",")
            sides.append((int(line), 0 if times == "-" else int(times)))
    return files


def ranges(numbers):
    """{1, 2, 3, 7} -> "1-3, 7\""""
    parts = []
    for number in sorted(numbers):
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in parts)


def percent(part, whole):
    return 100.0 * part / whole if whole else 100.0


class Folder:
    def __init__(self, name):
        self.name = name
        self.lines = []  # times, of each
        self.sides = []
        self.missed = []

    def add(self, path, lines, sides):
        self.lines += lines.values()
        self.sides += [times for _, times in sides]
        not_run = {line for line, times in lines.items() if not times}
        one_sided = {line for line, times in sides if not times} - not_run
        if not_run or one_sided:
            self.missed.append((path, not_run, one_sided))

    def report(self, listed):
        lines = percent(sum(times > 0 for times in self.lines), len(self.lines))
        sides = percent(sum(times > 0 for times in self.sides), len(self.sides))
        print(f"{self.name}: {lines:.1f} % of {len(self.lines)} lines, {sides:.1f} % of {len(self.sides)} branches")
        below = lines < LINES_MIN or sides < BRANCHES_MIN
        if below:
            print(f"    below {LINES_MIN:.0f} % of lines or {BRANCHES_MIN:.0f} % of branches:")
        for path, not_run, one_sided in self.missed if below or listed else ():
            if not_run:
                print(f"    {path}: not run: {ranges(not_run)}")
            if one_sided:
                print(f"    {path}: not each branch: {ranges(one_sided)}")


def main():
    exported, root, *names = sys.argv[1:]
    files = read(pathlib.Path(exported).read_text(encoding="utf-8"))
    for name in names:
        folder = Folder(f"src/{name}")
        for file, (lines, sides) in sorted(files.items()):
            path = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
            if path.startswith(folder.name + os.sep) and path.endswith(".c"):
                folder.add(path, lines, sides)
        if not folder.lines:
            sys.exit(f"{folder.name}: nothing was measured")
        folder.report(os.environ.get("LISTED") == "1")


if __name__ == "__main__":
    main()

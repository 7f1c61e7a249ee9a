#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of mutants: what the simulation finds, and for the rest what exploration finds.

    hunt.py SIM_MUTANTS EXPLORE_MUTANTS [SEEDS]        exits 1 when a mutant is found by neither, or the table is cut off"""

import subprocess
import sys

EXPLORATIONS = [
    "--drops 0 --errors 0 --leaves 0 --moves 0 --ticks 4 --prompt --seconds 30",
    "--drops 0 --errors 1 --commits 1 --leaves 0 --moves 0 --ticks 1 --prompt --seconds 40",
    "--drops 1 --errors 1 --leaves 0 --moves 0 --ticks 1 --prompt --cooperative --seconds 20",
    "--drops 1 --errors 0 --leaves 1 --moves 0 --ticks 1 --seconds 30",
    "--drops 0 --errors 1 --leaves 0 --moves 1 --ticks 1 --prompt --seconds 30",
]


def explore(program, mutant):
    for arguments in EXPLORATIONS:
        out = subprocess.run([program, "--mutant", str(mutant)] + arguments.split(), stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=False)
        lines = out.stdout.splitlines()
        if out.returncode < 0:
            return "exploration: an assertion of the code itself"
        if out.returncode and len(lines) > 1:
            states = lines[0].split(": ", 1)[1].split(",")[0]
            return "exploration, %s: %s" % (states, lines[1].replace(", after", ""))
    return None


def main():
    sim, exploration = sys.argv[1:3]
    seeds = sys.argv[3] if len(sys.argv) > 3 else "1-4000"
    missed, total, known = 0, 0, None
    table = subprocess.Popen([sim, "--seeds", seeds], stdout=subprocess.PIPE, text=True)
    for line in table.stdout:
        line = line.rstrip("\n")
        number = line.split("|")[0].strip()
        if number.isdigit():
            total += 1
            if line.endswith("NOT FOUND"):
                found = explore(exploration, number)
                missed += found is None
                line = line.replace("NOT FOUND", found or "NOT FOUND")
        elif "mutants," in line:
            known = int(line.split()[0])
            continue
        print(line, flush=True)
    table.wait()
    print("%d mutants, %d found by neither simulation nor exploration" % (total, missed))
    sys.exit(1 if missed or total != known else 0)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""growth.py BENCH_GROWTH RESULT [--rounds N] [--curves A,B]: time and memory by the number of objects.

Runs bench_growth for each curve, round by round, so that a change of the machine's load meets all
counts, and keeps every line that it prints in RESULT (JSON). With 5 rounds some five minutes.
growth_page.py draws the curves.
"""
import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

COUNTS = {
    "queue-pairs": [1, 4, 16, 64, 256, 1024, 4096],
    "connections": [1, 10, 100, 1000],
    "registrations": [1, 10, 100, 1000, 10000, 100000],
    "gpu-registrations": [1, 10, 100, 1000, 10000],
    "processes": [2, 4, 8, 16, 32, 64],
}
LIMIT = 300  # seconds for one curve of a round


def run(program, curve, counts, more=()):
    """The lines that bench_growth prints; a RuntimeError with its last words where it fails."""
    command = [str(program), curve, ",".join(map(str, counts)), *more]
    environment = dict(os.environ)
    if curve.startswith("gpu-"):  # of the software GPU that was built beside it
        environment["LD_LIBRARY_PATH"] = str(pathlib.Path(program).parent.parent / "lib/gdrkit/soft-gpu")
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, env=environment)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {done.returncode}: {done.stderr.strip()}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def machine():
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"date": time.strftime("%Y-%m-%d"), "processor": processor(), "cores": os.cpu_count(),
            "memory_gib": round(memory / 2**30), "kernel": platform.release().split("-")[0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("result", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--curves", default=",".join(COUNTS))
    options = parser.parse_args()
    unknown = set(options.curves.split(",")) - set(COUNTS)
    if unknown:
        parser.error(f"no curve is called {', '.join(sorted(unknown))}; there are {', '.join(COUNTS)}")
    rounds = []
    for number in range(options.rounds):
        lines = []
        for curve in options.curves.split(","):
            print(f"round {number + 1} of {options.rounds}: {curve}", flush=True)
            try:
                lines += run(options.program, curve, COUNTS[curve])
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                sys.exit(f"growth.py: {error}")
        rounds.append(lines)
    options.result.write_text(json.dumps({"machine": machine(), "rounds": rounds}) + "\n")


if __name__ == "__main__":
    main()

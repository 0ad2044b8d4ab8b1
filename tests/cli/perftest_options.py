#!/usr/bin/env python3
"""perftest_options.py GDR: gdr perf with perftest's options measures what ours measure, and says so in lines on
standard error; wrong values end with 2 before anything is measured."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gdr_program import expect, run

for name in ("GDR_SOFT_DEVICES", "GDR_SOFT_GPUS"):
    os.environ.pop(name, None)


def refused(words, part):
    done = run("perf", *words)
    expect(done.returncode == 2, f"{words}: exit status {done.returncode}")
    expect(done.stdout == "", f"{words}: printed {done.stdout}")
    expect(part in done.stderr.splitlines()[-1], f"{words}: {done.stderr}")
    return done.stderr.splitlines()


def main():
    # On standard error in order, one line each.
    lines = refused(["-d", "soft0", "-x", "3", "-F", "-s", "lots"], "wrong size 'lots'")
    expect(lines[:-1] == ["gdr perf: -x 3 is --gid-index 3 here",
                          "gdr perf: -F is not needed: the clock does not follow the processor's speed",
                          "gdr perf: -s lots is --sizes lots here", "gdr perf: -d soft0 is --nic soft0 here"],
           "\n".join(lines))
    refused(["-x", "999"], "--gid-index")
    refused(["-d"], "gdr perf: -d needs a value")
    refused(["-c", "DC"], "unknown --transport 'dc'; allowed: rc, uc, ud, xrc")
    refused(["-w", "5"], "gdr perf: perftest's -w is not there")
    refused(["-i", "2"], "-i 2 needs -d NAME")

    words = ["--soft", "-d", "soft0", "-x3", "-s64", "-n", "200", "--use_cuda=1", "-q2", "-c", "RC", "--json"]
    done = run("perf", *words, "--measure", "bandwidth", "--repeats", "2")
    if done.returncode == 2 and "cannot" in done.stderr:
        print(f"skipped: {done.stderr}")
        sys.exit(77)
    expect(done.returncode == 0, f"{done.returncode}: {done.stderr}")
    load = json.loads(done.stdout)["rows"][0]["load"]
    for name, value in (("size_bytes", 64), ("near", "gpu:1"), ("queue_pairs", 2), ("transport", "RC")):
        expect(load[name] == value, f"{name} is {load[name]}, not {value}")
    expect("-d soft0 is --nic soft0 here" in done.stderr, done.stderr)
    print("perftest's options")


if __name__ == "__main__":
    main()

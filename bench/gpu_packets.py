#!/usr/bin/env python3
"""gpu_packets.py GDR [OPTIONS] [-- OPTIONS OF gdr perf]: GPU memory by packets beside host memory.

Both by RoCEv2 packets between two processes of this host (GDR_SOFT_PATH=packets), in turn: host to
host, GPU to GPU, GPU to host, host to GPU. Printed are medians and the medians of the paired ratios,
with their lowest and highest. It needs the program `gdr` only (a tree of the preset `portable`), and
one or two GPUs: without --far both sides use the same. --soft measures the software GPU, whose
copies take processor time.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

PAIRS = {"host -> host": ("host", "host"), "GPU -> GPU": ("gpu:{near}", "gpu:{far}"),
         "GPU -> host": ("gpu:{near}", "host"), "host -> GPU": ("host", "gpu:{far}")}
TARGET = 0.8  # of host memory's bandwidth
LIMIT = 300  # seconds for a run


def measure(options, near, far):
    command = [options.gdr, "run", "--soft-nic", "--soft-gpu" if options.soft else "--no-soft-gpu",
               "--quiet", "--", options.gdr, "perf", "--json", "--memory", near,
               "--far-memory", far, "--operation", options.operation, "--measure",
               "bandwidth,latency", "--duration", options.duration, "--repeats", "1", *options.more]
    done = subprocess.run(command, env={**os.environ, "GDR_SOFT_PATH": "packets"},
                          capture_output=True, text=True, timeout=LIMIT, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    found = {}
    for row in json.loads(done.stdout)["rows"]:
        if row.get("problem"):
            sys.exit(f"{near} to {far}: {row['problem']}")
        name = f"{row['load']['measure']}, {row['load']['size_bytes']} B"
        if row["load"]["measure"] == "bandwidth":
            found[name] = row["bandwidth_bytes_per_second"]["median"] / 1e9
        else:
            found[name] = row["latency_ns"]["p50"] / 1e3
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("gdr")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--near", default="0", help="GPU of the client")
    parser.add_argument("--far", default="0", help="GPU of the server")
    parser.add_argument("--operation", default="write")
    parser.add_argument("--duration", default="0.5")
    parser.add_argument("--soft", action="store_true", help="the software GPU")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options = parser.parse_args(sys.argv[1:split])
    options.more = sys.argv[split + 1:]
    rounds = []
    for number in range(options.rounds):
        rounds.append({name: measure(options, near.format(near=options.near, far=options.far),
                                     far.format(near=options.near, far=options.far))
                       for name, (near, far) in PAIRS.items()})
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    base = "host -> host"
    for what in rounds[0][base]:
        unit = "GB/s" if what.startswith("bandwidth") else "us"
        print(f"\n{what} [{unit}]")
        for name in PAIRS:
            values = [one[name][what] for one in rounds]
            ratios = [one[name][what] / one[base][what] for one in rounds]
            middle = statistics.median(ratios)
            met = ""
            if unit == "GB/s" and name == "GPU -> GPU":
                met = f"  target >= {TARGET}: {'met' if middle >= TARGET else 'MISSED'}"
            print(f"  {name:13} {statistics.median(values):9.3f}   {middle:6.2f} of host memory "
                  f"({min(ratios):.2f} to {max(ratios):.2f}){met}")


if __name__ == "__main__":
    main()

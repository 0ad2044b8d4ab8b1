#!/usr/bin/env python3
"""perf_peers.py GDR [--rounds N]: gdr perf beside perftest, pair by pair, on the software NIC.

Both programs (Debian: perftest) time the same transfers between two processes, each side on a core
of its own, in turn: gdr perf, perftest, gdr perf, ... Printed are the medians, the median of the
ratios of the pairs with its interval at 95 %, and the targets.

What makes them comparable:
- perftest keeps its own settings, and gdr perf is told the same: bandwidth with 128 requests under
  way, a completion for 100 of them (for each above 8 KiB) and one request a call; latency with a
  completion for each request. Both then have 512 receives, no inline data (the software NIC has
  none that perftest knows), path MTU 4096 and one queue pair on the same device.
- Bandwidth and message rate are one measurement, messages by time, of which perftest prints the
  rate more finely. perftest's is an average over the run, so the mean of gdr perf's repetitions is
  taken, which have the same length, and not their median.
- Latency is the median of all samples: perftest's t_typical, gdr perf's p50; half a round trip of
  writes and sends, a whole one of reads. perftest reports it in cycles of the same counter.
- perftest is given as many messages as take about as long (--seconds) as gdr perf measures.
"""
import argparse
import json
import os
import shutil
import statistics
import sys

from rounds import SUBJECT, Runner, paired_ratio, perftest_column, pinned, run_rounds

PEER = "perftest"
OPERATIONS = ("write", "read", "send")
SIZES = {"64 B": 64, "4 KiB": 4096, "64 KiB": 65536, "1 MiB": 1 << 20}
BANDWIDTH, LATENCY = "messages/s", "ns"
MEASURES = {"bandwidth": BANDWIDTH, "latency": LATENCY}
TARGETS = {BANDWIDTH: 0.98, LATENCY: 1.02}  # gdr perf's by perftest's, at least and at most
LEAST_MESSAGES = 1000

WARM_UP = 0.02  # seconds; perftest has none
FAVOURED = ["chrt", "--rr", "1"]  # nothing else runs on their cores meanwhile


class Perf(Runner):
    """gdr perf: its server is told nothing of the load, and stays for the next client."""

    patience = 0

    def __init__(self, gdr, load, figure, sides):
        super().__init__([gdr, "perf"], figure, port_options=("--port", "--port"), sides=sides)
        self.load = load

    def start(self, side, *arguments):
        wanted = ("--soft", "--nic", "soft0")
        more = ("--server",) if side == 0 else (*self.load, "--json")
        return super().start(side, *arguments, *wanted, *more)


class Perftest(Runner):
    """With as many messages as gdr perf, which runs before it, would send in that time."""

    def __init__(self, command, figure, sides, messages):
        super().__init__(command, figure, sides=sides)
        self.messages = messages

    def start(self, side, *arguments):
        return super().start(side, "-n", str(self.messages()), *arguments)


class Case:
    """One operation, size and measure: a pair of runners."""

    def __init__(self, operation, size, unit, options):
        self.operation, self.size, self.unit, self.seconds = operation, size, unit, options.seconds
        self.messages, self.cycle = LEAST_MESSAGES, 1.0
        self.sides = pinned(options.cores)
        if options.favoured:
            self.sides = [([*FAVOURED, *run_by], more) for run_by, more in self.sides]
        self.gdr = options.gdr

    def perf(self):
        signalled = 1 if self.unit == LATENCY or self.size > 8192 else 100
        return Perf(self.gdr, ["--memory", "host", "--operation", self.operation,
                               "--measure", "rate" if self.unit == BANDWIDTH else "latency",
                               "--sizes", str(self.size), "--depth", "128",
                               "--signal-every", str(signalled), "--duration", str(self.seconds),
                               "--warm-up", str(WARM_UP)],
                    self.figure, self.sides)

    def perftest(self):
        # In cycles: of microseconds it prints two places only.
        kind, more = ("bw", []) if self.unit == BANDWIDTH else ("lat", ["-C"])
        return Perftest([self.gdr, "run", "--soft-nic", "--no-soft-gpu", "--",
                         f"ib_{self.operation}_{kind}", "-d", "soft0", "-F", "-s", str(self.size),
                         *more], self.perftest_figure, self.sides, lambda: self.messages)

    def perftest_figure(self, said):
        scale = 1e6 if self.unit == BANDWIDTH else self.cycle
        return perftest_column(4, scale)(said)

    def figure(self, said):
        """Of gdr perf's document; and, by the way, how many messages perftest gets."""
        try:
            document = json.loads(said[said.index("{"):])
            row = document["rows"][0]
            self.cycle = 1e9 / document["clock"]["ticks_per_second"]  # ns
        except (ValueError, KeyError, IndexError):
            return None
        if row["problem"]:
            return None
        if self.unit == BANDWIDTH:
            found = statistics.mean(row["rate_messages_per_second"]["repetitions"])
            rate = found
        else:
            found = row["latency_ns"]["p50"]
            rate = 1e9 / found / (1 if self.operation == "read" else 2)
        self.messages = max(LEAST_MESSAGES, int(rate * self.seconds))
        return found


def cases(options):
    table = {}
    for unit in (MEASURES[name] for name in options.measures):
        for operation in options.operations:
            for name in options.sizes:
                case = Case(operation, SIZES[name], unit, options)
                table[operation, name, unit] = {SUBJECT: case.perf(), PEER: case.perftest()}
    return table


def bandwidth(rate, size):
    return f"{rate * size * 1e-9:.3f} GB/s, {rate * 1e-6:.4g} M/s"


def verdict(unit, ratio, low, high):
    """By the median ratio; and whether the interval leaves a doubt."""
    target = TARGETS[unit]
    if unit == BANDWIDTH:
        met, sure = ratio >= target, low >= target
    else:
        met, sure = ratio <= target, high <= target
    return ("yes" if sure else "yes, by the median") if met else "**missed**"


def print_pairs(found):
    for unit, what, sense in ((BANDWIDTH, "bandwidth, message rate", "≥"),
                              (LATENCY, "latency", "≤")):
        if not any(of == unit for _, _, of in found):
            continue
        print(f"\n| {what} | gdr perf | perftest | ratio | interval | target | met |\n"
              "|---|---|---|---|---|---|---|")
        for (operation, name, of), rows in found.items():
            if of != unit:
                continue
            ours, theirs = (statistics.median(rows[who]) for who in (SUBJECT, PEER))
            ratio, low, high = paired_ratio(rows[SUBJECT], rows[PEER])
            shown = [bandwidth(value, SIZES[name]) if unit == BANDWIDTH else f"{value:,.0f} ns"
                     for value in (ours, theirs)]
            print(f"| {operation} {name} | {shown[0]} | {shown[1]} | {ratio:.3f} | "
                  f"{low:.3f} to {high:.3f} | {sense} {TARGETS[unit]} | "
                  f"{verdict(unit, ratio, low, high)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gdr", help="the program gdr, built with the preset bench", type=os.path.abspath)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--seconds", type=float, default=0.1, help="that each run measures")
    parser.add_argument("--cores", type=lambda text: text.split(","), default=["0", "1"],
                        help="the server's and the client's")
    parser.add_argument("--favoured", action="store_true",
                        help="both before all other programs of a busy machine (as root; chrt)")
    parser.add_argument("--operations", nargs="+", default=OPERATIONS, choices=OPERATIONS)
    parser.add_argument("--sizes", nargs="+", default=list(SIZES), choices=SIZES)
    parser.add_argument("--measures", nargs="+", default=list(MEASURES), choices=MEASURES)
    options = parser.parse_args()
    if not shutil.which("ib_write_bw"):
        sys.exit("ib_write_bw is not installed (Debian: perftest)")
    print_pairs(run_rounds(cases(options), options.rounds))


if __name__ == "__main__":
    main()

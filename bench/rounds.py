"""What the scripts that time the software NIC beside other programs share: runs, rounds, tables.

    cases = {"64 B send [us]": {"gdrkit": Runner([...], perftest_column(4)), ...}}
    found = run_rounds(cases, 11)
    print_table(found)
    print_claims(found, [("64 B send [us]", "libfabric shm", "<=", 1.2)])
"""
import math
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
from two_programs import free_port, start, stop, wait_until_listens  # noqa: E402

LIMIT = 120  # seconds for a run
SUBJECT = "gdrkit"
MIB = 1.048576  # of perftest's and ucx_perftest's MB in a MB of ten to the sixth


class Runner:
    """A program's server and client, and the figure in what the client prints.

    `sides`: for server and client what the command is run by, and more of the environment.
    """

    def __init__(self, command, figure, environment=None, port_options=("-p", "-p"),
                 host="127.0.0.1", sides=(([], {}), ([], {}))):
        self.command = command
        self.figure = figure
        self.environment = environment or {}
        self.port_options = port_options  # the server's, the client's
        self.host = host
        self.sides = sides

    patience = 1  # seconds that a server has to end by itself

    def start(self, side, *arguments):
        run_by, more = self.sides[side]
        return start([*run_by, *self.command, *arguments],
                     {**os.environ, **self.environment, **more})

    def run(self):
        port = free_port()
        server = self.start(0, self.port_options[0], str(port))
        client = None
        try:
            wrong = wait_until_listens(port, server)
            if wrong is not None:
                raise RuntimeError(f"{' '.join(self.command)}: {wrong}")
            client = self.start(1, self.port_options[1], str(port), *self.connect_to())
            said = client.communicate(timeout=LIMIT)[0]
            found = self.figure(said)
            if client.returncode != 0 or found is None:
                raise RuntimeError(f"{' '.join(self.command)}: exit {client.returncode}\n{said}")
            return found
        finally:
            # fi_pingpong's server over shm spins on for ever.
            for process in (client, server):
                if process is not None:
                    stop(process, patience=self.patience)

    def connect_to(self):
        return [self.host]


def pinned(cores):
    """The sides of a Runner: a core each, so that in no run the kernel has put both on one."""
    return [(["taskset", "-c", str(core)], {}) for core in cores]


def perftest_column(index, scale=1):
    """Of perftest's one line of results."""
    def figure(said):
        lines = re.findall(r"^ *\d+ +\d+ +[0-9.].*$", said, re.MULTILINE)
        return float(lines[-1].split()[index]) * scale if lines else None
    return figure


def ucx_column(index, scale=1):
    """Of ucx_perftest's last line."""
    def figure(said):
        lines = re.findall(r"^Final:(.*)$", said, re.MULTILINE)
        return float(lines[-1].split()[index]) * scale if lines else None
    return figure


def bare_figure(said):
    """Of the one line of bare_udp."""
    words = said.split()
    return float(words[-2]) if len(words) > 2 else None


def run_rounds(cases, rounds):
    """The runs of a round follow each other, so that a busy moment strikes all of them."""
    found = {case: {name: [] for name in runners} for case, runners in cases.items()}
    for turn in range(rounds):
        for case, runners in cases.items():
            for name, runner in runners.items():
                found[case][name].append(runner.run())
        print(f"round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
    return found


def ratio_of(found, case, peer):
    rows = found[case]
    return statistics.median(rows[SUBJECT]) / statistics.median(rows[peer])


def paired_ratio(ours, theirs):
    """Of figures measured in turn: the median ratio, and the narrowest interval between two ratios,
    as many below as above, that holds the true median of ratios in 95 % of all experiments at
    least. It assumes nothing about how the figures are distributed."""
    ratios = sorted(a / b for a, b in zip(ours, theirs, strict=True))
    pairs = len(ratios)
    below, missed = -1, 0
    while missed + 2 * math.comb(pairs, below + 1) <= 0.05 * 2 ** pairs:
        below += 1
        missed += 2 * math.comb(pairs, below)
    if below < 0:
        raise ValueError(f"{pairs} pairs are too few for an interval of 95 %; 6 are needed")
    return statistics.median(ratios), ratios[below], ratios[pairs - 1 - below]


def print_table(found):
    for case, rows in found.items():
        print(f"\n| {case} | median | least | most | {SUBJECT}'s / it |\n|---|---|---|---|---|")
        for name, figures in rows.items():
            print(f"| {name} | {statistics.median(figures):.4g} | {min(figures):.4g} | "
                  f"{max(figures):.4g} | {ratio_of(found, case, name):.2f} |")


def print_claims(found, claims):
    """Each a case, a peer, "<=" or ">=", and what the ratio of the medians is held against."""
    print("\n| claim | ratio | target | met |\n|---|---|---|---|")
    for case, peer, sense, target in claims:
        if peer not in found.get(case, {}):
            continue
        ratio = ratio_of(found, case, peer)
        met = ratio <= target if sense == "<=" else ratio >= target
        print(f"| {case}: {SUBJECT} / {peer} | {ratio:.2f} | {sense} {target} | "
              f"{'yes' if met else 'NO'} |")

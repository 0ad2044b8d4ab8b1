#!/usr/bin/env python3
"""peers.py GDR [--rounds N]: the software NIC beside UCX and libfabric, between two processes.

Each has its own, unmodified program time it: perftest on the software NIC, ucx_perftest, fi_pingpong
(Debian: perftest, ucx-utils, libfabric-bin). The runs of a round follow each other, so that a busy
moment of the machine strikes all of them; what is printed are the medians of the rounds, and the
ratios that docs/performance.md names.
"""
import argparse
import os
import pathlib
import re
import shutil
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "support"))
from two_programs import free_port, start, stop, wait_until_listens  # noqa: E402

LIMIT = 120  # seconds for a run


class Runner:
    """A program's server and client, and the figure in what the client prints."""

    def __init__(self, command, figure, environment=None, port_options=("-p", "-p")):
        self.command = command
        self.figure = figure
        self.environment = {**os.environ, **(environment or {})}
        self.port_options = port_options  # the server's, the client's

    def start(self, *arguments):
        return start([*self.command, *arguments], self.environment)

    def run(self):
        port = free_port()
        server = self.start(self.port_options[0], str(port))
        client = None
        try:
            wrong = wait_until_listens(port, server)
            if wrong is not None:
                raise RuntimeError(f"{' '.join(self.command)}: {wrong}")
            client = self.start(self.port_options[1], str(port), "127.0.0.1")
            said = client.communicate(timeout=LIMIT)[0]
            found = self.figure(said)
            if client.returncode != 0 or found is None:
                raise RuntimeError(f"{' '.join(self.command)}: exit {client.returncode}\n{said}")
            return found
        finally:
            # fi_pingpong's server over shm spins on for ever.
            for process in (client, server):
                if process is not None:
                    stop(process, patience=1)


def column(index):
    """Of perftest's one line of results."""
    def figure(said):
        lines = re.findall(r"^ *\d+ +\d+ +[0-9.].*$", said, re.MULTILINE)
        return float(lines[-1].split()[index]) if lines else None
    return figure


def ucx_column(index, scale):
    """Of ucx_perftest's last line."""
    def figure(said):
        lines = re.findall(r"^Final:(.*)$", said, re.MULTILINE)
        return float(lines[-1].split()[index]) * scale if lines else None
    return figure


def pingpong_latency(said):
    lines = re.findall(r"^64 +(.*)$", said, re.MULTILINE)
    return float(lines[-1].split()[5]) if lines else None


def cases(gdr):
    on_soft_nic = [gdr, "run", "--soft-nic", "--no-soft-gpu", "--"]
    fabric = ["fi_pingpong", "-e", "rdm", "-S", "64", "-I", "20000"]

    def perftest(*words, index):
        return Runner([*on_soft_nic, *words, "-d", "soft0"], column(index))

    def ucx(transports, *words, index, scale=1, **settings):
        return Runner(["ucx_perftest", *words], ucx_column(index, scale),
                      {"UCX_TLS": transports, **settings})

    return {
        "64 B send, half a round trip, both polling [us]": {
            "gdrkit": perftest("ib_send_lat", "-s", "64", "-n", "20000", index=4),
            "libfabric shm": Runner([*fabric, "-p", "shm"], pingpong_latency, port_options=("-B", "-P")),
            "libfabric tcp": Runner([*fabric, "-p", "tcp"], pingpong_latency, port_options=("-B", "-P")),
            "UCX posix,cma": ucx("posix,cma", "-t", "tag_lat", "-s", "64", "-n", "50000", index=1),
            "UCX tcp": ucx("tcp", "-t", "tag_lat", "-s", "64", "-n", "20000", index=1),
        },
        "64 B sends, batched [million/s]": {
            "gdrkit": perftest("ib_send_bw", "-s", "64", "-l", "32", "-r", "512", "-n", "1600000",
                               index=4),
            "UCX posix,cma": ucx("posix,cma", "-t", "tag_bw", "-s", "64", "-n", "500000", index=6,
                                 scale=1e-6),
            "UCX tcp": ucx("tcp", "-t", "tag_bw", "-s", "64", "-n", "100000", index=6,
                           scale=1e-6),
        },
        "1 MiB write [MB/s]": {
            "gdrkit": perftest("ib_write_bw", "-s", "1048576", "-n", "4000", index=3),
            "UCX posix,cma": ucx("posix,cma", "-t", "ucp_put_bw", "-s", "1048576", "-n", "2000",
                                 index=4),
            # ucx_perftest puts into memory that UCX has allocated, and shares. In a program's own:
            "UCX posix,cma, private memory": ucx("posix,cma", "-t", "ucp_put_bw", "-s", "1048576",
                                                 "-n", "1000", index=4, UCX_ALLOC_PRIO="mmap"),
            "UCX posix,cma, tagged": ucx("posix,cma", "-t", "tag_bw", "-s", "1048576", "-n", "2000",
                                         index=4, UCX_ALLOC_PRIO="mmap"),
            "UCX tcp": ucx("tcp", "-t", "ucp_put_bw", "-s", "1048576", "-n", "500", index=4),
        },
    }


CLAIMS = [  # of the medians: gdrkit's / the peer's
    ("64 B send, half a round trip, both polling [us]", "libfabric shm", "<=", 1.2),
    ("64 B sends, batched [million/s]", "UCX posix,cma", ">=", 0.5),
    ("1 MiB write [MB/s]", "UCX posix,cma", ">=", 1.0),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gdr", help="the program gdr, built for release")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    for program in ("ib_send_lat", "ucx_perftest", "fi_pingpong"):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed (Debian: perftest ucx-utils libfabric-bin)")
    table = cases(os.path.abspath(options.gdr))
    found = {case: {name: [] for name in runners} for case, runners in table.items()}
    for turn in range(options.rounds):
        for case, runners in table.items():
            for name, runner in runners.items():
                found[case][name].append(runner.run())
        print(f"round {turn + 1} of {options.rounds}", file=sys.stderr, flush=True)
    medians = {case: {name: statistics.median(figures) for name, figures in rows.items()}
               for case, rows in found.items()}
    for case, rows in found.items():
        print(f"\n| {case} | median | least | most | gdrkit's / it |\n|---|---|---|---|---|")
        for name, figures in rows.items():
            ratio = medians[case]["gdrkit"] / medians[case][name]
            print(f"| {name} | {medians[case][name]:.4g} | {min(figures):.4g} | "
                  f"{max(figures):.4g} | {ratio:.2f} |")
    print("\n| claim | ratio | target | met |\n|---|---|---|---|")
    for case, peer, sense, target in CLAIMS:
        ratio = medians[case]["gdrkit"] / medians[case][peer]
        met = ratio <= target if sense == "<=" else ratio >= target
        print(f"| {case}: gdrkit / {peer} | {ratio:.2f} | {sense} {target} | "
              f"{'yes' if met else 'NO'} |")


if __name__ == "__main__":
    main()

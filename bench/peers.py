#!/usr/bin/env python3
"""peers.py GDR [--rounds N]: the software NIC beside UCX and libfabric, between two processes.

Each has its own, unmodified program time it: perftest on the software NIC, ucx_perftest, fi_pingpong
(Debian: perftest, ucx-utils, libfabric-bin). The runs of a round follow each other, so that a busy
moment of the machine strikes all of them; what is printed are the medians of the rounds, and the
ratios that docs/performance.md names.
"""
import argparse
import os
import re
import shutil
import sys

from rounds import Runner, perftest_column, print_claims, print_table, run_rounds, ucx_column


def pingpong_latency(said):
    lines = re.findall(r"^64 +(.*)$", said, re.MULTILINE)
    return float(lines[-1].split()[5]) if lines else None


def cases(gdr):
    on_soft_nic = [gdr, "run", "--soft-nic", "--no-soft-gpu", "--"]
    fabric = ["fi_pingpong", "-e", "rdm", "-S", "64", "-I", "20000"]

    def perftest(*words, index):
        return Runner([*on_soft_nic, *words, "-d", "soft0"], perftest_column(index))

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
    ("64 B send, half a round trip, both polling [us]", "libfabric shm", "<=", 1.0),
    ("64 B send, half a round trip, both polling [us]", "UCX posix,cma", "<=", 1.0),
    ("64 B sends, batched [million/s]", "UCX posix,cma", ">=", 0.8),
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
    found = run_rounds(cases(os.path.abspath(options.gdr)), options.rounds)
    print_table(found)
    print_claims(found, CLAIMS)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""ucx_peers.py GDR [--rounds N]: UCX over the software NIC, between two processes of one host, beside
what bounds it: perftest on the same NIC, and UCX over TCP. ucx_perftest and perftest time themselves
(Debian: ucx-utils, perftest). Medians of interleaved rounds, as in peers.py."""
import argparse
import os
import shutil
import sys

from rounds import Runner, perftest_column, print_claims, print_table, run_rounds, ucx_column


def cases(gdr):
    on_soft_nic = [gdr, "run", "--quiet", "--soft-nic", "--no-soft-gpu", "--"]

    def perftest(*words):
        return Runner([*on_soft_nic, *words, "-d", "soft0"], perftest_column(3))

    def ucx(transport, test, size, count):
        words = ["ucx_perftest", "-t", test, "-s", str(size), "-n", str(count)]
        before = [] if transport == "tcp" else on_soft_nic
        settings = {"UCX_TLS": transport}
        if before:
            settings["UCX_NET_DEVICES"] = "soft0:1"
        return Runner([*before, *words], ucx_column(4), settings)

    return {
        "1 MiB put [MB/s]": {
            "gdrkit": ucx("rc", "ucp_put_bw", 1 << 20, 4000),
            "perftest write": perftest("ib_write_bw", "-s", "1048576", "-n", "4000"),
            "UCX tcp": ucx("tcp", "ucp_put_bw", 1 << 20, 500),
        },
        "64 KiB tagged, rc [MB/s]": {
            "gdrkit": ucx("rc", "tag_bw", 64 << 10, 20000),
            "UCX tcp": ucx("tcp", "tag_bw", 64 << 10, 10000),
        },
        "4 KiB tagged, rc [MB/s]": {
            "gdrkit": ucx("rc", "tag_bw", 4 << 10, 50000),
            "UCX tcp": ucx("tcp", "tag_bw", 4 << 10, 50000),
        },
        "1 MiB tagged, ud [MB/s]": {
            "gdrkit": ucx("ud", "tag_bw", 1 << 20, 3000),
            "UCX tcp": ucx("tcp", "tag_bw", 1 << 20, 1000),
        },
        "64 KiB tagged, ud [MB/s]": {
            "gdrkit": ucx("ud", "tag_bw", 64 << 10, 20000),
            "UCX tcp": ucx("tcp", "tag_bw", 64 << 10, 10000),
        },
    }


CLAIMS = [  # of the medians: gdrkit's / the peer's
    ("1 MiB put [MB/s]", "perftest write", ">=", 0.9),
    ("64 KiB tagged, rc [MB/s]", "UCX tcp", ">=", 1.0),
    ("1 MiB tagged, ud [MB/s]", "UCX tcp", ">=", 0.5),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gdr", help="the program gdr, built for release")
    parser.add_argument("--rounds", type=int, default=11)
    options = parser.parse_args()
    for program in ("ib_write_bw", "ucx_perftest"):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed (Debian: perftest ucx-utils)")
    found = run_rounds(cases(os.path.abspath(options.gdr)), options.rounds)
    print_table(found)
    print_claims(found, CLAIMS)


if __name__ == "__main__":
    main()

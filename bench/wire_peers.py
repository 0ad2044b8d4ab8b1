#!/usr/bin/env python3
"""wire_peers.py GDR [--rounds N] [--cores A,B]: the software NIC's packets beside the kernel's UDP.

RoCEv2 packets between two processes, over loopback and over a pair of virtual Ethernet devices
(root only: it makes two network namespaces and removes them), beside bare_udp (built with the
benchmarks, beside GDR: the same packets, and nothing around them), iperf3's TCP and UCX over TCP
(Debian: perftest, ucx-utils; iperf3, ethtool, iproute2). What is missing is skipped with a line.
Bandwidths are in MB/s, a MB being 10^6 bytes. Each side gets a core of its own, so that no run is
one in which the kernel had put both on one.
"""
import argparse
import json
import os
import shutil
import signal
import sys

from rounds import (MIB, Runner, bare_figure, perftest_column, print_claims, print_table,
                    run_rounds, ucx_column)
from veth import Veth

WRITE, LATENCY = "64 KiB write [MB/s]", "64 B, half a round trip [us]"
BARE = "bare UDP"
UNEVEN = "bare UDP, lengths of a write's packets"
LOOPBACK = ("127.10.0.1", "127.10.0.2")

CLAIMS = [  # of the medians: gdrkit's / the peer's
    (f"loopback: {WRITE}", BARE, ">=", 0.8),
    (f"loopback: {WRITE}", "iperf3 TCP", ">=", 1.0),
    (f"loopback: {WRITE}", "UCX tcp, put", ">=", 1.0),
    (f"loopback: {WRITE}", "UCX tcp, tagged", ">=", 1.0),
    (f"loopback: {LATENCY}", BARE, "<=", 1.5),
]


class Iperf(Runner):
    """Its server and client take the host in different places."""

    def connect_to(self):
        return ["-c", self.host, "-t", "2", "-l", "65536", "-J"]

    def start(self, side, *arguments):
        return super().start(side, *(("-s", "-1") if side == 0 else ()), *arguments)


def iperf_figure(said):
    try:
        return json.loads(said)["end"]["sum_received"]["bits_per_second"] / 8e6
    except (ValueError, KeyError):
        return None


class Bare(Runner):
    """Tells each side its own address."""

    def __init__(self, *arguments, addresses, **more):
        super().__init__(*arguments, **more)
        self.addresses = addresses

    def start(self, side, *arguments):
        return super().start(side, "--bind", self.addresses[side], *arguments)


class Link:
    """Where server and client run: by which command, and at which addresses."""

    def __init__(self, run_by, addresses, host):
        self.run_by = run_by
        self.addresses = addresses
        self.host = host

    def perftest(self, gdr, *words, figure):
        sides = [(run_by, {"GDR_SOFT_DEVICES": f"soft0/ip={address}"})
                 for run_by, address in zip(self.run_by, self.addresses)]
        return Runner([gdr, "run", "--soft-nic", "--no-soft-gpu", "--", *words, "-d", "soft0"],
                      figure, {"GDR_SOFT_PATH": "packets"}, host=self.host, sides=sides)

    def bare(self, gdr, *words):
        return Bare([os.path.join(os.path.dirname(gdr), "bare_udp"), *words], bare_figure,
                    host=self.host, sides=self.plain_sides(), addresses=self.addresses)

    def iperf(self):
        return Iperf(["iperf3"], iperf_figure, host=self.host, sides=self.plain_sides())

    def ucx(self, test):
        return Runner(["ucx_perftest", "-t", test, "-s", "65536", "-n", "20000"],
                      ucx_column(4, MIB), {"UCX_TLS": "tcp"}, host=self.host,
                      sides=self.plain_sides())

    def plain_sides(self):
        return [(run_by, {}) for run_by in self.run_by]

    def cases(self, name, gdr):
        write = perftest_column(3, MIB)
        return {
            f"{name}: {WRITE}": {
                "gdrkit": self.perftest(gdr, "ib_write_bw", "-F", "-s", "65536", "-n", "20000",
                                        figure=write),
                BARE: self.bare(gdr, "stream"),
                UNEVEN: self.bare(gdr, "stream", "--even", "off"),
            },
            f"{name}: {LATENCY}": {
                "gdrkit": self.perftest(gdr, "ib_send_lat", "-F", "-s", "64", "-n", "50000",
                                        figure=perftest_column(4)),
                BARE: self.bare(gdr, "latency"),
            },
        }


def loopback_cases(gdr, pins):
    link = Link(pins, LOOPBACK, "127.0.0.1")
    table = link.cases("loopback", gdr)
    peers = table[f"loopback: {WRITE}"]
    if shutil.which("iperf3"):
        peers["iperf3 TCP"] = link.iperf()
    else:
        print("skipped: iperf3 is not installed (Debian: iperf3)", file=sys.stderr)
    if shutil.which("ucx_perftest"):
        peers["UCX tcp, put"] = link.ucx("ucp_put_bw")
        peers["UCX tcp, tagged"] = link.ucx("tag_bw")
    else:
        print("skipped: ucx_perftest is not installed (Debian: ucx-utils)", file=sys.stderr)
    return table


def veth_cases(gdr, pins, veth):
    link = Link([[*veth.run_in(side), *pins[side]] for side in (0, 1)], veth.addresses,
                veth.addresses[0])
    return link.cases(veth.name, gdr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gdr", help="the program gdr, built with the preset bench")
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--cores", default="0,1", help="the server's and the client's")
    options = parser.parse_args()
    # So that the namespaces are removed then, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if not shutil.which("ib_write_bw"):
        sys.exit("ib_write_bw is not installed (Debian: perftest)")
    gdr = os.path.abspath(options.gdr)
    pins = [["taskset", "-c", core] for core in options.cores.split(",")]
    found = run_rounds(loopback_cases(gdr, pins), options.rounds)
    for segmentation in (True, False):
        unable = Veth.unable()
        if unable is not None:
            print(f"skipped: veth: {unable}", file=sys.stderr)
            break
        with Veth(segmentation) as veth:
            found.update(run_rounds(veth_cases(gdr, pins, veth), options.rounds))
    print_table(found)
    print_claims(found, CLAIMS)


if __name__ == "__main__":
    main()

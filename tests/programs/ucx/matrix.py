#!/usr/bin/env python3
"""matrix.py GDR [--short] [--packets MTU] [--ucx FOLDER] [PATTERN]: ucx_perftest on the software NIC.

Every test of ucx_perftest over rc and ud: those of UCP (tagged, stream, put, get, atomic, active
messages) in several sizes and modes, and those of UCT over rc_verbs and ud_verbs by every way of
handing over data. A run is a server and a client, as two processes; it passes when both exit with 0,
neither prints an error, and the client prints figures of all its iterations.

--short      each test of UCP once, some of its modes, each way of UCT once
--packets    between two network namespaces joined by veth with that MTU; packets must have moved
--ucx        the folder of another ucx_perftest than the one on the PATH
PATTERN      a regular expression: only runs whose name matches, which is the command that repeats them
"""
import argparse
import os
import pathlib
import re
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from two_hosts import Hosts, Skip, become_root, path_mtu_of  # noqa: E402
from two_programs import Here, run_server_and_client  # noqa: E402

LIMIT = 1200  # seconds for each process
KIB, MIB = 1 << 10, 1 << 20
SIZES = [8, 256, 4 * KIB, 8 * KIB, 64 * KIB, MIB, 16 * MIB]
FINAL = re.compile(r"^(?:Final:|\[thread \d+\]) +(\d+) ", re.MULTILINE)
# ucx_perftest advises each run on a machine of many processors to bind itself to one; that is no complaint.
COMPLAINT = re.compile(r"\b(?:ERROR|FATAL|WARN(?!\s+CPU affinity)|Assertion)\b.*", re.IGNORECASE)

MESSAGES = ["tag_lat", "tag_bw", "tag_sync_lat", "tag_sync_bw", "stream_lat", "stream_bw",
            "ucp_am_lat", "ucp_am_bw"]
MEMORY = ["ucp_put_lat", "ucp_put_bw", "ucp_get"]
ATOMICS = ["ucp_add", "ucp_fadd", "ucp_swap", "ucp_cswap"]
# One of its flags each: what UCX then does otherwise.
MODES = [("tag_bw", ["-D", "iov,contig", "-s", "16,4096,8192,100"]),
         ("tag_bw", ["-C"]), ("tag_bw", ["-U"]), ("tag_lat", ["-U", "-C"]),
         ("stream_bw", ["-r", "recv_data"]), ("stream_lat", ["-r", "recv_data"]),
         ("tag_lat", ["-E", "sleep"]), ("ucp_am_lat", ["-E", "sleep"]),
         ("tag_bw", ["-e"]), ("ucp_put_bw", ["-e"]),
         ("tag_bw", ["-T", "2", "-M", "multi"]), ("ucp_put_bw", ["-T", "2", "-M", "multi"]),
         ("ucp_am_bw", ["-H", "32"]), ("tag_bw", ["-O", "16"]), ("ucp_put_bw", ["-B"])]

# By how data is handed over, which sizes a transport takes of them.
FEW, SEGMENT, ANY = [8, 48], [8, KIB, 4000, 8 * KIB], [256, 64 * KIB, 4 * MIB]
DATAGRAM = [8, 1000, 4000]  # those that a path lets through
DATAGRAM_HEADER = 8  # UCX's own
UCT = {
    "rc_verbs": [(["am_lat", "am_bw"], {"short": FEW, "shortiov": FEW, "bcopy": SEGMENT,
                                        "zcopy": SEGMENT}),
                 (["put_lat", "put_bw"], {"short": FEW, "bcopy": SEGMENT, "zcopy": ANY}),
                 (["get"], {"bcopy": SEGMENT, "zcopy": ANY}),
                 (["add_lat", "add_mr", "fadd", "cswap"], {"short": [8]})],
    "ud_verbs": [(["am_lat", "am_bw"], {"short": FEW, "shortiov": FEW, "bcopy": DATAGRAM,
                                        "zcopy": DATAGRAM})],
}


def count(size):
    """Iterations: enough to wrap every window, and none that takes long."""
    return max(20, min(2000, 64 * MIB // size))


def of_ucp(transport, is_short):
    """Tuples of a transport and the arguments."""
    for test in MESSAGES + MEMORY:
        short = 8 if test.endswith("_lat") else 64 * KIB
        for size in [short] if is_short else SIZES:
            yield transport, [test, "-s", str(size), "-n", str(count(size))]
    for test in ["ucp_fadd"] if is_short else ATOMICS:
        for size in [8] if is_short else [4, 8]:
            yield transport, [test, "-s", str(size), "-n", "1000"]
    for test, flags in MODES[::4] if is_short else MODES:
        size = [] if "-s" in flags else ["-s", str(4 * KIB)]
        yield transport, [test, *size, "-n", "500", *flags]


def of_uct(transport, is_short, path_mtu):
    for tests, layouts in UCT[transport]:
        for test in tests[-1:] if is_short else tests:
            for layout, sizes in layouts.items():
                if transport == "ud_verbs":
                    sizes = [size for size in sizes if size <= path_mtu - DATAGRAM_HEADER]
                for size in sizes[:1] if is_short else sizes:
                    yield transport, [test, "-x", transport, "-d", "soft0:1", "-D", layout,
                                      "-s", str(size), "-n", str(count(size))]


def runs(is_short, path_mtu):
    for transport in ("rc", "ud"):
        yield from of_ucp(transport, is_short)
    for transport in UCT:
        yield from of_uct(transport, is_short, path_mtu)


def name_of(transport, arguments):
    return f"UCX_TLS={transport} ucx_perftest -t {' '.join(arguments)}"


def run(place, gdr, program, transport, arguments):
    """None when it passes, else what was seen."""
    command = ["env", f"UCX_TLS={transport}", "UCX_NET_DEVICES=soft0:1", "UCX_WARN_UNUSED_ENV_VARS=n",
               gdr, "run", "--quiet", "--soft-nic", "--", program, "-w", "10", "-t", *arguments]
    wrong, said, heard = run_server_and_client(place, command, command, LIMIT)
    if wrong is not None:
        return wrong
    if complaint := COMPLAINT.search(said + heard):
        return complaint.group()
    wanted = int(arguments[arguments.index("-n") + 1])
    counted = [int(number) for number in FINAL.findall(said)]
    return None if wanted in counted else f"no figures of {wanted} iterations:\n{said}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gdr", type=os.path.abspath)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--packets", type=int, metavar="MTU")
    parser.add_argument("--ucx", type=os.path.abspath, metavar="FOLDER")
    parser.add_argument("pattern", nargs="?", default=re.compile(""), type=re.compile)
    options = parser.parse_intermixed_args()
    program = shutil.which("ucx_perftest", path=options.ucx)
    if not program:
        raise Skip("no ucx_perftest (Debian: ucx-utils)")
    path_mtu = path_mtu_of(options.packets) if options.packets else 4096
    chosen = [one for one in runs(options.short, path_mtu)
              if options.pattern.search(name_of(*one))]
    if not chosen:
        print(f"no run's name matches '{options.pattern.pattern}'")
        return 2
    if options.packets:
        become_root()
        with Hosts(mtu=options.packets) as hosts:
            return run_all(hosts, options.gdr, program, chosen)
    return run_all(Here(), options.gdr, program, chosen)


def run_all(place, gdr, program, chosen):
    failed = 0
    for transport, arguments in chosen:
        wrong = run(place, gdr, program, transport, arguments)
        if wrong is None and isinstance(place, Hosts):
            sides = place.take_counters(gdr)
            if not all(side["packets_sent"] and side["packets_received"] for side in sides):
                wrong = "no packets have moved"
        if wrong is not None:
            failed += 1
            print(f"FAILED: {name_of(transport, arguments)}\n{wrong}\n", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} runs passed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

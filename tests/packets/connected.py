#!/usr/bin/env python3
"""connected.py GDR [PATTERN]: rdma-core's programs that find each other by librdmacm, between two
hosts. Both must end with 0, but for servers that serve on, neither may complain, and packets must have
moved. PATTERN (a regular expression) picks pairs by the client's command."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

LIMIT = 400  # seconds
COMPLAINT = re.compile("error|fail|mismatch", re.IGNORECASE)
SERVE_ON = ("cmtime", "udpong")
# What the server runs; what the client runs; what that prints.
PAIRS = [
    ("rping -s -a {server} -C 20 -v -V", "rping -c -a {server} -C 20 -v -V", "ping data: rdma-ping-19"),
    ("rdma_server", "rdma_client -s {server}", "rdma_client: end 0"),
    ("rdma_xserver -c r", "rdma_xclient -c r -s {server}", "rdma_xclient: end 0"),
    ("rdma_xserver -c x", "rdma_xclient -c x -s {server}", "rdma_xclient: end 0"),
    ("ucmatose -C 10 -c 4", "ucmatose -s {server} -C 10 -c 4", "return status 0"),
    ("udaddy", "udaddy -s {server}", "return status 0"),
    ("cmtime", "cmtime -s {server} -c 50", "connect"),
    ("rstream -S 16384 -C 100 -I 2", "rstream -s {server} -S 16384 -C 100 -I 2", "16k"),
    ("riostream -S 16384 -C 100 -I 2", "riostream -s {server} -S 16384 -C 100 -I 2", "16k"),
    ("udpong -b {server} -T b", "udpong -s {server} -C 200 -S 1000 -T b -T e", "custom"),
]


def attempt(hosts, gdr, pair, patience):
    """None, or what was wrong. Who listens by librdmacm shows in no table: the client is patient."""
    server_words, client_words, line = (text.format(server=hosts.address) for text in pair)
    start = [gdr, "run", "--quiet", "--soft-nic", "--no-soft-gpu", "--"]
    server = hosts.start(0, start + server_words.split())
    client = None
    said = heard = ""
    try:
        try:
            server.wait(timeout=patience)
            return f"the server ended with {server.returncode}:\n{server.stdout.read()}"
        except subprocess.TimeoutExpired:
            client = hosts.start(1, start + client_words.split())
        said = client.communicate(timeout=LIMIT)[0]
        if server_words.split()[0] not in SERVE_ON:
            heard = server.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT} seconds"
    finally:
        serves_on = server.poll() is None
        stop(server)
        if client is not None:
            stop(client)
    right = client.returncode == 0 and (serves_on or server.returncode == 0)
    if not right or COMPLAINT.search(said + heard) or line not in said:
        return f"exit {client.returncode} and {server.returncode}:\n{said}\n--- server\n{heard}"
    return None


def run(hosts, gdr, pair):
    for patience in (0.5, 1.5, 4, 15, 60):
        wrong = attempt(hosts, gdr, pair, patience)
        sides = hosts.take_counters(gdr)
        if wrong is None:
            return None if all(side["packets_sent"] for side in sides) else "no packets have left"
    return wrong


def main():
    gdr = os.path.abspath(sys.argv[1])
    pattern = re.compile(sys.argv[2] if len(sys.argv) > 2 else "")
    if not shutil.which("rping"):
        raise Skip("rping is not installed (Debian: rdmacm-utils)")
    become_root()
    chosen = [pair for pair in PAIRS if pattern.search(pair[1])]
    failed = 0
    with Hosts(mtu=4200) as hosts:
        for pair in chosen:
            wrong = run(hosts, gdr, pair)
            if wrong is not None:
                failed += 1
                print(f"FAILED: {pair[1]}\n{wrong}\n", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} pairs passed")
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

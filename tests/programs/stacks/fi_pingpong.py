#!/usr/bin/env python3
"""fi_pingpong.py GDR ENDPOINT [PROVIDER]: libfabric's fi_pingpong over the software NIC, every byte
compared: between two processes of one host, with the devices that it has by default and with one
behind its interface, then between two hosts.

libfabric looks for the devices behind the addresses of IP interfaces, and never at loopback ones. So
the hosts are network namespaces with a link between them (tests/support/two_hosts.py)."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

PORT = "47592"
LIMIT = 300  # seconds
COMPLAINT = re.compile("error|fail|mismatch|ret=", re.IGNORECASE)
# Its last line, all of them acknowledged: 1 MiB, or what one datagram holds.
LAST_SIZE = re.compile(r"^1m +20 +=20 ", re.MULTILINE)
LAST_DATAGRAM = re.compile(r"^4k +20 +=20 ", re.MULTILINE)
USED = re.compile("software NIC: opened soft0.* queue pair")


def run(hosts, gdr, client_side, words, default_devices):
    """None, or what was wrong."""
    last = LAST_DATAGRAM if "dgram" in words else LAST_SIZE
    command = [gdr, "run", "--soft-nic", "--no-soft-gpu", "--", "fi_pingpong", *words, "-c", "-I",
               "20"]
    server = hosts.start(0, [*command, "-B", PORT], default_devices)
    client = None
    try:
        wrong = hosts.wait_until_listens(int(PORT), server)
        if wrong is not None:
            return wrong
        # By default everybody is here, and a user calls it so.
        address = "localhost" if default_devices else hosts.address
        client = hosts.start(client_side, [*command, "-P", PORT, address], default_devices)
        said = client.communicate(timeout=LIMIT)[0]
        heard = server.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT} seconds"
    finally:
        stop(server)
        if client is not None:
            stop(client)
    for program, printed in ((client, said), (server, heard)):
        if (program.returncode != 0 or COMPLAINT.search(printed) or not last.search(printed) or
                not USED.search(printed)):
            return f"exit {client.returncode} and {server.returncode}:\n{said}\n--- server\n{heard}"
    return None


def main():
    gdr = os.path.abspath(sys.argv[1])
    words = ["-e", sys.argv[2], "-p", sys.argv[3] if len(sys.argv) > 3 else "verbs"]
    if not shutil.which("fi_pingpong"):
        raise Skip("fi_pingpong is not installed (Debian: libfabric-bin)")
    become_root()
    with Hosts(mtu=4200) as hosts:
        for client_side, where, default in ((0, "with the default devices", True),
                                            (0, "within one host", False),
                                            (1, "between two hosts", False)):
            wrong = run(hosts, gdr, client_side, words, default)
            counters = hosts.take_counters(gdr) if client_side else []
            if wrong is None and not all(one["packets_sent"] for one in counters):
                wrong = "no packets have left"
            if wrong is not None:
                print(f"FAILED {where}: fi_pingpong {' '.join(words)}\n{wrong}")
                return 1
    print(f"fi_pingpong {' '.join(words)}: every byte arrived, within one host and between two")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

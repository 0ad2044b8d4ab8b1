#!/usr/bin/env python3
"""multicast.py GDR: rdma-core's mckey between two hosts, with groups of IPv4 and IPv6. A member on the
other host gets what is sent to the group, and so does one beside the sender: each message once. The
ports count them as multicast, once each."""
import os
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

MESSAGES = 20
LIMIT = 100  # seconds
GROUPS = {False: "239.1.2.3", True: "ff0e::1:2:3"}  # of all organisations' scope
JOINED = "joined dgid"


class Member:
    """A mckey: a receiver that ends when that many messages have come, or a sender of so many."""

    def __init__(self, hosts, gdr, side, group, count, sends=False):
        addresses = Hosts.ADDRESSES6 if ":" in group else Hosts.ADDRESSES
        command = [gdr, "run", "--quiet", "--soft-nic", "--no-soft-gpu", "--", "stdbuf", "-oL",
                   "mckey", "-m", group, "-b", addresses[side], "-C", str(count)]
        self.process = hosts.start(side, command + (["-s"] if sends else []))
        self.said = ""

    def wait_until_joined(self):
        for line in self.process.stdout:
            self.said += line
            if JOINED in line:
                return True
        return False

    def ends(self, seconds=LIMIT):
        try:
            self.said += self.process.communicate(timeout=seconds)[0]
        except subprocess.TimeoutExpired:
            return False
        return self.process.returncode == 0 and "data transfers complete" in self.said


def port_counts(hosts, gdr, side):
    """What the port of that host's software NIC has counted; the file may be an earlier host's."""
    said = hosts.start(side, [gdr, "counters", "--all"]).communicate(timeout=LIMIT)[0]
    section = said.partition("software NIC soft0:\n")[2].partition("\n\n")[0]
    return {name: int(value) for name, value in (line.split() for line in section.splitlines())}


def counted(before, after):
    """What is wrong with what the ports have counted of all messages: one sender, on host 1. Each
    process that receives counts for itself; the first one has not seen the last message."""
    sent = MESSAGES + 1
    wanted = [{"multicast_xmit_packets": 0, "unicast_xmit_packets": 0,
               "multicast_rcv_packets": MESSAGES + sent, "port_rcv_packets": MESSAGES + sent,
               "unicast_rcv_packets": 0},
              {"multicast_xmit_packets": sent, "port_xmit_packets": sent,
               "unicast_xmit_packets": 0, "multicast_rcv_packets": sent}]
    for side, counts in enumerate(wanted):
        for name, value in counts.items():
            name = "counters/" + name
            moved = after[side].get(name, -1) - before[side].get(name, 0)
            if moved != value:
                return f"host {side} counted {name} {moved} times, not {value}"
    return None


def run(hosts, gdr, group):
    """None, or what was wrong. One receiver waits for one message more than the sender sends: what
    came twice would end it."""
    members = [Member(hosts, gdr, 0, group, MESSAGES), Member(hosts, gdr, 1, group, MESSAGES + 1),
               Member(hosts, gdr, 0, group, MESSAGES + 1)]
    try:
        for member in members:
            if not member.wait_until_joined():
                return f"a receiver has not joined:\n{member.said}"
        members.append(Member(hosts, gdr, 1, group, MESSAGES, sends=True))
        if not members[-1].ends():
            return f"the sender failed:\n{members[-1].said}"
        if not members[0].ends():
            return f"the other host has not received {MESSAGES} messages"
        if members[1].ends(0.5) or members[2].ends(0.5):
            return "a message came twice"
        members.append(Member(hosts, gdr, 1, group, 1, sends=True))
        for member in (members[-1], members[1], members[2]):
            if not member.ends():
                return f"one more message was not sent or received:\n{member.said}"
    finally:
        for member in members:
            stop(member.process)
    return None


def main():
    gdr = os.path.abspath(sys.argv[1])
    if not shutil.which("mckey"):
        raise Skip("mckey is not installed (Debian: rdmacm-utils)")
    become_root()
    for ipv6, group in GROUPS.items():
        with Hosts(mtu=4200, ipv6=ipv6) as hosts:
            before = [port_counts(hosts, gdr, side) for side in range(2)]
            wrong = run(hosts, gdr, group)
            if wrong is None:
                wrong = counted(before, [port_counts(hosts, gdr, side) for side in range(2)])
            if wrong is not None:
                print(f"FAILED: {group}: {wrong}")
                return 1
    print("mckey: each message once, on the other host and beside the sender, by IPv4 and IPv6")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

#!/usr/bin/env python3
"""connect_to_kernel.py BUILD [--only TEXT]: rdma-core's programs of the connection manager on the
software NIC's librdmacm on this host, against the same programs on the kernel's rdma_cm over rxe in a
guest: each side as client and as server, over a tap device in a network namespace of the test's own.
Datagrams of rdma-core's rsockets need own_address, which says why."""
import argparse
import os
import pathlib
import shutil
import subprocess
import time

import ends
import interop
import lab

HOST, GUEST = interop.HOST, interop.GUEST
LIMIT = 30  # seconds for a pair

DATAGRAMS, DATAGRAM_PORT = "udpong", 7174
# What the server runs; what the client runs.
PAIRS = [
    ("rping -s -a {server} -C 20 -V", "rping -c -a {server} -C 20 -V"),
    ("ucmatose -C 10 -c 4", "ucmatose -s {server} -C 10 -c 4"),
    ("udaddy", "udaddy -s {server}"),
    ("mckey -m 239.1.2.3 -b {server} -C 10", "mckey -m 239.1.2.3 -b {client} -C 10 -s"),
    ("rstream -S 16384 -C 100 -I 2", "rstream -s {server} -S 16384 -C 100 -I 2"),
    (f"{DATAGRAMS} -b {{server}} -T b", f"{DATAGRAMS} -s {{server}} -C 200 -S 1000 -T b -T e"),
    (f"{DATAGRAMS} -b {{server}} -T b", f"{DATAGRAMS} -s {{server}} -C 200 -S 64 -T b -T a -T e"),
]
PROGRAMS = sorted({server.split()[0] for server, _ in PAIRS})


class Host:
    """Programs on the software NIC, in this process's namespace."""

    def __init__(self, gdr):
        self.name = "gdrkit"
        self.address = HOST
        self._gdr = gdr
        self._environment = {**os.environ, "GDR_SOFT_DEVICES": f"soft0/ip={HOST}"}

    def start(self, command):
        return subprocess.Popen(
            [self._gdr, "run", "--quiet", "--soft-nic", "--no-soft-gpu", "--", "timeout", "-k", "1",
             str(LIMIT), *command.split()],
            env=self._environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @staticmethod
    def wait_until_serves(_):
        time.sleep(1)

    @staticmethod
    def end(process, serves_on=False):
        if serves_on:
            process.terminate()
        output, _ = process.communicate(timeout=LIMIT + 5)
        return 0 if serves_on else process.returncode, output


class Kernel:
    """Programs on the guest's kernel."""

    def __init__(self, guest, own_address):
        self.name = "kernel"
        self.address = GUEST
        self._guest = guest
        self._own_address = own_address

    def start(self, command):
        if command.startswith(DATAGRAMS):
            command = f"LD_PRELOAD=/lab/bin/{self._own_address} {command}"
        return self._guest.start(command, LIMIT)

    def wait_until_serves(self, command):
        if not command.startswith(DATAGRAMS):
            return time.sleep(2)  # no table of sockets shows who listens for connections
        # Its first datagram, which is lost where nobody is there, udpong sends once only.
        end = time.monotonic() + LIMIT
        while self._guest.run(f"grep -q ':{DATAGRAM_PORT:04X} ' /proc/net/udp /proc/net/udp6")[0] != 0:
            if time.monotonic() > end:
                raise lab.Failure(f"{command} does not serve")
            time.sleep(0.2)
        return None

    @staticmethod
    def end(job, serves_on=False):
        status, output = job.wait(0 if serves_on else LIMIT + 5)
        return 0 if serves_on else status, output


def went_by_queue_pair(counters, before):
    """True if rxe carried each of 200 datagrams and its echo: all but the first few, which find out
    where the other side's queue pair is."""
    return all(count - before[name] >= 180 for name, count in counters.items())


def run_pair(server, client, words, rxe):
    """udpong sends each message again every millisecond until its echo is there. A guest that takes
    longer has ever more to echo and never comes to the end, so it may be begun three times."""
    attempts = 3 if words[0].startswith(DATAGRAMS) else 1
    return any(run_once(server, client, words, rxe) for _ in range(attempts))


def run_once(server, client, words, rxe):
    serves_on = words[0].startswith(DATAGRAMS)
    before = rxe.counters()
    begin = time.monotonic()
    addresses = {"server": server.address, "client": client.address}
    serving = server.start(words[0].format(**addresses))
    server.wait_until_serves(words[0])
    calling = client.start(words[1].format(**addresses))
    status, output = client.end(calling)
    served, said = server.end(serving, serves_on)
    right = status == 0 and served == 0
    if serves_on and not went_by_queue_pair(rxe.counters(), before):
        right = False
        output += f"rxe did not carry them: {before}, then {rxe.counters()}\n"
    print(f"{'ok' if right else 'FAILED'}  {client.name} -> {server.name}  {words[0].split()[0]}  "
          f"{time.monotonic() - begin:.1f} s")
    if not right:
        print(f"client, exit status {status}:\n{output}\nserver, exit status {served}:\n{said}")
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="", metavar="TEXT")
    arguments = parser.parse_args()
    found = [shutil.which(program) for program in PROGRAMS]
    if None in found:
        lab.skip("no rping, ucmatose, udaddy, udpong or rstream (package rdmacm-utils)")
    own_address = arguments.build / "tests" / "vm" / "own_address.so"
    if not os.environ.get("GDR_VM_PRIVATE"):
        lab.prepare(arguments.build, [*found, own_address])
    lab.enter_private_namespaces()
    interop.make_tap()
    nic = ("-netdev", "tap,id=net,ifname=tap0,script=no,downscript=no",
           "-device", "virtio-net-pci,netdev=net")
    failures = 0
    with lab.Guest(arguments.build / "vm", nic) as guest:
        guest.check(f"/lab/tap_end.sh {GUEST}")
        rxe = ends.GuestEnd(guest, "rxe", "rxe0", GUEST)
        sides = (Host(arguments.build / "bin" / "gdr"), Kernel(guest, own_address.name))
        for words in PAIRS:
            for client, server in (sides, sides[::-1]):
                if arguments.only in f"{client.name} -> {server.name}  {words[0]}":
                    failures += not run_pair(server, client, words, rxe)
        complaints = guest.complaints()
        if complaints:
            raise lab.Failure(f"the guest's kernel complains:\n{complaints}")
    if failures:
        raise lab.Failure(f"{failures} pairs failed")
    print("all right")


if __name__ == "__main__":
    lab.run_to_the_end(main)

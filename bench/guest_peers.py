#!/usr/bin/env python3
"""guest_peers.py BUILD [--rounds N] [--only TEXT]: the software NIC's packets beside the kernel's rxe.

ib_write_bw between two rxe devices, then between two software NICs, over one pair of virtual
Ethernet devices in the guest of tests/vm, whose processors QEMU emulates: figures are recorded, and
no test is made of them. BUILD is a folder with bin/gdr; with bin/bare_udp (preset bench) that runs,
too: the same packets and CRC through the kernel's UDP, and nothing around them. They take turns in
each round, and only one is there at a time, since each wants UDP port 4791. A run counts if its bytes
were seen on the pair and, of rxe and the software NIC, its packets by the counters of both ends: over
shared memory there are none. The emulator wants two processors for itself: a run beside which other
programs of this machine worked is done again.

What the emulator makes of an instruction is not what it costs in hardware, so there is a guest for
each of ARRANGEMENTS. --only leaves out cases and arrangements that do not have TEXT in their line.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import time

from rounds import MIB, SUBJECT, bare_figure, perftest_column, print_claims, print_table

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "vm"))
import ends  # noqa: E402
import lab  # noqa: E402

PEER = "rxe"
BARE = "bare UDP"
AIM = 2.0
CLIENT, SERVER = "10.8.0.1", "10.8.0.2"  # of w0 and w1, tests/vm/guest/veth_pair.sh
PORT = 19000
ATTEMPTS = 40
FOR_OTHERS = 0.15  # of a processor, the machine's own housekeeping included
PATIENCE = 300  # seconds, until they are quiet
BYTES = 128 << 20  # of a run
PATH_MTU = {4200: 4096, 1500: 1024}
SIZES = {"64 KiB": 64 << 10, "1 MiB": 1 << 20}
CLOCK_UNKNOWN = re.compile("Conflicting CPU frequency|Correlation coefficient")
CASES = [(mtu, size) for mtu in PATH_MTU for size in SIZES]

# QEMU's processor, and what rxe computes its CRC with. The software NIC takes PCLMULQDQ where the
# processor has it. That instruction is a loop over bits in QEMU, and slower than a table; "rep movsb"
# (ERMS), by which the kernel and the C library then copy, is a loop over bytes.
ARRANGEMENTS = {
    "the lab's guest: CRC of rxe by table, of gdrkit by PCLMULQDQ": ("max", "crc32_generic"),
    "both CRCs by PCLMULQDQ": ("max", "crc32-pclmul"),
    "both CRCs by table": ("max,pclmulqdq=off", "crc32_generic"),
    "both CRCs by table, copies by words": ("max,pclmulqdq=off,erms=off", "crc32_generic"),
}


def ib_write_bw(size):
    return f"ib_write_bw -u 16 -s {size} -n {BYTES // size}"


def write_figure(said):
    """Nothing where perftest could not tell how fast the processor's clock is, because the machine was
    busy elsewhere: then it has no figure, or a wrong one."""
    return None if CLOCK_UNKNOWN.search(said) else perftest_column(3, MIB)(said)


class Rxe:
    name = PEER
    figure = staticmethod(write_figure)

    def __init__(self, guest):
        self._guest = guest
        guest.check("/lab/rxe_pair.sh up")
        self._ends = {CLIENT: ends.GuestEnd(guest, PEER, "rxa", CLIENT),
                      SERVER: ends.GuestEnd(guest, PEER, "rxb", SERVER)}

    def command(self, address, size, _):
        end = self._ends[address]
        return f"{ib_write_bw(size)} -d {end.device} -x {end.gid}"

    def packets(self):
        """Sent by the client, received by the server."""
        return (self._ends[CLIENT].counters()["sent"], self._ends[SERVER].counters()["received"])

    def close(self):
        self._guest.check("/lab/rxe_pair.sh down")


class SoftNic:
    name = SUBJECT
    figure = staticmethod(write_figure)

    def __init__(self, guest):
        self._guest = guest

    def command(self, address, size, _):
        # Both are on one host, which otherwise has no need of packets.
        return (f"GDR_SOFT_DEVICES=soft0/ip={address} GDR_SOFT_PATH=packets "
                f"GDR_SOFT_COUNTERS=/tmp/{address} "
                f"gdr run --soft-nic --no-soft-gpu -- {ib_write_bw(size)} -d soft0 -x 0")

    def packets(self):
        return (self._counters(CLIENT).get("packets_sent", 0),
                self._counters(SERVER).get("packets_received", 0))

    def close(self):
        pass

    def _counters(self, address):
        status, said = self._guest.run(f"[ -e /tmp/{address} ] && gdr counters --json /tmp/{address}")
        return json.loads(said)["sources"][0]["counters"] if status == 0 else {}


class BareUdp:
    """Checks each packet itself, and counts none."""
    name = BARE
    figure = staticmethod(bare_figure)

    def __init__(self, _):
        pass

    def command(self, address, size, mtu):
        return (f"bare_udp stream --even off --size {size} --packet {PATH_MTU[mtu]} "
                f"-n {BYTES // size} --bind {address}")

    def packets(self):
        return ()

    def close(self):
        pass


class Neighbours:
    """What other processes of this machine than the guest did since it was made."""

    def __init__(self, guest):
        self._guest = guest
        self._before, self._began = self._seconds(), time.monotonic()

    def share(self):
        """Of a processor."""
        return (self._seconds() - self._before) / (time.monotonic() - self._began)

    def _seconds(self):
        with open("/proc/stat", encoding="ascii") as lines:
            user, nice, system, _, _, irq, softirq, stolen = (
                int(word) for word in lines.readline().split()[1:9])
        busy = (user + nice + system + irq + softirq + stolen) / os.sysconf("SC_CLK_TCK")
        return busy - self._guest.processor_seconds()


def wait_for_quiet(guest):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        neighbours = Neighbours(guest)
        time.sleep(0.5)
        if neighbours.share() < FOR_OTHERS:
            return


def bytes_on_the_pair(guest):
    return int(guest.check("cat /sys/class/net/w0/statistics/tx_bytes"))


def run_pair(guest, side, mtu, size):
    """What the client printed."""
    def command(address):
        return f"{side.command(address, size, mtu)} -p {PORT}"

    serving = guest.start(command(SERVER))
    status, _ = guest.run(f"/lab/listens.sh {PORT}", 15)
    if status != 0:
        raise lab.Failure(f"{side.name}: the server does not listen: {serving.wait(0)[1]}")
    status, said = guest.run(f"{command(CLIENT)} {SERVER}")
    server_status, server_said = serving.wait(5)
    if (status != 0 or server_status != 0) and not CLOCK_UNKNOWN.search(said + server_said):
        raise lab.Failure(f"{side.name}: client {status}, server {server_status}:\n{said}{server_said}")
    return said


def measure(guest, side, mtu, size):
    """MB/s."""
    for _ in range(ATTEMPTS):
        wait_for_quiet(guest)
        crossed, packets = bytes_on_the_pair(guest), side.packets()
        neighbours = Neighbours(guest)
        said = run_pair(guest, side, mtu, size)
        busy = neighbours.share()
        crossed = bytes_on_the_pair(guest) - crossed
        moved = [after - before for before, after in zip(packets, side.packets())]
        if crossed < BYTES or any(count < BYTES // PATH_MTU[mtu] for count in moved):
            raise lab.Failure(f"{side.name}: {BYTES} bytes were written, but {crossed} crossed the "
                              f"link, in {moved} packets sent and received")
        figure = side.figure(said)
        if figure and busy < FOR_OTHERS:
            return figure
    raise lab.Failure(f"{side.name}: no figure in {ATTEMPTS} attempts; at the last one others used "
                      f"{busy:.2f} processors, and it said:\n{said}")


def run_round(guest, sides, cases, found):
    for make in sides:
        side = make(guest)
        for case, (mtu, size) in cases.items():
            guest.check(f"ip link set w0 mtu {mtu}; ip link set w1 mtu {mtu}")
            figure = measure(guest, side, mtu, SIZES[size])
            print(f"{side.name}, {case}: {figure:.4g}", file=sys.stderr, flush=True)
            found[case][side.name].append(figure)
        side.close()


def run_rounds(folder, arrangement, sides, cases, rounds):
    cpu, crc = ARRANGEMENTS[arrangement]
    found = {case: {side.name: [] for side in sides} for case in cases}
    with lab.Guest(folder, ("-nic", "none"), cpu) as guest:
        guest.check(f"modprobe {crc}; /lab/veth_pair.sh; /lab/rxe_pair.sh down")
        for turn in range(rounds):
            run_round(guest, sides, cases, found)
            print(f"round {turn + 1} of {rounds}", file=sys.stderr, flush=True)
        complaints = guest.complaints()
    if complaints:
        raise lab.Failure(f"the guest's kernel complains:\n{complaints}")
    return found


def cases_of(arrangement, only):
    lines = {f"MTU {mtu}, {size} write, {arrangement} [MB/s]": (mtu, size) for mtu, size in CASES}
    return {line: case for line, case in lines.items() if only in line}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="the folder of a build")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="", metavar="TEXT")
    options = parser.parse_args()
    bare = options.build / "bin" / "bare_udp"
    folder = lab.prepare(options.build, [bare] if bare.exists() else [])
    sides = [SoftNic, Rxe, BareUdp] if bare.exists() else [SoftNic, Rxe]
    found = {}
    for arrangement in ARRANGEMENTS:
        cases = cases_of(arrangement, options.only)
        if cases:
            found.update(run_rounds(folder, arrangement, sides, cases, options.rounds))
    print_table(found)
    print_claims(found, [(case, PEER, ">=", AIM) for case in found])


if __name__ == "__main__":
    lab.run_to_the_end(main)

#!/usr/bin/env python3
"""capture.py BUILD: writes tests/unit/wire/golden/rxe_packets.txt anew: packets of the Linux kernel's
rxe of every kind it sends, each a line with its name and a line with the IP packet from its first
byte to the ICRC. The unit tests hold our own packet formats and ICRC against them."""
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import lab  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GOLDEN = HERE.parents[1] / "unit" / "wire" / "golden" / "rxe_packets.txt"
SYNDROMES = {0x60: "nak-sequence", 0x61: "nak-invalid-request", 0x62: "nak-access",
             0x63: "nak-operation"}


def headers(packet):
    """Offsets of the UDP header and of the BTH."""
    udp = 20 if packet[0] >> 4 == 4 else 40
    return udp, udp + 8


def icrc(packet):
    """IBTA annex A17.3.4: what may change on the way counts as ones."""
    udp, bth = headers(packet)
    masked = bytearray(packet[:-4])
    if udp == 20:
        ones = [1, 8, 10, 11]  # type of service, time to live, header checksum
    else:
        masked[0] |= 0x0F  # traffic class, flow label, hop limit
        ones = [1, 2, 3, 7]
    for offset in [*ones, udp + 6, udp + 7, bth + 4]:  # UDP checksum; BTH's FECN, BECN, reserved
        masked[offset] = 0xFF
    return zlib.crc32(b"\xff" * 8 + masked)


def name_of(name, packet):
    _, bth = headers(packet)
    if packet[bth] != 0x11:
        return name
    syndrome = packet[bth + 12]
    return name + " " + (SYNDROMES.get(syndrome) or ("rnr-nak" if syndrome >> 5 == 1 else "ack"))


def worth_keeping(name, packet):
    """Of the packets under loss only those that loss brings about."""
    return "loss" not in name or "nak" in name_of(name, packet)


def collect(guest, program):
    output = ""
    for family in (4, 6):
        output += guest.check(f"{program} {family}")
        guest.check("tc qdisc add dev w0 root netem loss 20%")
        output += guest.check(f"{program} {family} lossy")
        guest.check("tc qdisc del dev w0 root")
    lines = output.splitlines()
    return [(name[2:], bytes.fromhex(packet)) for name, packet in zip(lines[::2], lines[1::2])]


def main():
    with tempfile.TemporaryDirectory(prefix="gdr-vm-") as work:
        program = pathlib.Path(work) / "rxe_packets"
        subprocess.run(["c++", "-std=c++20", "-O1", "-o", program,
                        "-I", HERE.parents[1] / "support", HERE / "rxe_packets.cc", "-libverbs"], check=True)
        guest = lab.Guest.boot(sys.argv[1], [program])
    kept = {}
    with guest:
        guest.check("/lab/veth_pair.sh")
        for name, packet in collect(guest, "rxe_packets"):
            if struct.unpack("<I", packet[-4:])[0] != icrc(packet):
                raise lab.Failure(f"{name}: the ICRC is not as expected: {packet.hex()}")
            if worth_keeping(name, packet):
                kept.setdefault(name_of(name, packet), packet)
    GOLDEN.parent.mkdir(parents=True, exist_ok=True)
    with open(GOLDEN, "w", encoding="ascii") as golden:
        for name, packet in kept.items():
            golden.write(f"# {name}\n{packet.hex()}\n")
    kinds = {name.split()[0] for name in kept}
    print(f"{len(kept)} packets of {len(kinds)} kinds from kernel {guest.kernel} in {GOLDEN}")


if __name__ == "__main__":
    lab.run_to_the_end(main)

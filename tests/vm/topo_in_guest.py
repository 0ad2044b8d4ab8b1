#!/usr/bin/env python3
"""topo_in_guest.py BUILD: gdr topo on PCI trees that are laid out on purpose. In a guest with two NUMA
nodes, three PCI expander bridges, root ports and a switch below a switch, every pair of network
cards must get the grade that its place in the layout has."""
import json
import sys
import time

import lab
from lab import expect

# Network cards by the last byte of their MAC address, and below which port each is plugged in.
CARDS = {
    "a": "bus=near",
    "b": "bus=beside",
    "c": "bus=far",
    "d": "bus=other-port",
    "e": "bus=other-bridge",
    "f": "bus=other-node,addr=0.0,multifunction=on",
    "g": "bus=other-node,addr=0.1",
}

EXPECTED = """
       a     b     c     d     e     f     g
  a    X   PIX   PXB   PHB  NODE   SYS   SYS
  b  PIX     X   PXB   PHB  NODE   SYS   SYS
  c  PXB   PXB     X   PHB  NODE   SYS   SYS
  d  PHB   PHB   PHB     X  NODE   SYS   SYS
  e NODE  NODE  NODE  NODE     X   SYS   SYS
  f  SYS   SYS   SYS   SYS   SYS     X   PIX
  g  SYS   SYS   SYS   SYS   SYS   PIX     X
"""


def mac(card):
    return f"52:54:00:00:00:{ord(card):02x}"


def qemu_arguments():
    """Expander bridges, since QEMU's first host bridge belongs to no NUMA node."""
    words = []
    for node in (0, 1):
        words += ["-object", f"memory-backend-ram,id=memory{node},size=512M",
                  "-numa", f"node,nodeid={node},cpus={node},memdev=memory{node}"]
    for name, number, node in (("first", 0x40, 0), ("second", 0x60, 0), ("third", 0x80, 1)):
        words += ["-device",
                  f"pxb-pcie,id={name},bus=pcie.0,bus_nr={number},numa_node={node}"]
    ports = (("pcie-root-port", "root", "first"), ("x3130-upstream", "outer", "root"),
             ("xio3130-downstream", "near", "outer"), ("xio3130-downstream", "beside", "outer"),
             ("xio3130-downstream", "deeper", "outer"), ("x3130-upstream", "inner", "deeper"),
             ("xio3130-downstream", "far", "inner"), ("pcie-root-port", "other-port", "first"),
             ("pcie-root-port", "other-bridge", "second"),
             ("pcie-root-port", "other-node", "third"))
    for number, (kind, name, below) in enumerate(ports):
        place = "" if kind == "x3130-upstream" else f",chassis={number + 1},slot={number}"
        # A bus has a slot for each port; without a number QEMU takes the next.
        words += ["-device", f"{kind},id={name},bus={below}{place}"]
    for card, place in CARDS.items():
        words += ["-device", f"virtio-net-pci,mac={mac(card)},romfile=,{place}"]
    return words


def addresses(guest):
    """The card's PCI address by its letter, from the MAC address that only QEMU gave it."""
    lines = guest.check("for n in /sys/class/net/*; do "
                        "[ ! -e $n/device ] || echo $(cat $n/address) "
                        "$(basename $(readlink -f $n/device/..)); done")
    found = dict(line.split() for line in lines.splitlines())
    return {card: found[mac(card)] for card in CARDS}


def topo(guest, places):
    words = " ".join(f"--device {place}" for place in places)
    return json.loads(guest.check(f"gdr topo --json {words}"))


def grades_are_as_laid_out(guest):
    places = addresses(guest)
    document = topo(guest, places.values())
    rows = [line.split() for line in EXPECTED.strip().splitlines()]
    labels = {device["pci_address"]: device["label"] for device in document["devices"]}
    expect(sorted(labels) == sorted(places.values()), labels)
    for letter, *grades in rows[1:]:
        found = document["matrix"][labels[places[letter]]]
        for other, grade in zip(rows[0], grades):
            got = found[labels[places[other]]]
            expect(got == grade, f"{letter} and {other}: {got}, not {grade}")
    print(f"ok  {len(rows) - 1} x {len(rows) - 1} grades as laid out: PIX, PXB, PHB, NODE, SYS")
    expect(document["virtual_machine"] and not document["flat"] and not document["reliable"],
           "a guest whose devices have ports above them is virtual, and not flat")
    expect([word for word in document["warnings"] if word.startswith("virtual machine")],
           document["warnings"])
    nodes = {device["pci_address"]: device["numa_node"] for device in document["devices"]}
    expect([nodes[places[card]] for card in "aceg"] == [0, 0, 0, 1], nodes)
    print("ok  tagged as virtual, not as flat")


def draws_the_switches(guest):
    places = addresses(guest)
    text = guest.check(f"gdr topo --tree --device {places['b']} --device {places['c']}")
    lines = [line for line in text.splitlines() if "switch" in line]
    expect(len(lines) == 2 and "root port" in lines[0] and "root port" not in lines[1],
           f"not one switch below the other:\n{text}")
    print("ok  one switch below the other")


def says_that_there_is_nothing(guest):
    text = guest.check("gdr topo")
    expect("No NVIDIA GPU and no RDMA NIC" in text and "/sys/class/infiniband: 0" in text, text)
    print("ok  no GPU and no NIC, said plainly")


def main():
    start = time.monotonic()
    with lab.Guest.boot(sys.argv[1], qemu=qemu_arguments()) as guest:
        grades_are_as_laid_out(guest)
        draws_the_switches(guest)
        says_that_there_is_nothing(guest)
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    lab.run_to_the_end(main)

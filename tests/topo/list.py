#!/usr/bin/env python3
"""list.py GDR: gdr list on a small machine of our own, as a folder and as an archive; on this
machine, with the stand-ins that take the place of what it lacks; wrong use."""

import json
import os
import pathlib
import struct
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from captured_root import CapturedRoot
from gdr_program import expect, expect_refused, expect_told_of_full_disk, output_of, run


def text_of(*words):
    return output_of("list", *words)


def line_with(text, part):
    found = [line for line in text.splitlines() if part in line]
    expect(len(found) == 1, f"{len(found)} lines with '{part}' in:\n{text}")
    return found[0]


def product_data(name, fields):
    """Vital Product Data: the card's name, and fields of two letters."""
    inner = b"".join(key + bytes([len(value)]) + value for key, value in fields)
    return (b"\x82" + struct.pack("<H", len(name)) + name + b"\x90" + struct.pack("<H", len(inner))
            + inner + b"\x78")


class Machine(CapturedRoot):
    """A GPU and a dual-port RoCE card of which one port is down, each right below a root port."""

    def __init__(self, root):
        super().__init__(root)
        bus = "sys/devices/pci0000:00"
        gpu, nic = f"{bus}/0000:00:01.0/0000:01:00.0", f"{bus}/0000:00:02.0/0000:02:00.0"
        for port in ("1", "2"):
            self.function(f"{bus}/0000:00:0{port}.0", "0x8086", "0x060400", speed="16.0 GT/s PCIe")
        self.function(gpu, "0x10de", "0x030200", speed="16.0 GT/s PCIe")
        self.function(nic, "0x15b3", "0x020000", speed="16.0 GT/s PCIe")
        (root / nic / "vpd").write_bytes(product_data(
            b"ConnectX-6 Dx EN adapter card, 100GbE, dual-port QSFP56",
            [(b"PN", b"MCX623106AN-CDAT"), (b"SN", b"MT2017X12345")]))
        self.link("sys/class/infiniband/mlx5_0/device", nic)
        self.line("sys/class/infiniband/mlx5_0/fw_ver", "22.38.1002")
        self.line("sys/class/infiniband/mlx5_0/board_id", "MT_0000000359")
        self.port("1", "4: ACTIVE", "ens1f0np0", "b8:ce:f6:00:00:01")
        self.port("2", "1: DOWN", "ens1f1np1", "b8:ce:f6:00:00:02")
        self.line("sys/module/nvidia/version", "580.95.05")
        self.link(f"{gpu}/driver", "sys/bus/pci/drivers/nvidia")
        (root / "sys/bus/pci/drivers/nvidia").mkdir(parents=True)

    def port(self, number, state, netdev, mac):
        port = f"sys/class/infiniband/mlx5_0/ports/{number}"
        for name, text in (("state", state), ("rate", "100 Gb/sec (2X HDR)"),
                           ("link_layer", "Ethernet"),
                           ("gids/0", f"fe80:0000:0000:0000:bace:f6ff:fe00:000{number}"),
                           ("gids/1", f"0000:0000:0000:0000:0000:ffff:0a00:000{number}"),
                           ("gid_attrs/types/0", "RoCE v2"), ("gid_attrs/types/1", "RoCE v2"),
                           ("gid_attrs/ndevs/0", netdev), ("gid_attrs/ndevs/1", netdev)):
            self.line(f"{port}/{name}", text)
        self.line(f"sys/class/net/{netdev}/address", mac)


def every_name(root):
    said = text_of("--root", root)
    for part in ("NVIDIA", "0000:01:00.0", "16 GT/s x16", "nvidia 580.95.05"):
        expect(part in line_with(said, "GPU0"), said)
    first = line_with(said, "ens1f0np0")
    for part in ("NIC0", "mlx5_0", "0000:02:00.0", "b8:ce:f6:00:00:01", "ACTIVE",
                 "100 Gb/sec  Ethernet", "22.38.1002", "MCX623106AN-CDAT", "ConnectX-6 Dx EN",
                 "0 RoCE v2 fe80::bace:f6ff:fe00:1, 1 RoCE v2 10.0.0.1"):
        expect(part in first, f"no '{part}' in: {first}")
    expect("DOWN" in line_with(said, "ens1f1np1"), said)
    expect("MT2017X12345" not in said, "a serial number")
    document = json.loads(text_of("--root", root, "--json"))
    expect([port["netdev"] for port in document["ports"]] == ["ens1f0np0", "ens1f1np1"], document)
    expect(document["ports"][0]["board_id"] == "MT_0000000359", document["ports"][0])
    expect(document["ports"][0]["gids"][1] == {
        "index": 1, "type": "RoCE v2", "gid": "0000:0000:0000:0000:0000:ffff:0a00:0001",
        "address": "10.0.0.1", "netdev": "ens1f0np0"}, document["ports"][0]["gids"])
    expect("MT2017X12345" not in json.dumps(document), "a serial number")
    topology = run("topo", "--root", root).stdout
    for part in ("ens1f0np0", "ConnectX-6 Dx EN adapter card", "MCX623106AN-CDAT"):
        expect(part in topology, f"gdr topo does not say which card is which: {topology}")


def archives(root, work):
    plain = text_of("--root", root).splitlines()[1:]
    for kind in ("", ":gz", ":bz2", ":xz"):
        archive = work / f"host.tar{kind.replace(':', '.')}"
        with tarfile.open(archive, "w" + kind) as tar:
            tar.add(root, arcname="host")
        expect(text_of("--root", archive).splitlines()[1:] == plain, f"{archive} says another thing")
        expect(str(archive) in text_of("--root", archive).splitlines()[0], "which machine?")
    capture = work / "capture.tar"
    expect(run("doctor", "capture", "--root", root, capture).returncode == 0, "no capture")
    captured = text_of("--root", capture)
    expect("MCX623106AN-CDAT" in captured, f"the capture lost the card's name: {captured}")
    expect(b"MT2017X12345" not in capture.read_bytes(), "a serial number is in the capture")


def this_machine():
    document = json.loads(text_of("--json"))
    expect(document["live"] is True, document)
    made = {entry["made"] for entry in document["gpus"] + document["ports"]}
    expect(made <= {"hardware", "software", "gdrkit stand-in"}, made)
    expect(document["gpus"] and document["ports"], "neither hardware nor a stand-in")
    expect("gdrkit stand-in" not in made or "gdrkit stand-in" in text_of(), "not said in the text")


def stand_ins():
    done = run("list", "--soft", "--json",
               env=dict(os.environ, GDR_SOFT_DEVICES="rail0,rail1", GDR_SOFT_GPUS="3"))
    expect(done.returncode == 0, done.stderr)
    document = json.loads(done.stdout)
    gpus = [gpu for gpu in document["gpus"] if gpu["made"] == "gdrkit stand-in"]
    ports = [port for port in document["ports"] if port["made"] == "gdrkit stand-in"]
    expect(len(gpus) == 3 and all(gpu["label"] is None for gpu in gpus), document["gpus"])
    expect([port["rdma_name"] for port in ports] == ["rail0", "rail1"], ports)
    for port in ports:
        expect(port["driver"] == "gdrkit" and port["state"] == "ACTIVE" and port["rate_gb_s"] > 0,
               port)
        expect(port["gids"] and all(gid["gid"] and gid["type"] for gid in port["gids"]), port)


def wrong_use(root, work):
    (work / "text").write_text("no archive, a text of some length, which is read and refused\n" * 20)
    for words, part in ((["--jsn"], "unknown option '--jsn'; did you mean '--json'?"),
                        (["extra"], "extra"), (["--soft", "--root", root], "--soft works on this"), (["--root", ""], "the value is empty"),
                        (["--root", work / "missing"], "no folder"),
                        (["--root", work / "text"], "is not a readable tar archive"),
                        (["--root", root, "--lspci", "x"], "exclude"),
                        (["--nccl-xml", work / "missing.xml"], "missing.xml")):
        expect_refused(["list", *words], part)
    for words in ([], ["--json"]):
        expect_told_of_full_disk("list", "--root", root, *words)


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    machine = place / "machine"
    Machine(machine)
    every_name(machine)
    archives(machine, place)
    this_machine()
    stand_ins()
    wrong_use(machine, place)

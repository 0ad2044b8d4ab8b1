#!/usr/bin/env python3
"""command.py GDR: gdr topo on a small machine of our own: options, wrong use, JSON, the drawing."""

import json
import pathlib
import sys
import tempfile
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from captured_root import CapturedRoot
from gdr_program import expect, expect_refused, expect_told_of_full_disk, output_of, run


def text_of(*words):
    return output_of("topo", *words)


def refused(words, part):
    expect_refused(["topo", *words], part)


class Machine(CapturedRoot):
    """A captured root: one switch with a GPU and a NIC, a GPU and a drive on ports of their own."""

    def __init__(self, root):
        super().__init__(root)
        bus = "sys/devices/pci0000:00"
        near = f"{bus}/0000:00:01.0/0000:01:00.0"
        self.function(f"{bus}/0000:00:01.0", "0x8086", "0x060400")
        self.function(near, "0x1000", "0x060400")
        self.function(f"{near}/0000:02:00.0", "0x1000", "0x060400")
        self.function(f"{near}/0000:02:01.0", "0x1000", "0x060400")
        self.function(f"{near}/0000:02:00.0/0000:03:00.0", "0x10de", "0x030200")
        nic = f"{near}/0000:02:01.0/0000:04:00.0"
        self.function(nic, "0x15b3", "0x020700")
        self.function(f"{bus}/0000:00:02.0", "0x8086", "0x060400")
        self.function(f"{bus}/0000:00:02.0/0000:05:00.0", "0x10de", "0x030200")
        self.function(f"{bus}/0000:00:03.0", "0x8086", "0x060400")
        self.function(f"{bus}/0000:00:03.0/0000:06:00.0", "0x144d", "0x010802")
        device = "sys/class/infiniband/mlx5_0"
        self.link(f"{device}/device", nic)
        self.line(f"{device}/fw_ver", "28.39.1002")
        self.line(f"{device}/ports/1/state", "4: ACTIVE")
        self.line(f"{device}/ports/1/rate", "400 Gb/sec (4X NDR)")
        self.line(f"{nic}/net/ib0/dev_port", "0")
        self.line("sys/class/net/ib0/address", "b8:3f:d2:00:00:01")


def text(root):
    said = text_of("--root", root)
    for part in (f"captured: {root}", "GPU0     X      PHB     PIX", "Best NIC for each GPU",
                 "b8:3f:d2:00:00:01", "  NIC0: mlx5_0", "NV#  = "):
        expect(part in said, f"no '{part}' in:\n{said}")
    said = text_of("--root", root, "--device", "06:00.0")
    expect("DEV0    PHB     PHB     PHB      X" in said, said)


def tree(root):
    said = text_of("--root", root, "--tree")
    expect("─ switch 01:00.0" in said and "GPU0 03:00.0" in said, said)
    expect("06:00.0" not in said and "06:00.0" in text_of("--root", root, "--tree", "--all"),
           "the drive is there with --all alone")


def document(root):
    said = json.loads(text_of("--root", root, "--json"))
    fields = ("schema tool version commit host date origin live looked_at product virtual_machine virtual_by flat "
              "reliable warnings notes unseen verdict devices software_nics unsupported matrix pairs "
              "nccl best tree")
    expect(list(said) == fields.split(), list(said))
    expect(said["matrix"]["GPU0"]["NIC0"] == "PIX" and not said["live"], said)
    expect([choice["nic"] for choice in said["best"]] == ["NIC0", "NIC0"], said["best"])


def drawing(root, work):
    files = work / "topo.svg", work / "all.svg", work / "topo.json"
    text_of("--root", root, "--report", files[0])
    text_of("--root", root, "--report", files[1], "--report", files[2], "--all")
    expect(json.loads(files[2].read_text())["tool"] == "gdr topo", "no document beside the drawing")
    for file in files[:2]:
        image = xml.fromstring(file.read_text())
        expect(image.tag == "{http://www.w3.org/2000/svg}svg", image.tag)
        words = [text.text for text in image.iter("{http://www.w3.org/2000/svg}text")]
        expect("NIC0  04:00.0" in words and "PIX good" in words, words)
        expect(not list(image.iter("{http://www.w3.org/2000/svg}script")), "a script")
    done = run("topo", "--root", root, "--report", work / "missing" / "topo.svg")
    expect(done.returncode == 1 and "cannot write" in done.stderr, done)


def wrong_use(root, work):
    refused(["--device", "nvme0", "--root", root],
            "--device: 'nvme0' is not a PCI address such as 0000:3b:00.0")
    refused(["--device", "0000:99:00.0", "--root", root], "no PCI function 0000:99:00.0")
    refused(["--device", "03:00.0", "--root", root], "already in the matrix, as a GPU")
    refused(["--device", "", "--root", root], "--device: the value is empty")
    refused(["--jsn"], "unknown option '--jsn'; did you mean '--json'?")
    refused(["--telepathy"], "unknown option '--telepathy'; allowed: --help, --device, --tree, --all")
    refused(["--all"], "--all needs --tree or --report FILE.svg")
    refused(["--all", "--report", work / "x.json"], "--all needs --tree or --report FILE.svg")
    refused(["--svg", "a.svg"], "unknown option '--svg'")
    refused(["--root", work / "missing"], "missing")
    refused(["--hwloc-xml", work / "missing.xml"], "missing.xml")
    refused(["--root", root, "--nccl-xml", "x"], "exclude")
    refused(["extra"], "extra")


def nothing(work):
    empty = work / "empty"
    (empty / "sys/bus/pci/devices").mkdir(parents=True)
    (empty / "proc").mkdir()
    for words in ([], ["--json"], ["--report", work / "empty.svg"]):
        refused(["--root", empty, *words], f"{empty} shows neither GPU nor NIC")
    (empty / "sys/class/infiniband/rxe0").mkdir(parents=True)
    said = text_of("--root", empty)
    expect("No NVIDIA GPU and no RDMA NIC" in said, said)
    expect(f"{empty}/sys/bus/pci/devices: 0 PCI functions" in said, said)
    expect(json.loads(text_of("--root", empty, "--json"))["devices"] == [], "devices of nothing")
    text_of("--root", empty, "--report", work / "empty.svg")
    xml.fromstring((work / "empty.svg").read_text())


def this_machine():
    expect("this machine" in text_of(), "not this machine")
    expect(json.loads(text_of("--json"))["live"] is True, "not live")


def output_that_cannot_be_written(root):
    for words in ([], ["--json"]):
        expect_told_of_full_disk("topo", "--root", root, *words)


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    machine = place / "machine"
    Machine(machine)
    text(machine)
    tree(machine)
    document(machine)
    drawing(machine, place)
    wrong_use(machine, place)
    nothing(place)
    this_machine()
    output_that_cannot_be_written(machine)

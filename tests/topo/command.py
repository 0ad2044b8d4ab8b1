#!/usr/bin/env python3
"""command.py GDR: gdr topo on a small machine of our own: options, wrong use, JSON, the drawing."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

gdr = sys.argv[1]


def topo(*words, **more):
    command = [gdr, "topo", *map(str, words)]
    return subprocess.run(command, capture_output=True, timeout=60, **more)


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def text_of(*words):
    done = topo(*words)
    expect(done.returncode == 0, f"{words}: exit status {done.returncode}: {done.stderr.decode()}")
    expect(done.stderr == b"", f"{words}: {done.stderr}")
    return done.stdout.decode()


def expect_refused(words, part):
    done = topo(*words)
    said = done.stderr.decode()
    expect(done.returncode == 2, f"{words}: exit status {done.returncode}, not 2")
    expect(done.stdout == b"", f"{words}: printed {done.stdout}")
    expect(said.count("\n") == 1 and part in said, f"{words}: no one line with '{part}': {said}")


class Machine:
    """A captured root: one switch with a GPU and a NIC, a GPU and a drive on ports of their own."""

    def __init__(self, root):
        self.root = root
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
        self.write(f"{device}/fw_ver", "28.39.1002")
        self.write(f"{device}/ports/1/state", "4: ACTIVE")
        self.write(f"{device}/ports/1/rate", "400 Gb/sec (4X NDR)")
        self.write(f"{nic}/net/ib0/dev_port", "0")
        self.write("sys/class/net/ib0/address", "b8:3f:d2:00:00:01")

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n")

    def link(self, path, target):
        link = self.root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(self.root / target, link.parent))

    def function(self, path, vendor, kind):
        for name, text in (("vendor", vendor), ("device", "0x1234"), ("class", kind),
                           ("numa_node", "0"), ("current_link_speed", "32.0 GT/s PCIe"),
                           ("max_link_speed", "32.0 GT/s PCIe"), ("current_link_width", "16"),
                           ("max_link_width", "16")):
            self.write(f"{path}/{name}", text)
        self.link(f"sys/bus/pci/devices/{os.path.basename(path)}", path)


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
    fields = ("schema tool version origin live looked_at product virtual_machine virtual_by flat "
              "reliable warnings notes unseen verdict devices software_nics unsupported matrix pairs "
              "nccl best tree")
    expect(list(said) == fields.split(), list(said))
    expect(said["matrix"]["GPU0"]["NIC0"] == "PIX" and not said["live"], said)
    expect([choice["nic"] for choice in said["best"]] == ["NIC0", "NIC0"], said["best"])


def drawing(root, work):
    file = work / "topo.svg"
    text_of("--root", root, "--svg", file)
    for data in (file.read_text(), text_of("--root", root, "--svg", "-", "--all")):
        image = xml.fromstring(data)
        expect(image.tag == "{http://www.w3.org/2000/svg}svg", image.tag)
        words = [text.text for text in image.iter("{http://www.w3.org/2000/svg}text")]
        expect("NIC0  04:00.0" in words and "PIX good" in words, words)
        expect(not list(image.iter("{http://www.w3.org/2000/svg}script")), "a script")
    done = topo("--root", root, "--svg", work / "missing" / "topo.svg")
    expect(done.returncode == 1 and b"cannot write" in done.stderr, done)


def wrong_use(root, work):
    expect_refused(["--device", "nvme0", "--root", root],
                   "--device: 'nvme0' is not a PCI address such as 0000:3b:00.0")
    expect_refused(["--device", "0000:99:00.0", "--root", root], "no PCI function 0000:99:00.0")
    expect_refused(["--device", "03:00.0", "--root", root], "already in the matrix, as a GPU")
    expect_refused(["--device", "", "--root", root], "--device: the value is empty")
    expect_refused(["--jsn"], "unknown option '--jsn'; allowed: --help, --device, --tree, --all")
    expect_refused(["--all"], "--all needs --tree or --svg")
    expect_refused(["--json", "--svg", "-"], "--svg - and --json exclude each other")
    expect_refused(["--root", work / "missing"], "missing")
    expect_refused(["--hwloc-xml", work / "missing.xml"], "missing.xml")
    expect_refused(["--root", root, "--nccl-xml", "x"], "exclude")
    expect_refused(["extra"], "extra")


def nothing(work):
    empty = work / "empty"
    (empty / "sys/bus/pci/devices").mkdir(parents=True)
    (empty / "proc").mkdir()
    for words in ([], ["--json"], ["--svg", "-"]):
        expect_refused(["--root", empty, *words], f"{empty} shows neither GPU nor NIC")
    (empty / "sys/class/infiniband/rxe0").mkdir(parents=True)
    said = text_of("--root", empty)
    expect("No NVIDIA GPU and no RDMA NIC" in said, said)
    expect(f"{empty}/sys/bus/pci/devices: 0 PCI functions" in said, said)
    expect(json.loads(text_of("--root", empty, "--json"))["devices"] == [], "devices of nothing")
    xml.fromstring(text_of("--root", empty, "--svg", "-"))


def this_machine():
    expect("this machine" in text_of(), "not this machine")
    expect(json.loads(text_of("--json"))["live"] is True, "not live")


def output_that_cannot_be_written(root):
    with open("/dev/full", "w", encoding="ascii") as full:
        for words in ([], ["--json"], ["--svg", "-"]):
            done = subprocess.run([gdr, "topo", "--root", root, *words], stdout=full,
                                  stderr=subprocess.PIPE, timeout=60, check=False)
            expect(done.returncode == 1, f"{words} to a full disk: {done.returncode}")
            expect(b"cannot write" in done.stderr, f"{words} to a full disk: {done.stderr}")


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

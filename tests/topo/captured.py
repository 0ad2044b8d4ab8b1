#!/usr/bin/env python3
"""captured.py GDR MACHINES: gdr topo on whole machines, in the form of each program."""

import fcntl
import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import termios
import xml.etree.ElementTree as xml

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gdr_program import expect, gdr, output_of

hosts = pathlib.Path(sys.argv[2])


def topo(*words):
    return output_of("topo", *words)


def document(*words):
    return json.loads(topo(*words, "--json"))


def table_of(text):
    """The matrix by row label, with the columns behind the cells, and the legend."""
    head, rest = text.split("\n\nLegend:\n\n", 1)
    lines = head[head.index("        GPU0"):].splitlines()
    columns = re.split(r"\s{2,}", lines[0].strip())
    rows = {}
    for line in lines[1:]:
        label, *cells = line.split()
        rows[label] = dict(zip(columns, cells))
    return rows, rest


def asus():
    """Every cell, and the legend's words, as the machine's own nvidia-smi printed them."""
    theirs, legend = table_of((hosts / "asus-esc8000a-e12.topo-m.txt").read_text())
    for source in (["--lspci", hosts / "asus-esc8000a-e12.lspci-tv.txt",
                    "--lspci", hosts / "asus-esc8000a-e12.lspci-vvv.txt"],
                   ["--hwloc-xml", hosts / "asus-esc8000a-e12.hwloc.xml"],
                   ["--root", hosts / "asus-esc8000a-e12.root"]):
        ours, our_legend = table_of(topo(*source))
        expect(list(ours) == list(theirs) and len(ours) == 8, f"{source}: rows: {list(ours)}")
        for label, row in theirs.items():
            expect(list(ours[label])[:8] == list(row)[:8], f"columns of {label}: {ours[label]}")
            for column, cell in row.items():
                if column == "CPU Affinity" and "--lspci" in source:
                    continue  # it does not know processors
                expect(ours[label][column] == cell,
                       f"{source}: {label}, {column}: {ours[label][column]}, not {cell}")
        expect(our_legend.startswith(legend[:legend.index("NIC Legend")]), "another legend")


def asus_processors():
    """Each GPU has the processors that numactl has for its node."""
    said = (hosts / "asus-esc8000a-e12.numactl.txt").read_text()
    nodes = {}
    for node, numbers in re.findall(r"^node (\d+) cpus: ([\d ]+)$", said, re.MULTILINE):
        numbers = [int(number) for number in numbers.split()]
        expect(len(numbers) == numbers[-1] - numbers[0] + 1, f"no range: {numbers}")
        nodes[node] = f"{numbers[0]}-{numbers[-1]}"
    expect(len(nodes) == 2, nodes)
    for source in (["--hwloc-xml", hosts / "asus-esc8000a-e12.hwloc.xml"],
                   ["--root", hosts / "asus-esc8000a-e12.root"]):
        rows, _ = table_of(topo(*source))
        for label in ("GPU0", "GPU1", "GPU2", "GPU3"):
            expect(rows[label]["CPU Affinity"] == nodes[rows[label]["NUMA Affinity"]], rows[label])


def hgx():
    """Each GPU beside its own ConnectX-7, and no two GPUs at one NIC."""
    for source in (["--lspci", hosts / "hgx-h100-dell.lspci-vvv.txt"],
                   ["--root", hosts / "hgx-h100-dell.root"]):
        hgx_by(document(*source))


def hgx_by(said):
    address = {device["label"]: device["pci_address"] for device in said["devices"]}
    pairs = {address[best["gpu"]][5:7]: address[best["nic"]][5:7] for best in said["best"]}
    expect(pairs == {"19": "1a", "3b": "3c", "4c": "4d", "5d": "5e", "9b": "9c", "bb": "bc",
                     "cb": "cc", "db": "dc"}, pairs)
    expect({best["quality"] for best in said["best"]} == {"good"}, said["best"])
    expect(not said["virtual_machine"] and said["reliable"], "not a virtual machine")


def p5():
    """Four EFA devices PIX to each GPU, and each GPU with another."""
    said = document("--hwloc-xml", hosts / "aws-p5.48xl.hwloc.xml")
    for gpu in (device["label"] for device in said["devices"] if device["kind"] == "gpu"):
        near = [pair for pair in said["pairs"] if pair["gpu"] == gpu and pair["path"] == "PIX"]
        expect(len(near) == 4, f"{gpu}: {len(near)} at PIX")
    expect(len({best["nic"] for best in said["best"]}) == 8, said["best"])
    expect(all(len(best["alike"]) == 3 for best in said["best"]), said["best"])


def p4d():
    """A flat tree says so everywhere; the provider's description of the same machine is better."""
    flat = hosts / "aws-p4d.24xl.hwloc.xml"
    said = document("--hwloc-xml", flat)
    expect(said["flat"] and not said["reliable"] and said["warnings"], "not flat")
    expect({best["quality"] for best in said["best"]} == {"unknown"}, said["best"])
    expect({best["path"] for best in said["best"]} == {"PHB"}, said["best"])
    for words in ([], ["--tree"]):
        text = topo("--hwloc-xml", flat, *words)
        expect("UNRELIABLE" in text and "--nccl-xml FILE" in text, text)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "flat.svg"
        topo("--hwloc-xml", flat, "--report", file)
        drawing = file.read_text()
    expect("unreliable" in drawing, "the drawing says nothing")
    xml.fromstring(drawing)
    truth = document("--nccl-xml", hosts / "aws-p4d.24xl.nccl.xml")
    expect(truth["reliable"] and {best["path"] for best in truth["best"]} == {"PIX"},
           truth["best"])


def every_form():
    """What programs show of one machine differs in form only: no cell depends on it."""
    cells = 0
    for machine, first, others in (
        ("hgx-h100-dell", ["--root", "root"],
         [["--lspci", "lspci-vvv.txt"], ["--lspci", "lspci-nnvvv.txt"],
          ["--lspci", "lspci-tv.txt", "--lspci", "lspci-vvv.txt"], ["--hwloc-xml", "hwloc.xml"]]),
        ("asus-esc8000a-e12", ["--root", "root"],
         [["--lspci", "lspci-tv.txt", "--lspci", "lspci-vvv.txt"], ["--hwloc-xml", "hwloc.xml"]]),
        ("aws-p5.48xl", ["--root", "root"], [["--hwloc-xml", "hwloc.xml"]]),
        ("aws-p4d.24xl", ["--root", "root"], [["--hwloc-xml", "hwloc.xml"]]),
        ("aws-g5.48xl", ["--root", "root"], [["--hwloc-xml", "hwloc.xml"]]),
    ):
        def seen(words):
            return document(*(word if word.startswith("--") else hosts / f"{machine}.{word}"
                              for word in words))

        known = seen(first)
        for words in others:
            said = seen(words)
            expect(said["matrix"] == known["matrix"], f"{machine}: {words} has another matrix")
            expect([(best["gpu"], best["nic"], best["path"]) for best in said["best"]] ==
                   [(best["gpu"], best["nic"], best["path"]) for best in known["best"]],
                   f"{machine}: {words} has other NICs for its GPUs: {said['best']}")
            cells += sum(map(len, said["matrix"].values()))
    expect(cells > 3000, f"{cells} cells are too few")


def nccl_dump():
    """NCCL keeps the switches and leaves out host bridges: what is PIX is so for it as well."""
    truth = document("--root", hosts / "hgx-h100-dell.root")["matrix"]
    said = document("--nccl-xml", hosts / "hgx-h100-dell.nccl.xml")["matrix"]
    expect(list(said) == list(truth), list(said))
    for row, columns in truth.items():
        for column, cell in columns.items():
            if row.startswith("GPU") and column.startswith("GPU") and row != column:
                expect(said[row][column] == "NV18", f"{row}, {column}: {said[row][column]}")
            elif "SYS" in (cell, said[row][column]) or "PIX" in (cell, said[row][column]):
                expect(said[row][column] == cell, f"{row}, {column}: {said[row][column]}")


def first_screen(*words):
    """The first 24 lines in a terminal of 80 columns."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = dict(os.environ, TERM="xterm", NO_COLOR="1")
    # Relative names, as somebody would type them: a long path would take lines of its own.
    with subprocess.Popen([gdr, "topo", *words], stdin=subprocess.DEVNULL, stdout=theirs, cwd=hosts,
                          env=environment) as running:
        os.close(theirs)
        text = b""
        while True:
            try:
                more = os.read(ours, 65536)
            except OSError:  # the terminal has no program any more
                break
            if not more:
                break
            text += more
        expect(running.wait(60) == 0, f"{words}: exit status {running.returncode}")
    os.close(ours)
    return text.decode().replace("\r\n", "\n").split("\n")[:24]


def first_screens():
    """The first line judges, a command says what to do, and every GPU's NIC is on the screen."""
    for words, verdict, command in (
        (["--root", "hgx-h100-dell.root"], "GOOD  all 8 GPUs share a PCIe switch", "gdr doctor"),
        (["--nccl-xml", "azure-ndv4.nccl.xml"], "GOOD  all 8 GPUs share", "gdr doctor"),
        (["--nccl-xml", "aws-p4d.24xl.nccl.xml"], "GOOD  all 8 GPUs share", "gdr doctor"),
        (["--root", "asus-esc8000a-e12.root"], "BAD  no GPU shares a PCIe switch with a NIC; ",
         "export NCCL_NET_GDR_LEVEL=PHB"),
        (["--root", "aws-p5.48xl.root"], "UNRELIABLE  virtual machine (", "gdr perf"),
        (["--root", "aws-g5.48xl.root"], "UNRELIABLE  flat virtual machine (", "gdr perf"),
        (["--hwloc-xml", "aws-p4d.24xl.hwloc.xml"], "UNRELIABLE  flat virtual machine (",
         "gdr perf"),
    ):
        screen = first_screen(*words)
        shown = "\n".join(screen)
        expect(screen[0].startswith(verdict), f"{words}: {shown}")
        commands = [line.strip() for line in screen if line.startswith("    ")]
        expect(command in commands, f"{words}: no command '{command}' in:\n{shown}")
        gpus = sum(label.startswith("GPU") for label in document(
            *(word if word.startswith("--") else hosts / word for word in words))["matrix"])
        for gpu in range(gpus):
            expect(re.search(f"^  GPU{gpu}  NIC", shown, re.MULTILINE), f"{words}: GPU{gpu}: {shown}")


def azure():
    """Two GPUs and two NICs in each group: each GPU has a NIC of its own, at PIX."""
    said = document("--nccl-xml", hosts / "azure-ndv4.nccl.xml")
    expect({best["path"] for best in said["best"]} == {"PIX"}, said["best"])
    expect(len({best["nic"] for best in said["best"]}) == 8, said["best"])


asus()
asus_processors()
hgx()
p5()
p4d()
first_screens()
azure()
every_form()
nccl_dump()

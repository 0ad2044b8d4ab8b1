#!/usr/bin/env python3
"""captured.py GDR HOSTS: gdr topo on captured machines, whose files are no part of the repository."""

import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as xml

gdr = sys.argv[1]
hosts = pathlib.Path(sys.argv[2])


def topo(*words):
    done = subprocess.run([gdr, "topo", *map(str, words)], capture_output=True, timeout=60,
                          check=False)
    expect(done.returncode == 0, f"{words}: {done.returncode}: {done.stderr.decode()}")
    return done.stdout.decode()


def document(*words):
    return json.loads(topo(*words, "--json"))


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


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
    capture = hosts / "asus-esc8000a-e12"
    theirs, legend = table_of(pathlib.Path(f"{capture}.topo-m.txt").read_text())
    said = topo("--lspci", f"{capture}.lspci-tv.txt", "--lspci", f"{capture}.lspci-vvv.txt")
    ours, our_legend = table_of(said)
    expect(list(ours) == list(theirs) and len(ours) == 8, f"rows: {list(ours)}")
    for label, row in theirs.items():
        expect(list(ours[label])[:8] == list(row)[:8], f"columns of {label}: {ours[label]}")
        for column, cell in row.items():
            if column == "CPU Affinity":
                continue  # lspci does not know processors
            expect(ours[label][column] == cell,
                   f"{label}, {column}: {ours[label][column]}, not {cell}")
    expect(our_legend.startswith(legend[:legend.index("NIC Legend")]), "another legend")


def hgx():
    """Each GPU beside its own ConnectX-7, and no two GPUs at one NIC."""
    said = document("--lspci", hosts / "hgx-h100-dell.lspci-vvv.txt")
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
    drawing = topo("--hwloc-xml", flat, "--svg", "-")
    expect("unreliable" in drawing, "the drawing says nothing")
    xml.fromstring(drawing)
    truth = document("--nccl-xml", hosts / "aws-p4d.24xl.nccl.xml")
    expect(truth["reliable"] and {best["path"] for best in truth["best"]} == {"PIX"},
           truth["best"])


def azure():
    """Two GPUs and two NICs in each group: each GPU has a NIC of its own, at PIX."""
    said = document("--nccl-xml", hosts / "azure-ndv4.nccl.xml")
    expect({best["path"] for best in said["best"]} == {"PIX"}, said["best"])
    expect(len({best["nic"] for best in said["best"]}) == 8, said["best"])


if not hosts.is_dir():
    print(f"skipped: no captured machines in {hosts}")
    sys.exit(77)
asus()
hgx()
p5()
p4d()
azure()

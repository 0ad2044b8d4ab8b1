#!/usr/bin/env python3
"""make.py FOLDER: writes every described machine in the forms that tests read.

FOLDER/<machine>.root/           /sys and /proc
FOLDER/<machine>.lspci-tv.txt    and so on: one file a form
"""

import pathlib
import shutil
import sys

from described import (asus_esc8000a_e12, aws_g5_48xl, aws_p4d_24xl, aws_p5_48xl, azure_ndv4,
                       hgx_h100_dell)
from formats import hwloc, lspci_tree, nccl, numactl, topo_matrix
from formats.lspci import Style, Verbose
from formats.sysfs import Root


def texts():
    """Each file's name, and what is in it."""
    asus = asus_esc8000a_e12.describe()
    verbose = Verbose(asus, Style((3, 9))).text(asus_esc8000a_e12.VERBOSE)
    yield f"{asus.name}.lspci-tv.txt", lspci_tree.text(asus)
    yield f"{asus.name}.lspci-vvv.txt", verbose.expandtabs(8)  # copied out of a terminal
    yield f"{asus.name}.numactl.txt", numactl.text(asus)
    yield f"{asus.name}.topo-m.txt", topo_matrix.text(
        4, asus_esc8000a_e12.NICS, asus_esc8000a_e12.CELLS,
        asus_esc8000a_e12.AFFINITY).expandtabs(8)
    yield f"{asus.name}.hwloc.xml", hwloc.text(asus)

    hgx = hgx_h100_dell.describe()
    yield f"{hgx.name}.lspci-vvv.txt", Verbose(hgx, Style((3, 7))).text()
    yield f"{hgx.name}.lspci-nnvvv.txt", Verbose(hgx, Style((3, 9), numbers=True)).text()
    yield f"{hgx.name}.lspci-tv.txt", lspci_tree.text(hgx)
    yield f"{hgx.name}.hwloc.xml", hwloc.text(hgx)
    yield f"{hgx.name}.nccl.xml", nccl.dump_text(hgx)

    for guest in (aws_p5_48xl, aws_p4d_24xl, aws_g5_48xl):
        machine = guest.describe()
        yield f"{machine.name}.hwloc.xml", hwloc.text(machine, system=False)
    yield "aws-p4d.24xl.nccl.xml", nccl.provider_text(aws_p4d_24xl.as_provider_sees_it())
    yield "azure-ndv4.nccl.xml", nccl.provider_text(azure_ndv4.as_provider_sees_it(),
                                                    numbers=False)


def main(folder):
    folder = pathlib.Path(folder)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, text in texts():
        (folder / name).write_text(text)
    for description in (asus_esc8000a_e12, hgx_h100_dell, aws_p5_48xl, aws_p4d_24xl, aws_g5_48xl):
        machine = description.describe()
        Root(machine, folder / f"{machine.name}.root").write()


main(sys.argv[1])

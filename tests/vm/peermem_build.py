#!/usr/bin/env python3
"""peermem_build.py BUILD: the build of our peer-memory module, without a guest: it uses no symbol for
GPL modules only; neither the compiler's further warnings, nor sparse, nor checkpatch find anything;
wrong input is one line; what is installed is taken back."""
import pathlib
import re
import shutil
import sys
import tempfile

import lab
from lab import expect
from peermem_modules import Modules, run

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "kernel"
# By symbols that only one of the driver's interfaces has.
APIS = {"open": "nvidia_p2p_get_pages_persistent", "580": "nvidia_p2p_get_pages_persistent",
        "515": "nvidia_p2p_cap_persistent_pages", "470": None}
# Two other modules' functions are declared in the file, since it has no headers of its own.
CHECKPATCH_LEAVES_OUT = "AVOID_EXTERNS"


def exports(symvers):
    """Whether a symbol is for GPL modules only."""
    lines = (line.split("\t") for line in symvers.read_text().splitlines())
    return {words[1]: words[3].startswith("EXPORT_SYMBOL_GPL") for words in lines}


def imports_nothing_for_gpl_only(folder, headers):
    kernel = exports(headers / "Module.symvers")
    for kind, symbol in APIS.items():
        done = run("nm", "-u", folder / "ko" / f"nvidia-peermem-{kind}.ko")
        wanted = {line.split()[-1] for line in done.stdout.splitlines()}
        expect(len(wanted) > 20, done.stdout)
        others = {name for name in wanted if name not in kernel}
        expect(all(name.startswith(("nvidia_p2p_", "ib_")) and name.endswith(
            ("pages", "persistent", "table", "mapping", "client")) for name in others), others)
        gpl = sorted(name for name in wanted if kernel.get(name))
        expect(not gpl, f"{kind}: for GPL modules only: {' '.join(gpl)}")
        ways = {name for name in APIS.values() if name in wanted}
        expect(ways == ({symbol} if symbol else set()), f"{kind}: {ways}")
        print(f"ok  {kind}: {len(wanted)} symbols, none for GPL modules only; interface: {symbol}")


def checkers_find_nothing(folder, headers, place):
    tools = ["W=1"] + (["C=2", "CF=-D__CHECK_ENDIAN__"] if shutil.which("sparse") else [])
    if len(tools) == 1:
        print("skipped: sparse is not installed")
    for api in (1, 2, 3):
        done = run("make", "-C", headers, f"M={place}", f"NVIDIA_P2P_API={api}", "CONFIG_WERROR=y",
                   *tools, "nvidia_peermem.o", cwd=place)
        wrong = [line for line in done.stdout.splitlines() if re.search("warning|error", line)]
        expect(done.returncode == 0 and not wrong, done.stdout)
        (place / "nvidia_peermem.o").unlink()
    print(f"ok  {' '.join(tools)}: the three interfaces compile without a warning")
    checkpatch = folder / "source" / "scripts" / "checkpatch.pl"
    if not shutil.which("perl"):
        print("skipped: perl is not installed")
        return
    files = [SOURCE / "nvidia_peermem.c"]
    done = run("perl", checkpatch, "--no-tree", "--strict", "--ignore", CHECKPATCH_LEAVES_OUT,
               "--file", *files)
    expect(done.returncode == 0, done.stdout)
    stand_ins = sorted((HERE / "peermem").glob("*_*/*.[ch]"))
    done = run("perl", checkpatch, "--no-tree", "--terse", "--types",
               "LONG_LINE,CODE_INDENT,SPACING,OPEN_BRACE,TRAILING_WHITESPACE,SPDX_LICENSE_TAG",
               "--file", *stand_ins)
    expect(done.returncode == 0 and stand_ins, done.stdout)
    print("ok  checkpatch --strict")


def wrong_input_is_a_line(folder, headers, place):
    driver = folder / "build" / "driver-open" / "Module.symvers"
    core = folder / "build" / "peer_core" / "Module.symvers"
    for variables, words in (
            (["KVER=1.2.3"], "install the headers of the kernel"),
            ([f"KDIR={headers}", "KVER=1.2.3"], "has no ib_register_peer_memory_client"),
            ([f"KDIR={headers}", "KVER=1.2.3", f"RDMA_SYMVERS={core}"], "no GPU driver (nvidia.ko)"),
            ([f"KDIR={headers}", "NVIDIA_SYMVERS=/nowhere"], "/nowhere has no nvidia_p2p_get_pages"),
            ([f"KDIR={headers}", f"NVIDIA_SYMVERS={core}"], "has no nvidia_p2p_get_pages"),
            ([f"KDIR={headers}", f"NVIDIA_SYMVERS={driver}"], "has no peer memory, use dma-buf")):
        done = run("make", "-s", *variables, cwd=place)
        lines = [line for line in done.stdout.splitlines() if not line.startswith("make")]
        expect(done.returncode != 0 and len(lines) == 1 and words in lines[0], done.stdout)
        print("ok ", lines[0])
    done = run("make", "-s", "install", "KVER=1.2.3", f"DESTDIR={place}/root", cwd=place)
    expect(done.returncode != 0 and "run make first" in done.stdout and
           not (place / "root").exists(), done.stdout)


def follows_the_driver(folder, headers, place):
    """A second build takes the symbol versions of another driver; installed and taken back."""
    versions = []
    for kind in ("open", "580"):
        done = run("make", "-s", f"KDIR={headers}", "CONFIG_DEBUG_INFO_BTF_MODULES=",
                   f"NVIDIA_SYMVERS={folder}/build/driver-{kind}/Module.symvers",
                   f"RDMA_SYMVERS={folder}/build/peer_core/Module.symvers", cwd=place)
        expect(done.returncode == 0, done.stdout)
        made = (place / "nvidia-peermem.mod.c").read_text()
        versions.append(re.search(r'\{ (0x\w+), "nvidia_p2p_get_pages" \}', made).group(1))
        wanted = next(line.split()[0] for line in
                      (folder / "build" / f"driver-{kind}" / "Module.symvers").read_text().splitlines()
                      if line.split()[1] == "nvidia_p2p_get_pages")
        expect(versions[-1] == wanted, f"{kind}: {versions[-1]}, not {wanted}")
    expect(versions[0] != versions[1], versions)
    root = place / "root"
    for goal in ("install", "uninstall", "uninstall"):
        done = run("make", "-s", goal, "KVER=1.2.3", f"DESTDIR={root}", cwd=place)
        expect(done.returncode == 0, done.stdout)
        files = sorted(str(file.relative_to(root)) for file in root.rglob("*") if file.is_file())
        expect(files == (["etc/depmod.d/gdrkit-peermem.conf",
                          "lib/modules/1.2.3/updates/gdrkit/nvidia-peermem.ko"]
                         if goal == "install" else []), files)
    print("ok  built again for another driver, installed, taken back")


def main():
    folder = lab.kernel_folder(sys.argv[1], modules=True)
    headers = Modules(folder).headers
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch) / "kernel"
        shutil.copytree(SOURCE, place)
        imports_nothing_for_gpl_only(folder, headers)
        checkers_find_nothing(folder, headers, place)
        wrong_input_is_a_line(folder, headers, place)
        follows_the_driver(folder, headers, place)


if __name__ == "__main__":
    lab.run_to_the_end(main)

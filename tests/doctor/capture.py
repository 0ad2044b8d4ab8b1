#!/usr/bin/env python3
"""capture.py GDR: gdr doctor capture, of this machine and of a made-up one, replayed; metrics."""

import json
import os
import pathlib
import re
import subprocess
import tarfile
import tempfile

from machine import Machine
from gdr_program import expect, expect_refused, run


def doctor(*words, **more):
    return run("doctor", *words, **more)


def findings(*words):
    done = doctor("--json", *words)
    expect(done.returncode in (0, 1, 3), done.stderr)
    return json.loads(done.stdout)["findings"]


def unpacked(work, name, *words):
    """The folder in which a capture was unpacked."""
    archive, folder = work / f"{name}.tar", work / name
    done = doctor("capture", *words, archive)
    expect(done.returncode == 0 and done.stderr == "", f"{done.returncode} {done.stderr}")
    expect(f"{archive}: " in done.stdout and "\nleft out: serial numbers, UUIDs, and all kernel parameters" in done.stdout and
           f"gdr doctor --root {archive}" in done.stdout, done.stdout)
    expect(archive.stat().st_mode & 0o777 == 0o600, "others can read it")
    with tarfile.open(archive) as content:
        for member in content:
            expect(member.isfile() or member.isdir() or member.issym(), f"{member.name}: a device")
            place = os.path.normpath(os.path.join(os.path.dirname(member.name), member.linkname))
            expect(not member.name.startswith(("/", "..")), member.name)
            expect(not member.issym() or not os.path.isabs(member.linkname) and
                   not place.startswith(".."), f"{member.name} -> {member.linkname}")
    folder.mkdir()
    subprocess.run(["tar", "-xf", archive, "-C", folder], check=True)
    return folder, archive


def replayed(work, name, *words):
    """What the checks find where a capture was unpacked, and in the archive itself."""
    folder, archive = unpacked(work, name, *words)
    found = findings("--root", folder)
    expect(findings("--root", archive) == found, "the archive itself gives something else")
    return found


def made_up(work):
    root = work / "made-up"
    Machine(root).host(2)
    before = findings("--root", root)
    expect(len(before) > 5, "nothing found on the made-up machine")
    expect(replayed(work, "archive", "--root", root) == before, "the replay finds something else")
    done = doctor("capture", "--root", root, str(work / "tree") + "/")
    expect(done.returncode == 0, done.stderr)
    expect(findings("--root", work / "tree") == before, "the folder gives something else")


def this_machine(work):
    here = findings("--no-probe")
    folder, _ = unpacked(work, "here")
    done = doctor("--root", folder)
    if done.returncode == 2:
        expect("shows neither GPU nor NIC" in done.stderr, done.stderr)
        expect({finding["check"] for finding in here if finding["outcome"] == "fail"} >=
               {"gpus", "rdma-nics"}, "a machine with GPU or NIC was not taken for one")
        print("skipped: this machine has neither GPU nor NIC, so its capture is refused")
        return
    expect(findings("--root", folder) == here, "this machine's capture gives something else")


def secrets(work):
    archive = work / "secrets.tar"
    variables = dict(os.environ, NCCL_DEBUG="INFO", PASSWORD="swordfish", UCX_TOKEN="swordfish",
                     NCCL_API_KEY="abcd", NCCL_IB_ADDR_RANGE="swordfish", UCX_PW="c0ffee",
                     NCCL_TOPO_FILE="/home/swordfish/topo.xml", LD_LIBRARY_PATH="/srv/swordfish")
    expect(doctor("capture", archive, env=variables).returncode == 0, "no capture")
    content = archive.read_bytes()
    expect(b"NCCL_DEBUG=INFO" in content, "a variable of NCCL is not in it")
    for secret in [b"swordfish", b"abcd\0", b"c0ffee"]:
        expect(secret not in content, f"a secret is in it: {secret}")
    # A made-up machine whose command line, log and firmware tell something.
    root, archive = work / "tells", work / "tells.tar"
    machine = Machine(root)
    machine.host(1)
    machine.write("proc/cmdline", 'ro iommu=pt dyndbg="file x swordfish" pci="noats swordfish"\n')
    machine.write("var/log/dmesg", "[0.0] Command line: ro pci=noats token=swordfish\n"
                                   "[1.0] NVRM: GPU Board: swordfish\n"
                                   "[2.0] mlx5_core 0000:1a:00.0: swordfish\n")
    machine.write("proc/self/cgroup", "0::/kubepods/pod-swordfish\n")
    machine.write("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX Open Kernel Module for "
                                                "x86_64  580.95.05  Release Build  (me@swordfish)\n")
    expect(doctor("capture", "--root", root, archive).returncode == 0, "no capture")
    content = archive.read_bytes()
    expect(b"swordfish" not in content, "a secret of the made-up machine is in it")
    expect(b"iommu=pt" in content and b"580.95.05  Release Build\n" in content, "too little is in it")


def refusals(work):
    (work / "there.tar").write_text("mine")
    (work / "full").mkdir()
    (work / "full" / "file").write_text("mine")
    for words, status, part in [
        ([], 2, "FILE is required"),
        ([""], 2, "FILE"),
        ([work / "host.tar.gz"], 2, "a capture is a .tar file"),
        ([work / "there.tar"], 1, "file exists; choose another name"),
        ([work / "full"], 1, "folder is not empty"),
        ([work / "no" / "host.tar"], 1, "No such file or directory"),
        (["--root", work / "no", work / "host.tar"], 2, "no folder"),
        (["--nonsense", work / "host.tar"], 2, "--nonsense"),
    ]:
        expect_refused(["doctor", "capture", *words], part, status)
    expect((work / "there.tar").read_text() == "mine", "a file was overwritten")


def metrics():
    done = doctor("--no-probe", "--format", "prometheus")
    expect(done.returncode in (0, 1, 3), done.stderr)
    for line in done.stdout.splitlines():
        expect(re.fullmatch(r'# (HELP|TYPE) gdr_doctor_\w+ .+|'
                            r'gdr_doctor_\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? [0-9.]+', line), line)
    expect(f"gdr_doctor_exit_status {done.returncode}\n" in done.stdout, "no exit status")
    for words in (["--explain", "gpus"], ["--container"]):
        expect(doctor("--format", "prometheus", *words).returncode == 2, f"{words} taken")


def main():
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        made_up(work)
        this_machine(work)
        secrets(work)
        refusals(work)
    metrics()


if __name__ == "__main__":
    main()

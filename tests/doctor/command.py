#!/usr/bin/env python3
"""command.py GDR: gdr doctor on this machine and on captured ones: answers, exit statuses, time."""

import json
import os
import pathlib
import resource
import tempfile

from machine import Machine
from gdr_program import expect, expect_refused, expect_told_of_full_disk, gdr, run


def doctor(*words, **more):
    return run("doctor", *words, **more)


def refusals(work):
    for words, part in [
        (["--only", "nonsense"], "unknown check 'nonsense'; allowed: gpus, "),
        (["--only", "gpus,"], "unknown check ''"),
        (["--explain", "gpus,devices"], "--explain takes one check"),
        (["--explain", "gpus", "--only", "gpus"], "exclude each other"),
        (["--explain", "gpus", "--json"], "--explain"),
        (["--container", "--only", "gpus"], "exclude each other"),
        (["--format", "yaml"], "unknown format 'yaml'; allowed: text, prometheus"),
        (["--format", "json"], "--format json is spelled --json"),
        (["--format", "text", "--json"], "exclude each other"),
        (["--root", work / "missing"], "missing"),
        (["--explain", ""], "--explain"),
        (["--driver-root", "run/nvidia"], "--driver-root needs an absolute path"),
        (["--driver-root", "/run/../etc"], "--driver-root needs an absolute path"),
        (["--driver-root", "/no/such/folder"], "no such folder"),
        (["--nonsense"], "--nonsense"),
        (["--root", work], "shows neither GPU nor NIC (0 PCI functions); capture the host itself"),
        (["--root", work, "--json"], "shows neither GPU nor NIC"),
        (["--root", work, "--only", "locked-memory"], "shows neither GPU nor NIC"),
    ]:
        expect_refused(["doctor", *words], part)


def this_machine():
    """Whatever it is: the answer is consistent."""
    done = doctor("--json")
    document = json.loads(done.stdout)
    counts = document["counts"]
    status = 1 if counts["fail"] else 3 if counts["warn"] else 0
    expect(done.returncode == status == document["exit_status"], f"exit status {done.returncode}")
    expect(counts["checks_left_out"] == 0 and document["captured"] is None, "not this machine")
    found = {outcome: 0 for outcome in ["ok", "warn", "fail", "unknown"]}
    for finding in document["findings"]:
        found[finding["outcome"]] += 1
        expect(finding["summary"], finding)
        expect(finding["outcome"] in ("ok", "unknown") or
               finding["consequence"] and any(
                   action["command"] or action["note"] for action in finding["fix"].values()),
               f"says no fix: {finding}")
    expect(all(found[outcome] == counts[outcome] for outcome in found), counts)
    text = doctor()
    expect(text.returncode == status, "text and JSON differ")
    first = document["findings"][0]
    expect(first["summary"] in text.stdout.split("\n")[0], "the first line is not the first finding")


def machine_without_devices():
    if pathlib.Path("/sys/class/infiniband").is_dir() or doctor("--only", "gpus").returncode == 0:
        print("skipped: this machine has a GPU or an RDMA NIC")
        return
    done = doctor()
    expect(done.returncode == 1, f"exit status {done.returncode}")
    expect(done.stdout.startswith("FAIL     no NVIDIA GPU on the PCI bus  [gpus]\n"), done.stdout)
    registration = doctor("--explain", "registration")
    expect(registration.returncode == 0 and "On this host: skipped" in registration.stdout,
           registration.stdout)


def stand_ins_are_no_hardware():
    folder = pathlib.Path(gdr).resolve().parent.parent / "lib/gdrkit/soft-gpu"
    environment = dict(os.environ, LD_LIBRARY_PATH=str(folder))
    done = doctor("--only", "environment", env=environment)
    expect(done.returncode == 3 and "LD_LIBRARY_PATH contains gdrkit's stand-ins" in done.stdout,
           done.stdout)


def container():
    done = doctor("--container")
    for part in ["Given to this process", "Capabilities", "Locked memory", "/dev/shm",
                 "Options that give a container everything", "--ulimit memlock=-1"]:
        expect(part in done.stdout, f"no '{part}': {done.stdout}")
    document = json.loads(doctor("--container", "--json").stdout)
    expect(document["container"]["facts"]["User"].startswith("uid "), document["container"])


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def healthy_host(root):
    machine = Machine(root).host()
    before = processor_seconds()
    run("--version")
    start = processor_seconds() - before
    done = doctor("--root", root, "--json")
    took = processor_seconds() - before - start
    document = json.loads(done.stdout)
    expect(document["counts"]["fail"] == 0, [f for f in document["findings"] if f["outcome"] == "fail"])
    expect(document["captured"] == str(root), "not named as captured")
    expect(document["counts"]["checks_left_out"] > 5, "probes were not left out")
    print(f"8 GPUs: checks {document['passive_seconds']:.3f} s; {took:.3f} s of processor time, a start {start:.3f} s")
    expect(took < 100 * start, f"{took} s of processor time")
    return machine


def broken_host(machine):
    machine.write("proc/driver/nvidia/version",
                  "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.95.05  Release\n")
    machine.write("proc/self/limits", "Max locked memory         8388608              8388608\n")
    done = doctor("--root", machine.root)
    expect(done.returncode == 1, f"exit status {done.returncode}")
    lines = done.stdout.split("\n")
    expect(lines[0].startswith("FAIL     this kernel has no peer-memory interface"), lines[0])
    expect("FAIL     GPU memory cannot be registered: no dma-buf: " in done.stdout, done.stdout)
    outcomes = [line.split(" ")[0] for line in lines if line[:1] not in (" ", "")]
    worst = {"FAIL": 0, "warn": 1, "unknown": 2}
    order = [worst[word] for word in outcomes if word in worst]
    expect(order == sorted(order), f"not in order: {outcomes}")
    expect("Captured machine" in done.stdout, "not named as captured")
    only = doctor("--root", machine.root, "--only", "locked-memory,huge-pages")
    expect(only.returncode == 1 and "8 MiB, less than 64 MiB" in only.stdout, only.stdout)
    explained = doctor("--root", machine.root, "--explain", "peer-memory-loading")
    expect("read: /proc/kallsyms = no ib_register_peer_memory_client" in explained.stdout,
           explained.stdout)


def hostile(root):
    machine = Machine(root)
    machine.host(1)
    machine.write("proc/driver/nvidia/version", b"\xff\x1b[2J" * 5000)
    machine.write("proc/sys/kernel/osrelease", "../../../../etc\n")
    machine.write("proc/self/limits", "Max locked memory         " + "9" * 400)
    machine.write("proc/self/environ", b"NCCL_IB_HCA=\x1b[31m" + b"," * 5000 + b"\0UCX_\0=\0")
    machine.write("var/log/dmesg", b"nvidia_peermem: disagrees about version of symbol \x1b[2J\n" * 9)
    (machine.root / "run").mkdir()
    (machine.root / "run/loop").symlink_to("loop")
    text, document = doctor("--root", root, "--all"), doctor("--root", root, "--json")
    expect(text.returncode in (0, 1, 3), f"{text.returncode}: {text.stderr}")
    expect("\x1b" not in text.stdout, "an escape sequence of the capture was printed")
    json.loads(document.stdout)


def leads_outside(work):
    """Links of a captured machine that lead to this one's files, as a stranger's archive may have."""
    sentinel = "c2VudGluZWw"
    outside = work / "outside"
    (outside / "folder").mkdir(parents=True)
    (outside / "file").write_text(f"{sentinel} memlock unlimited {sentinel}\n")
    (outside / "folder" / f"libnccl.so.{sentinel}").write_text("")
    (outside / "folder" / sentinel).write_text("")
    root = work / "leads-outside"
    Machine(root).host(1)
    for path in ["sys/class/dmi/id/product_name", "proc/driver/nvidia/version", "proc/cpuinfo",
                 "sys/module/nvidia/version", "proc/sys/kernel/osrelease", "proc/cmdline",
                 "etc/security/limits.conf", "var/log/dmesg", "sys/kernel/security/lockdown",
                 "proc/self/environ"]:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        place.symlink_to(outside / "file" if len(path) % 2 else
                         os.path.relpath(outside / "file", place.resolve().parent))
    for path in ["usr/lib64", "usr/lib", "sys/class/iommu", "sys/kernel/mm/hugepages"]:
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.is_dir():
            place.rmdir()
        place.symlink_to(outside / "folder")
    for words in (["--all"], ["--json"], ["--explain", "gpu-driver"], ["--explain", "lockdown"],
                  ["--explain", "nccl-version"], ["--explain", "huge-pages"], ["--container"]):
        done = doctor("--root", root, *words)
        expect(sentinel not in done.stdout + done.stderr, f"{words}: {done.stdout}")
    done = run("topo", "--root", root)
    expect(done.returncode == 0 and sentinel not in done.stdout, done.stdout)
    archive = work / "leads-outside.tar"
    expect(doctor("capture", "--root", root, archive).returncode == 0, "no capture")
    expect(sentinel.encode() not in archive.read_bytes(), "a capture has a file from outside")


# In memory where that is possible: some thousand small files.
memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
with tempfile.TemporaryDirectory(dir=memory) as folder:
    work = pathlib.Path(folder)
    refusals(work)
    this_machine()
    machine_without_devices()
    stand_ins_are_no_hardware()
    container()
    (work / "host").mkdir()
    broken_host(healthy_host(work / "host"))
    (work / "hostile").mkdir()
    hostile(work / "hostile")
    leads_outside(work)
    expect_told_of_full_disk("doctor", "--no-probe")
print("ok")

#!/usr/bin/env python3
"""hostile_names.py GDR: made-up hosts whose devices, interfaces, modules, folders and files have names
that a shell would read. Whatever any room says to type, in JSON, in pages and in tickets, hands each
such name to its program as one word or not at all, and starts nothing else."""
import html
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("support", "doctor", "mpi")]
from gdr_program import expect, run
from machine import Machine
from pasted import paste
from record import unpack

KEYS = {"command", "by_hand", "undo", "next", "load_by", "replay", "commands_now", "commands_for_good"}
BEGIN, END = "Mq", "qW"  # around what is hostile, so that a torn name shows
MIDDLES = [";touch${IFS}PWNED;#", "$(touch${IFS}PWNED)", "`touch${IFS}PWNED`", "'&touch${IFS}PWNED&'",
           "\"|touch${IFS}PWNED|\"", "\\", "\ntouch PWNED\n", "\x1b]0;title\x07", "\u202e", ">PWNED<",
           "*", "!!", "{a,b}", " ", "<img${IFS}src=x>](javascript:x)|"]
NAMES = [BEGIN + middle + END for middle in MIDDLES] + ["-o" + BEGIN + END, "~" + BEGIN + END, "=" + BEGIN + END]
TOPICS = ("acs", "peer-memory", "locked-memory", "max-read-request", "persistence", "roce")


def a_host(root, name):
    """Two GPUs beside two NICs; nothing is as it should be, so that every check has something to say."""
    host = Machine(root)
    for bus in (0x10, 0x20):
        port, gpu, nic = f"0000:{bus:02x}:01.0", f"0000:{bus + 1:02x}:00.0", f"0000:{bus + 2:02x}:00.0"
        host.put(port, f"pci0000:{bus:02x}", 0x8086, 0x352A, 4, 0x060400, 0x1d)
        host.put(gpu, port, 0x10DE, 0x2330, 0, 0x030200, driver="nvidia")
        host.put(nic, port, 0x15B3, 0x1021, 0, 0x020000, driver="mlx5_core")
        device, netdev = f"{name}{bus}", f"{bus}{name}" if bus > 0x10 else name
        host.nic(device, nic, netdev)
        place = f"{host.places[nic]}/infiniband/{device}/ports/1"
        host.line(f"{host.places[nic]}/net/{netdev}/mtu", 1500)
        host.line(f"{host.places[nic]}/net/{netdev}/flags", "0x1002")
        if bus > 0x10:
            host.line(f"{place}/state", "1: DOWN")
            host.line(f"{place}/phys_state", "3: Disabled")
        host.line(f"{host.places[nic]}/infiniband_verbs/{name}/dev", "231:0")
    kernel = f"6.8.0-{name}"
    for path, value in [
        ("proc/sys/kernel/osrelease", kernel), ("proc/sys/kernel/hostname", name),
        ("proc/cmdline", f"ro {name} intel_iommu={name}"), ("proc/modules", f"{name} 16384 0 - Live 0x0"),
        ("proc/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.95.05  Release"),
        ("sys/module/nvidia/version", f"550.95.05{name}"), ("proc/kallsyms", "0 T ib_register_peer_memory_client\t[ib_core]"),
        ("sys/module/ib_core/version", name), ("sys/module/mlx5_core/version", name), ("sys/module/mlx5_ib/version", name),
        (f"lib/modules/{kernel}/modules.dep", "updates/dkms/nvidia-peermem.ko: updates/dkms/nvidia.ko"),
        (f"proc/driver/nvidia/gpus/0000:11:00.0/information", f"Model: {name}"),
        ("proc/self/limits", "Max locked memory         8388608              8388608              bytes"),
        ("proc/self/environ", f"NCCL_IB_HCA={name}\0UCX_NET_DEVICES={name}\0NCCL_SOCKET_IFNAME={name}\0"
                              f"NCCL_TOPO_FILE=/{name}\0NVIDIA_DRIVER_ROOT=/{name}\0"),
        ("proc/900/comm", name), ("proc/901/comm", "slurmd"),
        ("proc/901/limits", "Max locked memory         8388608              8388608              bytes"),
    ]:
        host.line(path, value)
    (host.root / "etc/default/grub.d").mkdir(parents=True)
    return host.root


def an_mpi(record, old, name, work):
    """A recorded machine, a part of whose paths has another name."""
    text = (HERE.parent / "mpi/records" / record).read_text()
    changed = work / record
    changed.write_text("".join(line for line in text.replace(old, name).splitlines(True)
                               if not line.startswith(("expect", "say"))))
    unpack(changed, work / "mpi")
    return work / "mpi" / changed.stem


def commands_in(value, key=""):
    if isinstance(value, dict):
        for inner, each in value.items():
            yield from commands_in(each, inner)
    elif isinstance(value, list):
        for each in value:
            yield from commands_in(each, key)
    elif key in KEYS and isinstance(value, str) and value:
        yield value


def told(*words, may_refuse=False):
    done = run(*words, "--json")
    if may_refuse and done.returncode == 2:
        return []
    expect(done.stdout.startswith("{"), f"{words}: {done.stdout}{done.stderr}")
    return list(commands_in(json.loads(done.stdout)))


def written(work):
    """The commands of the page and of the ticket; neither has a name that is markup."""
    commands = []
    for kind in ("html", "md"):
        text = (work / f"ticket.{kind}").read_text()
        if kind == "html":
            expect("<img" not in text, f"{text[text.find('<img'):][:200]}")
            commands += map(html.unescape, re.findall(r'<div class="step"><p>[^<]*</p><pre>([^<]*)</pre>', text))
        else:
            commands += re.findall(r"^(?:`{3,})sh\n(.*?)\n`{3,}$", text, re.DOTALL | re.MULTILINE)
            prose = re.sub(r"^(`{3,})\w*\n.*?^\1$", "", text, flags=re.DOTALL | re.MULTILINE)
            live = re.search(r"<img|(?<!\\)\]\(javascript", prose)
            expect(live is None, f"a name is markup in the ticket: {live and prose[live.start():][:200]}")
    return commands


def judge(commands, names, work, what):
    """How many words have one of the names."""
    found = 0
    for command in commands:
        expect(all(c == "\n" or c.isprintable() for c in command), f"{what}: {command!r}")
    for words in paste(commands, work):
        expect(words[0] != "touch", f"{what}: a name was carried out, by one of {commands}")
        for word in words:
            rest = word
            for name in names:
                # A file of one line gives what stands in front of a line's end, as a name of its own.
                rest = rest.replace(name, "").replace(name.partition("\n")[0], "")
            found += rest != word
            expect(BEGIN not in rest and END not in rest, f"{what}: {word!r} of {words} is a part of a name")
    expect(not (work / "PWNED").exists(), f"{what}: a name was carried out, by one of {commands}")
    return found


def try_name(name, work):
    (work / (BEGIN + "x" + END)).touch()  # what a pattern would match
    found = {}
    root = a_host(work / "host", name)
    tickets = [word for kind in ("html", "md") for word in ("--report", work / f"ticket.{kind}")]
    found["doctor"] = judge(told("doctor", "--no-probe", "--root", root, *tickets), [name], work, "doctor")
    found["pages"] = judge(written(work), [name], work, "pages")
    found["fix"] = judge(told("fix", *TOPICS, "--persist", "--root", root), [name], work, "fix")
    judge(told("topo", "--root", root), [name], work, "topo")
    run("topo", "--root", root, "--report", work / "drawing.svg")
    expect("<img" not in (work / "drawing.svg").read_text(), "a name is markup in the drawing")
    judge(told("doctor", "capture", work / f"{name}.tar", "--root", root), [str(work / f"{name}.tar")], work, "capture")
    log = work / f"{name}.log"
    log.write_text("node1:1:1 [0] NCCL INFO NCCL version 2.21.5+cuda12.4\n"
                   f"node1:1:1 [0] NCCL INFO NET/IB : No device found. {name}\n")
    judge(told("nccl", "check", log) + told("explain", log), [name], work, "nccl")
    said = re.findall(r"'(gdr nccl check .*)' judges", run("explain", log).stdout)
    expect(len(said) == 1, "explain names the command for a log of NCCL")
    found["explain"] = judge(said, [str(log)], work, "explain")
    if not re.search(r"[\s/]", name):
        hpcx = told("mpi", "check", "--root", an_mpi("hpcx-2.22-unloaded.txt", "hpcx/", f"hpcx{name}/", work))
        # Some names end what stands in a module's file, so that no MPI is found.
        module = told("mpi", "check", "--root",
                      an_mpi("openmpi-4.0.5-easybuild-module.txt", "4.0.5-gcccuda-2020b", name, work), may_refuse=True)
        found["mpi"] = judge(hpcx + module, [name], work, "mpi")
    return found


def main():
    total = {}
    for name in NAMES:
        with tempfile.TemporaryDirectory() as folder:
            for room, count in try_name(name, pathlib.Path(folder)).items():
                total[room] = total.get(room, 0) + count
    print(total)
    for room, count in total.items():
        expect(count >= len(NAMES) / 3, f"{room} says too few commands with a name: {count}")


main()

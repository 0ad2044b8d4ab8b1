#!/usr/bin/env python3
"""full_disk.py GDR SOURCE: where a disk is full, a file may grow no further or standard output takes nothing,
a command says so in one line and fails, and no file is cut or lost."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
tests = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(tests / "support"), str(tests / "doctor")]
from gdr_program import expect, gdr, run
from machine import Machine
from two_programs import free_port

COMPLAINT = "cannot write to standard output"
PRINTING = ["--help", "--version", "help run", "run --help", "version", "version --json", "explain --list",
            "explain --list --json", "explain out_of_memory", "counters", "doctor --explain gpus --no-probe",
            "fix", "fix --status", "fix --json", "peermem status", "watch --json -- true",
            "nccl run --json -- true", "prove --soft --no-measure --sizes 64 --modes write",
            "prove --soft --no-measure --sizes 64 --modes write --json", "__complete -- gdr do",
            "__manual gdr", "topo --root {host}", "topo --root {host} --json", "list --root {host}",
            "list --root {host} --json", "doctor --root {host}", "doctor --root {host} --json",
            "doctor --root {host} --format prometheus", "doctor capture --root {host} {work}/kept.tar"]


def output_fails(host, work):
    for line in PRINTING:
        words = [word.format(host=host, work=work) for word in line.split()]
        well = run(*words)
        if not well.stdout:
            continue  # nothing to print here: counters without ports, a fix without journal
        (work / "kept.tar").unlink(missing_ok=True)
        with open("/dev/full", "w", encoding="ascii") as full:
            done = run(*words, capture_output=False, stdout=full, stderr=subprocess.PIPE)
        expect(done.returncode == (1 if well.returncode in (0, 3) else well.returncode),
               f"{line} to a full disk: status {done.returncode}")
        expect(done.stderr.count(COMPLAINT) == 1, f"{line}: {done.stderr}")
        (work / "kept.tar").unlink(missing_ok=True)
    # A reader that has gone ends it by the signal, or is an error like others where that is ignored.
    ends = os.pipe()
    os.close(ends[0])
    done = run("--help", capture_output=False, stdout=ends[1], stderr=subprocess.PIPE,
               restore_signals=False)  # Python ignores SIGPIPE
    expect(done.returncode == 1 and done.stderr.count("\n") == 1 and "Broken pipe" in done.stderr, done)
    done = run("--help", capture_output=False, stdout=ends[1], stderr=subprocess.PIPE)
    expect(done.returncode == -signal.SIGPIPE and not done.stderr, done)
    os.close(ends[1])
    done = subprocess.run(["sh", "-c", '"$0" --help >&-', gdr], stderr=subprocess.PIPE, text=True, check=False)
    expect(done.returncode == 1 and done.stderr.count("\n") == 1 and COMPLAINT in done.stderr, done)


class Folder:
    """Files that a command is to replace, each with its old content."""
    NAMES = ("f.html", "f.md", "f.json", "f.prom", "t.svg", "behind", "one", "two")

    def __init__(self, path):
        self.path = path
        for name in self.NAMES:
            (path / name).write_text(f"old {name}\n", encoding="ascii")
        (path / "two").unlink()
        os.link(path / "one", path / "two")
        (path / "link.html").symlink_to("behind")
        (path / "second.json").symlink_to("one")
        self.before = sorted(os.listdir(path))

    def commands(self, host):
        for name in ("f.html", "f.md", "f.json", "f.prom", "link.html", "second.json"):
            yield ["doctor", "--root", host, "--report", self.path / name]
        yield ["topo", "--root", host, "--report", self.path / "t.svg"]
        yield ["doctor", "capture", "--root", host, self.path / "new.tar"]
        yield ["doctor", "capture", "--root", host, f"{self.path}/new/"]

    def check(self, words):
        expect(sorted(os.listdir(self.path)) == self.before, f"{words}: left {sorted(os.listdir(self.path))}")
        for name in self.NAMES:
            text = (self.path / name).read_text(encoding="ascii", errors="replace")
            expect(text == f"old {'one' if name == 'two' else name}\n", f"{words}: {name} is now {text[:60]!r}")


def files_survive(folder, host, reason, prefix=()):
    for words in folder.commands(host):
        done = subprocess.run([*prefix, gdr, *map(str, words)], capture_output=True, text=True, check=False,
                              timeout=1200)
        expect(done.returncode == 1 and done.stderr.count("\n") == 1 and reason in done.stderr,
               f"{words}: status {done.returncode}: {done.stderr}")
        folder.check(words)


def files_are_replaced(folder, host):
    for words in folder.commands(host):
        done = run(*words)
        expect(done.returncode in (0, 1, 3) and not done.stderr, f"{words}: {done.returncode}: {done.stderr}")
    expect((folder.path / "link.html").is_symlink(), "a link is replaced by a file")
    for name in folder.NAMES:
        expect(not (folder.path / name).read_text(encoding="utf-8").startswith("old"), f"{name} is still the old one")
    expect((folder.path / "one").samefile(folder.path / "two"), "a second name is lost")


def may_grow_no_further(host, work):
    (work / "limited").mkdir()
    folder = Folder(work / "limited")
    files_survive(folder, host, "File too large", ["sh", "-c", 'ulimit -f 1; exec "$0" "$@"'])
    files_are_replaced(folder, host)


def capture_of_packets(disk, filler):
    """The program goes on, and each record that the file has is whole."""
    filler.unlink()
    file = disk / "run.pcap"
    test = f"ib_write_bw -d soft0 -p {free_port()} -n 500"
    pair = (f"{test} >/dev/null 2>&1 & for i in $(seq 100); do sleep 1; "
            f"{test} 127.0.0.1 >/dev/null 2>&1 && break; done && wait && echo moved")
    done = run("run", "--soft-nic", "--no-soft-gpu", "--packets", "--pcap", file, "--", "sh", "-c", pair)
    expect(done.stdout == "moved\n", f"the program did not end well: {done}")
    expect(done.returncode == 1, f"status {done.returncode} with half a capture")
    lines = [line for line in done.stderr.splitlines() if "--pcap: " in line]
    expect(len(lines) == 1 and "No space left" in lines[0], done.stderr)
    data, at, packets = file.read_bytes(), 24, 0
    while at < len(data):
        length = int.from_bytes(data[at + 8:at + 12], sys.byteorder)
        at += 16 + length
        packets += 1
    expect(at == len(data) and packets > 10, f"{packets} packets, and the last one ends at {at} of {len(data)}")
    print(f"{packets} whole packets")


def disk_is_full(host, work):
    disk = work / "disk"
    disk.mkdir()
    expect(subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=755", "tmpfs", disk], check=False).returncode == 0,
           "no tmpfs")
    folder = Folder(disk)
    filler = disk / "filler"
    folder.before = sorted([*folder.before, "filler"])
    with open(filler, "wb", buffering=0) as file:
        try:
            while True:
                file.write(b"x" * 4096)
        except OSError:
            pass
    files_survive(folder, host, "No space left")
    if subprocess.run(["sh", "-c", "command -v ib_write_bw"], stdout=subprocess.DEVNULL, check=False).returncode:
        print("not tried: --pcap, since there is no ib_write_bw (package perftest)")
        return
    capture_of_packets(disk, filler)


with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    made_up = scratch / "host"
    Machine(made_up).host(2)
    if sys.argv[-1] == "inside":
        try:
            disk_is_full(made_up, scratch)
        finally:
            subprocess.run(["umount", "--lazy", scratch / "disk"], check=False)
        sys.exit(0)
    output_fails(made_up, scratch)
    may_grow_no_further(made_up, scratch)
apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
if subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
    print("not tried: a small disk, since no mount namespace can be had here")
else:
    sys.exit(subprocess.run([*apart, sys.executable, *sys.argv, "inside"], check=False).returncode)

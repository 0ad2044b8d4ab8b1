#!/usr/bin/env python3
"""gdr watch around programs that know nothing of it: what each did, and the verdict.

    watch.py GDR STATIC FORKS
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

here = os.path.dirname(__file__)
sys.path.insert(0, os.path.join(here, "..", "..", "support"))
from gdr_program import expect, gdr, run  # noqa: E402
from two_programs import Here, run_server_and_client  # noqa: E402

static_program, forking_program = sys.argv[2:4]
on_stand_ins = [gdr, "run", "--soft-nic", "--soft-gpu", "--"]


class Folder:
    def __enter__(self):
        self.name = tempfile.mkdtemp()
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.name)

    def read(self):
        with open(self.file(), encoding="utf-8") as text:
            return json.load(text)

    def file(self):
        return os.path.join(self.name, "report.json")


def watched(*command, status=0, expected=()):
    """The report of a program that ends with this status, and what gdr watch printed."""
    with Folder() as folder:
        done = run("watch", *expected, "--report", folder.file(), "--", *command)
        expect(done.returncode == status,
               f"{command}: exit status {done.returncode}, not {status}: {done.stderr}")
        return folder.read(), done


def only(report, key):
    expect(len(report[key]) == 1, f"not one of {key}: {report[key]}")
    return report[key][0]


def pingpong(name, *options):
    """The client's report of a ping-pong, whose bytes and operations are known."""
    with Folder() as folder:
        program = [name, "-n", "200", "-s", "4096", *options]
        wrong, _, heard = run_server_and_client(
            Here(), [*on_stand_ins, *program],
            [gdr, "watch", "--report", folder.file(), "--", *on_stand_ins, *program], seconds=400)
        expect(wrong is None, f"{name}: {wrong}")
        expect("gdr run: software NIC: opened soft0, " in heard and "iB; loaded libibverbs; software GPU: not used" in heard,
               f"{name}: gdr run says {heard}")
        return folder.read()


def check_pingpongs():
    for name, options, kind, extended in (
            ("ibv_rc_pingpong", [], "RC", False),
            ("ibv_rc_pingpong", ["-N"], "RC", True),
            ("ibv_rc_pingpong", ["-t"], "RC", False),  # an extended completion queue
            ("ibv_uc_pingpong", [], "UC", False),
            ("ibv_ud_pingpong", ["-s", "1024", "-g", "0"], "UD", False)):
        report = pingpong(name, *options)
        size = 1024 if kind == "UD" else 4096
        header = 40 if kind == "UD" else 0  # of each datagram that is received
        where = f"{name} {options}"
        expect(report["verdict"] == "host", f"{where}: {report['verdict']}")
        pair = only(report, "queue_pairs")
        expect((pair["type"], pair["extended_posting"]) == (kind, extended), f"{where}: {pair}")
        expect(pair["sends"] == 200 and pair["bytes_out"]["host"] == 200 * size, f"{where}: {pair}")
        expect(pair["receives"] == 200 and
               pair["bytes_received"]["host"] == 200 * (size + header), f"{where}: {pair}")
        expect(pair["failures"] == 0, f"{where}: {pair}")
        if kind != "UD":
            expect(pair["peer"]["number"] > 0, f"{where}: {pair}")
        region = only(report, "registrations")
        expect((region["memory"], region["bytes"]) == ("host", size + header) and
               region["deregistered"], f"{where}: {region}")
    # Its queue pairs share the receives, and end some messages apart.
    shared = only(pingpong("ibv_srq_pingpong"), "nics")
    expect(shared["receives"] >= 200 and
           shared["bytes_received"] == {"host": 4096 * shared["receives"], "gpu": 0, "other": 0},
           f"srq: {shared}")


def check_gpu_memory():
    perf = [gdr, "perf", "--soft", "--sizes", "65536", "--measure", "bandwidth", "--duration",
            "0.05", "--memory"]
    report, done = watched(*perf, "gpu", "--operation", "write,read,send", expected=("--expect", "gdr"))
    expect(report["verdict"] == "direct", f"GPU memory: {report['headline']}")
    expect("this says nothing about real ones" in done.stderr, done.stderr)
    moved = [sum(nic[key]["gpu"] for nic in report["nics"])
             for key in ("bytes_out", "bytes_read", "bytes_received")]
    expect(min(moved) > 0, f"writes, reads and receives with GPU memory: {moved}")
    gpus = [one for one in report["registrations"] if one["memory"] == "gpu"]
    expect(gpus and all(one["gpu"] == "fffe:01:00.0" for one in gpus), f"{gpus}")
    report, done = watched(*perf, "staged", expected=("--expect", "gdr"), status=1)
    expect(report["verdict"] == "staged", f"staged: {report['headline']}")
    expect("never tried to register GPU memory" in done.stderr, done.stderr)
    expect(report["copied_to_host"] > 0 and report["copied_to_gpu"] > 0, f"copies: {report}")
    report, _ = watched(*perf, "host", expected=("--expect", "rdma"))
    expect(report["verdict"] == "host", f"host memory: {report['headline']}")


def check_not_over_rdma():
    tcp = """
import socket, time
one = socket.create_server(("127.0.0.1", 0))
two = socket.create_connection(one.getsockname())
three = one.accept()
time.sleep(3)  # the watch looks again before the program has run for twice as long
"""
    for command, part in (([sys.executable, "-c", tcp], "it had 2 TCP connections open"),
                          (["true"], "it loaded no libibverbs"),
                          ([static_program], "is statically linked"),
                          ([*on_stand_ins, "ibv_devices"], "it opened no device"),
                          ([*on_stand_ins, "ibv_devinfo", "-d", "soft0"], "it opened soft0")):
        report, done = watched(*command, expected=("--expect", "rdma"), status=1)
        expect(report["verdict"] == "none" and part in done.stderr,
               f"{command}: no '{part}' in {done.stderr}")


def check_status_and_signals():
    for script, status in (("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)):
        watched("sh", "-c", script, expected=("--expect", "gdr"), status=status)
    done = run("watch", "--", "sh", "-c", "echo out; echo err >&2")
    expect(done.stdout == "out\n" and done.stderr.startswith("err\ngdr watch: "), done)


def check_document_on_standard_output():
    with Folder() as folder:
        done = run("watch", "--json", "--report", folder.file(), "--", "sh", "-c", "echo out; exit 3")
        report = json.loads(done.stdout)
        expect(done.returncode == 3 and report["verdict"] == "none", done)
        expect(done.stderr == "out\n", f"no text beside the document: {done.stderr}")
        expect(report == folder.read(), "two documents of one run differ")
    done = run("watch", "--report", "/nowhere/x.json", "--", "sh", "-c", "echo ran")
    expect(done.returncode == 2 and done.stdout == "", f"it ran first: {done}")


def check_children():
    """Both halves of a fork, and the program that one becomes."""
    report, _ = watched(*on_stand_ins, forking_program)
    devices = only(report, "nics")
    expect(devices["opened"] == 3, f"opened by three processes: {devices}")
    programs = {one["program"] for one in report["processes"]}
    expect(os.path.basename(forking_program) in programs, f"{programs}")
    pids = {one["process"] for one in report["registrations"]}
    expect(len(pids) == 3, f"registered by three processes: {report['registrations']}")


def check_harmless_variables():
    """A ledger that is none changes nothing."""
    library = os.path.join(os.path.dirname(gdr), "..", "lib", "gdrkit", "watch", "libgdr-watch.so")
    for value in ("", ":", "/etc/passwd:0", "/dev/zero:3", "x" * 5000 + ":1", "/proc/self/mem:2",
                  ":999999999999999999999"):
        done = subprocess.run(
            [*on_stand_ins, "ibv_devinfo", "-d", "soft0"], capture_output=True, text=True,
            timeout=600, env={**os.environ, "LD_PRELOAD": library, "GDR_WATCH_LEDGER": value})
        expect(done.returncode == 0 and "soft0" in done.stdout, f"{value}: {done}")


def check_beside_the_observer():
    """Both libraries stand in front of dlsym, whichever of them is first, and each finds what is behind it."""
    folder = os.path.join(os.path.dirname(gdr), "..", "lib", "gdrkit")
    watch, observe = (os.path.join(folder, name, f"libgdr-{name}.so") for name in ("watch", "observe"))
    asks = [sys.executable, "-c", "import ctypes; print(ctypes.CDLL(None).getpid() > 0)"]
    for order in ((watch, observe), (observe, watch)):
        done = subprocess.run(asks, capture_output=True, text=True, timeout=600,
                              env={**os.environ, "LD_PRELOAD": ":".join(order)})
        expect(done.returncode == 0 and done.stdout == "True\n", f"{order}: {done}")


def main():
    if shutil.which("ibv_rc_pingpong") is None:
        print("skipped: no ibv_rc_pingpong (package ibverbs-utils)")
        sys.exit(77)
    check_pingpongs()
    check_gpu_memory()
    check_not_over_rdma()
    check_status_and_signals()
    check_document_on_standard_output()
    check_children()
    check_harmless_variables()
    check_beside_the_observer()


main()

#!/usr/bin/env python3
"""run.py GDR CASE: gdr mpi run with the MPIs that are installed, over the software NIC. CASE: one of the
functions below. Every value is compared by the program itself; that the software NIC has carried them, or
has not, its own counters prove."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "support"), str(HERE.parent / "programs/mpi")]
import gdr_program  # noqa: E402
from gdr_program import expect, gdr  # noqa: E402
from implementations import Skip, find  # noqa: E402

QUICK = ["--sizes", "8,64K", "--duration", "0.02", "--time-limit", "60s"]
OVER_NIC = {"open_mpi": ["--mca", "pml", "ucx", "-x", "UCX_TLS=rc"],
            "mpich": ["-env", "UCX_TLS", "rc", "-env", "MPIR_CVAR_NOLOCAL", "1"]}
BESIDE_NIC = {"open_mpi": [["--mca", "pml", "ob1", "--mca", "btl", "self,vader"],
                           ["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo"]],
              "mpich": [["-env", "UCX_TLS", "self,sysv,posix,cma"],
                        ["-env", "UCX_TLS", "self,tcp", "-env", "MPIR_CVAR_NOLOCAL", "1"]]}


def tools(name):
    mpi = find(name)
    return ["--mpirun", mpi.launcher, "--mpicc", mpi.compiler]


def run(*words, **more):
    return gdr_program.run("mpi", "run", *words, timeout=1000, **more)


def document(*words, status):
    done = run("--json", *words)
    expect(done.returncode == status, f"{words}: status {done.returncode}, not {status}: {done.stderr}{done.stdout}")
    return json.loads(done.stdout)


def rows_of(report, measure):
    return [row for row in report["rows"] if row["measure"] == measure]


def over_the_nic(name):
    """Every measure, every value right, and more bytes left the NIC than the program sent."""
    report = document(*tools(name), *QUICK, "-n", "2", "--memory", "host", "--", *OVER_NIC[name], status=0)
    expect(report["verdict"] == "used" and report["host_memory"] == "nic", report["headline"])
    expect("it used the software NIC (STAND-IN)" in report["headline"], report["headline"])
    expect(report["software_nic"] and not report["software_gpu"], report)
    measured = {row["measure"] for row in report["rows"]}
    expect(measured == {"latency", "bandwidth", "bidirectional", "all-reduce", "all-to-all"}, measured)
    for row in report["rows"]:
        expect(row["wrong_bytes"] == 0 and row["compared_bytes"] > 0, row)
        expect(row["median"] > 0 and len(row["repetitions"]) == 5, row)
    for measure in ("latency", "bandwidth", "bidirectional", "all-to-all"):
        for row in rows_of(report, measure):
            out = sum(nic["bytes_out"] for nic in row["counters"]["nics"])
            expect(out >= row["sent_bytes"] > 0, f"{out} bytes left the NICs: {row}")
            # The peer of a round trip compares nothing: what it sends back is compared.
            expect(row["compared_bytes"] * 2 >= row["sent_bytes"], row)
    expect(report["share_of_nic"] > 0, report["share_of_nic"])
    compared = [row for row in report["rows"] if row["gdr_perf"]]
    expect(len(compared) == 6, f"{len(compared)} rows are beside gdr perf")


def beside_the_nic(name):
    """By shared memory and by TCP nothing leaves the NIC, and the answer is no."""
    for options in BESIDE_NIC[name]:
        report = document(*tools(name), *QUICK, "--no-perf", "--memory", "host", "--", *options, status=3)
        expect(report["verdict"] == "not used", report["headline"])
        expect("did not use the software NIC" in report["headline"], report["headline"])
        for row in report["rows"]:
            expect(row["wrong_bytes"] == 0, row)
            expect(all(nic["bytes_out"] == 0 for nic in row["counters"]["nics"]), row)


def open_mpi_over_the_nic():
    over_the_nic("open_mpi")


def open_mpi_beside_the_nic():
    beside_the_nic("open_mpi")


def mpich_over_the_nic():
    over_the_nic("mpich")


def mpich_beside_the_nic():
    beside_the_nic("mpich")


def four_ranks():
    report = document(*tools("open_mpi"), *QUICK, "--no-perf", "-n", "4", "--memory", "host", "--measure",
                      "multi-pair,all-reduce,all-to-all,latency", "--", *OVER_NIC["open_mpi"], status=0)
    expect(len(rows_of(report, "multi-pair")) == 2 and report["mpi"]["ranks"] == 4, report["mpi"])
    for row in report["rows"]:
        expect(row["wrong_bytes"] == 0, row)


def gpu_memory_cannot_be_passed():
    """The distribution's MPIs know no CUDA: what is staged by hand is measured, and the answer says why."""
    report = document(*tools("open_mpi"), *QUICK, "--no-perf", "--measure", "latency,bandwidth,all-reduce", "--",
                      *OVER_NIC["open_mpi"], status=3)
    expect(report["gpu_memory"] == "cannot be passed" and report["verdict"] == "in part", report["headline"])
    expect("GPU memory cannot be passed to it" in report["headline"], report["headline"])
    expect(any("gdr mpi check" in reason for reason in report["reasons"]), report["reasons"])
    pairs = {(row["from"], row["to"]) for row in report["rows"]}
    expect(pairs == {("host", "host"), ("host", "staged"), ("staged", "staged")}, pairs)
    for row in report["rows"]:
        expect(row["wrong_bytes"] == 0, row)
        if row["to"] == "staged":
            expect(row["own_copies_to_gpu_bytes"] >= row["compared_bytes"] / 2, row)


def cuda_aware():
    """With a UCX that knows CUDA, the same Open MPI: the software NIC reads and writes the software GPU's
    memory. GDR_TEST_CUDA_UCX: the folders of that UCX's libraries, and of a libnvidia-ml.so.1."""
    folders = os.environ.get("GDR_TEST_CUDA_UCX")
    if not folders:
        raise Skip("GDR_TEST_CUDA_UCX names no UCX that is built with CUDA")
    environment = {**os.environ, "LD_LIBRARY_PATH": folders}
    for extra, way, verdict, status in [([], "direct", "used", 0),
                                        (["-x", "UCX_IB_GPU_DIRECT_RDMA=n"], "staged", "in part", 3)]:
        done = run("--json", *tools("open_mpi"), *QUICK, "--gpu-pointers", "yes", "--measure", "latency,bandwidth",
                   "--", "--mca", "pml", "ucx", "-x", "LD_LIBRARY_PATH", "-x", "UCX_TLS=rc,cuda_copy", *extra,
                   env=environment)
        expect(done.returncode == status, f"status {done.returncode}: {done.stderr}{done.stdout}")
        report = json.loads(done.stdout)
        expect(report["gpu_memory"] == way and report["verdict"] == verdict, (report["headline"], report["reasons"]))
        for row in report["rows"]:
            expect(row["wrong_bytes"] == 0, row)
    expect("GPUDirect RDMA is not used" in report["headline"], report["headline"])


def wrong_values():
    """The software NIC loses a write: wrong values, with the first one's place."""
    done = run(*tools("open_mpi"), *QUICK, "--no-perf", "--memory", "host", "--measure", "bandwidth", "--",
               *OVER_NIC["open_mpi"], env={**os.environ, "GDR_FAULT": "drop_write"})
    expect(done.returncode == 1, f"status {done.returncode}: {done.stdout}{done.stderr}")
    expect("Open MPI" in done.stdout and "delivered wrong values: " in done.stdout, done.stdout)
    expect(" of 65536 is 0x" in done.stdout and "WRONG" in done.stdout, done.stdout)


def refuses():
    find("open_mpi"), find("mpich")
    gdr_program.expect_refused(["mpi", "run", "--mpirun", find("mpich").launcher, "--mpicc",
                                find("open_mpi").compiler], "two MPIs: ")
    gdr_program.expect_refused(["mpi", "run"], "no mpirun: ", env={"PATH": "/nowhere"})
    gdr_program.expect_refused(["mpi", "run", "--launcher", "srun"], "no srun: ", env={"PATH": "/nowhere"})
    with tempfile.TemporaryDirectory() as folder:
        fake = pathlib.Path(folder) / "mpirun"
        fake.write_text("#!/bin/sh\necho a launcher of nothing\n", encoding="ascii")
        fake.chmod(0o755)
        gdr_program.expect_refused(["mpi", "run", "--mpirun", fake], "no launcher of an MPI that gdr knows")
    for words, part in [(["--measure", "luck"], "unknown measure 'luck'"), (["--memory", "disk"], "unknown memory"),
                        (["--report", "x.txt"], ".json or .csv or .html"), (["-n", "1"], "2 to 4096"),
                        (["--launcher", "ssh"], "allowed: mpirun, srun"), (["--time-limit", "0"], "greater than 0"),
                        (["--soft", "--require-hardware"], "exclude each other"),
                        (["--folder", "/nowhere/x"], "type --folder DIR"), (["--", "-np", "4"], "-n N in front of --")]:
        gdr_program.expect_refused(["mpi", "run", *words], part)


def left_over(mark):
    """Processes with this word in their command line; zombies have none."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if mark in words and int(entry.parent.name) != os.getpid():
            found.append(words)
    return found


def expect_nothing_left(mark):
    end = time.monotonic() + 100
    while left_over(mark):
        expect(time.monotonic() < end, f"left over: {left_over(mark)}")
        time.sleep(0.1)


def one_line(done, part, status=1):
    expect(done.returncode == status, f"status {done.returncode}: {done.stderr}")
    expect(done.stdout == "" and done.stderr.count("\n") == 1 and part in done.stderr,
           f"no one line with '{part}': {done.stderr}{done.stdout}")


HANGS = """#!/bin/sh
[ "$1" = --version ] && exec {launcher} --version
trap "" TERM
setsid sh -c 'trap "" TERM; : {mark}; sleep 700; sleep 701' &
: {mark}; sleep 702; sleep 703
"""


def hanging_launcher():
    mpi = find("open_mpi")
    with tempfile.TemporaryDirectory() as folder:
        mark = f"mark-{os.path.basename(folder)}"
        fake = pathlib.Path(folder) / f"{mark}-mpirun"
        fake.write_text(HANGS.format(launcher=mpi.launcher, mark=mark), encoding="ascii")
        fake.chmod(0o755)
        start = time.monotonic()
        done = run("--mpirun", fake, "--mpicc", mpi.compiler, "--time-limit", "1s")
        one_line(done, "had not ended within 1s, after 0 rows")
        expect(time.monotonic() - start < 600, "it waited for what never ends")
        expect_nothing_left(mark)


ENDLESS = """#!/bin/sh
[ "$1" = --version ] && exec {launcher} --version
{launcher} "$@"
: {mark}; sleep 704; sleep 705
"""


def launcher_that_does_not_end():
    """Behind the last row: the answer stands, and nothing stays."""
    mpi = find("open_mpi")
    with tempfile.TemporaryDirectory() as folder:
        mark = f"mark-{os.path.basename(folder)}"
        fake = pathlib.Path(folder) / f"{mark}-mpirun"
        fake.write_text(ENDLESS.format(launcher=mpi.launcher, mark=mark), encoding="ascii")
        fake.chmod(0o755)
        report = document("--mpirun", fake, "--mpicc", mpi.compiler, *QUICK, "--no-perf", "--memory", "host",
                          "--measure", "latency", "--", *OVER_NIC["open_mpi"], status=0)
        expect(any("did not come out of MPI_Finalize" in reason for reason in report["reasons"]), report["reasons"])
        expect_nothing_left(mark)


def long_run(name, folder):
    """Started, with both ranks at work."""
    process = subprocess.Popen([gdr, "mpi", "run", *tools(name), "--memory", "host", "--duration", "30",
                                "--time-limit", "90s", "--folder", folder], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 400
    while len(ranks_in(folder)) < 2:
        expect(process.poll() is None, f"ended: {process.returncode}")
        expect(time.monotonic() < end, "no ranks")
        time.sleep(0.1)
    time.sleep(0.5)
    return process


def ranks_in(folder):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/exe"):
        try:
            if os.readlink(entry).startswith(f"{folder}/"):
                found.append(int(entry.parent.name))
        except OSError:
            pass
    return found


def ended(process):
    said, complained = process.communicate(timeout=600)
    return subprocess.CompletedProcess([], process.returncode, said, complained)


def dying_rank():
    for name in ("open_mpi", "mpich"):
        with tempfile.TemporaryDirectory() as folder:
            process = long_run(name, folder)
            os.kill(ranks_in(folder)[0], signal.SIGKILL)
            one_line(ended(process), "ended after ")
            expect_nothing_left(folder)
            expect(os.listdir(folder) == [], f"files are left: {os.listdir(folder)}")


def interrupted_and_killed():
    """Ctrl-C ends it with a line; a gdr that is killed takes its ranks along."""
    with tempfile.TemporaryDirectory() as folder:
        process = long_run("open_mpi", folder)
        process.send_signal(signal.SIGINT)
        one_line(ended(process), "interrupted after ")
        expect_nothing_left(folder)
    for name in ("open_mpi", "mpich"):
        with tempfile.TemporaryDirectory() as folder:
            process = long_run(name, folder)
            process.kill()
            ended(process)
            expect_nothing_left(folder)


def reports():
    with tempfile.TemporaryDirectory() as folder:
        files = {ending: pathlib.Path(folder) / f"mpi.{ending}" for ending in ("json", "csv", "html")}
        words = [word for file in files.values() for word in ("--report", file)]
        done = run(*tools("open_mpi"), *QUICK, "--no-perf", "--memory", "host", "--measure", "latency", *words, "--",
                   *OVER_NIC["open_mpi"])
        expect(done.returncode == 0, f"status {done.returncode}: {done.stderr}")
        expect("# Latency, one way (us)\n# Size " in done.stdout, done.stdout)
        expect("# STAND-INS: software NIC\n" in done.stdout, done.stdout)
        report = json.loads(files["json"].read_text(encoding="utf-8"))
        expect(report["headline"] in done.stdout, done.stdout)
        with open(files["csv"], encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        expect([row["size_bytes"] for row in rows] == ["8", "65536"], rows)
        expect(report["headline"] in files["html"].read_text(encoding="utf-8"), "the page lacks the answer")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run(*tools("open_mpi"), *QUICK, "--no-perf", "--memory", "host", "--measure", "latency",
                   capture_output=False, stdout=full, stderr=subprocess.PIPE)
    expect(done.returncode == 1 and "cannot write" in done.stderr, f"to a full disk: {done.returncode} {done.stderr}")


CASES = [open_mpi_over_the_nic, open_mpi_beside_the_nic, mpich_over_the_nic, mpich_beside_the_nic, four_ranks,
         gpu_memory_cannot_be_passed, cuda_aware, wrong_values, refuses, hanging_launcher,
         launcher_that_does_not_end, dying_rank, interrupted_and_killed, reports]

if __name__ == "__main__":
    try:
        {case.__name__: case for case in CASES}[sys.argv[2]]()
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

#!/usr/bin/env python3
"""json_envelope.py GDR SOURCE: every subcommand that has --json prints one document that begins as all do, and every
--report FILE.json holds one. The subcommands come from the program itself: one that is new fails here until it is
run here, too."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from envelope import problem_of
from gdr_program import expect, gdr, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "mpi"))
import record

source = pathlib.Path(sys.argv[2])
QUICK = ["--soft", "--memory", "host", "--sizes", "64", "--iterations", "16", "--repeats", "2"]
# Neither hardware nor privileges are needed but for these, whose tests look at the document themselves.
ELSEWHERE = {
    "gdr mpi run": "takes an MPI: mpi_run.beside_the_nic",
    "gdr peermem build": "takes a kernel's headers and a GPU driver",
    "gdr peermem install": "takes a module: peermem.command",
}


def offered(*words):
    return [line.split("\t")[0] for line in run("__complete", *words).stdout.splitlines()]


def commands(*words):
    """All subcommands, each as a list of words."""
    for word in offered(*words, ""):
        if word.startswith(("-", ":")) or word == "help":
            continue
        if f"Usage: gdr {' '.join([*words, word])}" in run(*words, word, "--help").stdout:
            yield [*words, word]
            yield from commands(*words, word)


class Runs:
    """What follows each subcommand's words, and the exit statuses that it may have here."""

    def __init__(self, work):
        empty = work / "root"
        (empty / "sys/class/infiniband/rxe0").mkdir(parents=True)
        (empty / "sys/bus/pci/devices").mkdir(parents=True)
        (empty / "proc").mkdir()
        self.base, self.counters, self.fabric = work / "base.json", work / "counters", work / "fabric.json"
        self.work = work
        log = source / "tests/nccl/logs/v2_28_gdrdma.log"
        mpi = record.unpack(source / "tests/mpi/records/openmpi-5.0.2-cuda-ucx.txt", work)
        self.all = {
            "gdr prove": (["--soft", "--no-measure", "--sizes", "64", "--modes", "write"], {0}),
            "gdr topo": ([], {0}),
            "gdr list": (["--soft"], {0}),
            "gdr doctor": (["--no-probe"], {0, 1, 3}),
            "gdr doctor capture": (["--root", empty, work / "capture.tar"], {0}),
            "gdr fix": (["--root", empty], {0, 1}),
            "gdr peermem status": (["--root", empty, "--kernel", "6.8.0-45-generic"], {0, 1}),
            "gdr explain": (["--no-check", "ibv_reg_mr failed: Cannot allocate memory"], {0}),
            "gdr perf": (QUICK, {0}),
            "gdr perf compare": ([self.base, self.base], {0}),
            "gdr fabric": (["--local", "2", "--soft", "--no-doctor", "--duration", "10ms"], {0}),
            "gdr fabric compare": ([self.fabric, self.fabric], {0}),
            "gdr watch": (["--", "sh", "-c", "echo out"], {0}),
            "gdr mpi check": (["--root", mpi.root], {0, 1, 3}),
            "gdr nccl check": ([log], {0}),
            "gdr nccl run": (["--", "sh", "-c", "echo out"], {0}),
            "gdr counters": ([self.counters], {0}),
            "gdr version": ([], {0}),
        }
        if os.geteuid() == 0:
            self.all["gdr peermem remove"] = (["--journal", work / "journal"], {0})
        else:
            ELSEWHERE["gdr peermem remove"] = "takes root"

    def prepare(self):
        """What three of them read: two runs, and what the software NIC's packets counted."""
        done = run("perf", *QUICK, "--report", self.base,
                   env={**os.environ, "GDR_SOFT_COUNTERS": str(self.counters), "GDR_SOFT_PATH": "packets"})
        expect(done.returncode == 0, f"gdr perf --report: {done.stderr}")
        done = run("fabric", *self.all["gdr fabric"][0], "--report", self.fabric)
        expect(done.returncode == 0, f"gdr fabric --report: {done.stdout}{done.stderr}")


def try_json(command, name, words, statuses):
    done = run(*command, "--json", *words, stdin=subprocess.DEVNULL)
    expect(done.returncode in statuses, f"{name} --json: exit status {done.returncode}: {done.stderr}")
    problem = problem_of(done.stdout, name)
    expect(problem is None, f"{name} --json: {problem}")


def try_report(command, name, words, work):
    file = work / "report.json"
    done = run(*command, "--report", file, *words, stdin=subprocess.DEVNULL)
    expect(file.exists(), f"{name} --report: exit status {done.returncode}: {done.stderr}")
    problem = problem_of(file.read_text(), name)
    expect(problem is None, f"{name} --report FILE.json: {problem}")
    file.unlink()


def main():
    with tempfile.TemporaryDirectory() as folder:
        runs = Runs(pathlib.Path(folder))
        runs.prepare()
        tried = set()
        for command in commands():
            name = " ".join(["gdr", *command])
            options = offered(*command, "-")
            if "--json" not in options or name in ELSEWHERE:
                continue
            expect(name in runs.all, f"{name} has --json: say in {__file__} how it is run")
            words, statuses = runs.all[name]
            try_json(command, name, words, statuses)
            if "--report" in options:
                try_report(command, name, words, runs.work)
            tried.add(name)
        expect(tried == set(runs.all), f"without --json: {set(runs.all) - tried}")
    print(f"{len(tried)} subcommands; not here: " + "; ".join(map(": ".join, ELSEWHERE.items())))


if __name__ == "__main__":
    main()

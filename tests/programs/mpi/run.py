#!/usr/bin/env python3
"""run.py GDR MPI WAY [--ranks N] [--two-hosts] [OPTIONS of mpi_check...]: an MPI's communication of
every kind over the software NIC, every byte compared (check/), and proof that the software NIC has
carried those bytes. MPI: open_mpi or mpich; WAY: one of implementations.py.

A WAY without the NIC is the control: there the same proof has to fail.

With --two-hosts the ranks are split between two network namespaces with a link between them, each
rank below a `gdr run` of its own; else the launcher and its ranks are below one `gdr run`.

With --fault NAME a gdrkit with fault hooks breaks the data path, and mpi_check has to say which bytes
are wrong."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parents[1] / "support"), str(HERE)]
import two_hosts  # noqa: E402
from implementations import IMPLEMENTATIONS, Skip, find  # noqa: E402
from two_programs import start, stop  # noqa: E402

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
CARRIED = re.compile(r"software NIC: opened \w[^;\n]*, ([0-9.]+) (B|KiB|MiB|GiB)")
RIGHT = re.compile(r"^mpi_check: all right: (\d+) ranks, (\d+) steps, (\d+) bytes compared$",
                   re.MULTILINE)


def carried_bytes(said):
    """What all `gdr run` lines in it say of bytes that were posted and received."""
    return sum(float(number) * UNITS[unit] for number, unit in CARRIED.findall(said))


def check_ran(said, status, ranks):
    """Bytes that were compared; or what was wrong."""
    right = RIGHT.search(said)
    if status != 0 or right is None or "mpi_check: FAILED" in said:
        return None, f"exit {status}"
    if int(right[1]) != ranks:
        return None, f"{right[1]} ranks took part, expected {ranks}"
    return int(right[3]), None


def proof(carried, compared):
    """None: the software NIC carried the messages. Some of what is compared never leaves its rank,
    and accumulated numbers count less than they move; on the other hand, both ends count."""
    if carried * 2 >= compared:
        return None
    return f"the software NIC carried {carried:.0f} bytes, and {compared} were compared"


def run_here(options, mpi, program):
    gdr = [options.gdr, "run", "--soft-nic", "--no-soft-gpu", "--"]
    command = [*gdr, *mpi.command(options.way, options.ranks, program)]
    environment = dict(os.environ)
    if options.fault:
        environment["GDR_FAULT"] = options.fault
    process = start(command, environment)
    try:
        said = process.communicate(timeout=options.limit + 30)[0]
    except subprocess.TimeoutExpired:
        stop(process)
        return f"no end within {options.limit + 30} seconds", 124, 0
    return said, process.returncode, carried_bytes(said)


def run_on_two_hosts(options, mpi, program):
    gdr = [options.gdr, "run", "--soft-nic", "--no-soft-gpu", "--"]
    with two_hosts.Hosts(mtu=4200) as hosts:
        command = mpi.command(options.way, options.ranks, [*gdr, *program],
                              hosts=hosts.ADDRESSES, agent=hosts.remote_shell())
        process = hosts.start(0, command)
        try:
            said = process.communicate(timeout=options.limit + 30)[0]
        except subprocess.TimeoutExpired:
            stop(process)
            return f"no end within {options.limit + 30} seconds", 124, 0
        # Only what both hosts have sent to each other counts.
        sent = [counters["bytes_sent"] for counters in hosts.take_counters(options.gdr)]
    return said, process.returncode, 2 * min(sent)


def wrong_with(options, mpi, program):
    """None, or what was wrong."""
    run = run_on_two_hosts if options.two_hosts else run_here
    said, status, carried = run(options, mpi, program)
    if options.fault:
        told = [line for line in said.splitlines()
                if "mpi_check: FAILED: " in line and "bytes are wrong" in line]
        if status != 0 and told:
            print(told[0])
            return None
        return f"GDR_FAULT={options.fault} went unnoticed:\n{said}"
    compared, wrong = check_ran(said, status, options.ranks)
    if wrong is None:
        unproved = proof(carried, compared)
        if mpi.ways[options.way].on_nic:
            wrong = unproved
        elif unproved is None:
            wrong = "without the software NIC its proof did not fail"
        print(f"{compared} bytes compared, {carried:.0f} bytes through the software NIC")
    return f"{wrong}:\n{said}" if wrong else None


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("gdr", type=os.path.abspath)
    parser.add_argument("mpi", choices=sorted(IMPLEMENTATIONS))
    parser.add_argument("way")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--two-hosts", action="store_true")
    parser.add_argument("--fault", default="")
    parser.add_argument("--limit", type=int, default=100, help="seconds")
    options, options.of_check = parser.parse_known_args()
    if options.way not in IMPLEMENTATIONS[options.mpi].ways:
        parser.error(f"{options.mpi} has the ways {', '.join(IMPLEMENTATIONS[options.mpi].ways)}")
    return options


def main():
    options = parse()
    mpi = find(options.mpi)
    if options.two_hosts:
        two_hosts.become_root()
    with tempfile.TemporaryDirectory() as folder:
        program = [mpi.compile(folder), "--limit", str(options.limit), *options.of_check]
        only = mpi.ways[options.way].only
        if only and "--only" not in program:
            program += ["--only", only]
        wrong = wrong_with(options, mpi, program)
    where = "between two hosts" if options.two_hosts else "on one host"
    if wrong is not None:
        print(f"FAILED: {options.mpi}, {options.way}, {options.ranks} ranks {where}: {wrong}")
        return 1
    print(f"ok  {options.mpi}, {options.way}, {options.ranks} ranks {where}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (Skip, two_hosts.Skip) as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

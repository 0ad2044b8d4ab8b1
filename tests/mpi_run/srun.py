#!/usr/bin/env python3
"""srun.py GDR: gdr mpi run under Slurm, on two nodes: a network, a host name and a mount namespace each, with a
link between them. Ranks on both nodes find each other by PMIx, and their messages cross the link as packets of
the software NIC: bytes left the NIC of each node."""
import json
import os
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import cluster  # noqa: E402
import gdr_program  # noqa: E402
from gdr_program import expect  # noqa: E402


def is_used_between_nodes(hosts):
    environment = {**os.environ, "OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "UCX_TLS": "rc",
                   "OMPI_MCA_btl": "^openib"}
    done = gdr_program.run("mpi", "run", "--launcher", "srun", "--mpicc", "mpicc.openmpi", "--hosts",
                           ",".join(hosts.nodes), "--memory", "host", "--sizes", "8,64K", "--duration", "0.05", "--time-limit", "90s",
                           "--folder", hosts.work, "--json", "--measure", "latency,bandwidth,all-to-all", env=environment)
    expect(done.returncode == 0, f"status {done.returncode}: {done.stderr}{done.stdout}{hosts.logs()}")
    report = json.loads(done.stdout)
    expect(report["verdict"] == "used", report["headline"])
    expect(report["mpi"]["hosts"] == hosts.nodes, report["mpi"])
    perf = report["gdr_perf"]
    expect(perf["problem"] is None and perf["rows"] and report["share_of_nic"] > 0, perf)
    expect((perf["near"], perf["far"]) == ("soft0", "soft0"), perf)
    for row in report["rows"]:
        expect(row["wrong_bytes"] == 0 and row["compared_bytes"] > 0, row)
        nics = {nic["name"].split("/")[0]: nic["bytes_out"] for nic in row["counters"]["nics"]
                if nic["name"].endswith("soft0")}
        expect(sorted(nics) == hosts.nodes, nics)
        expect(sum(nics.values()) >= row["sent_bytes"], row)


def without_pmix_ranks_do_not_find_each_other(hosts):
    done = gdr_program.run("mpi", "run", "--launcher", "srun", "--mpicc", "mpicc.openmpi", "--memory", "host",
                           "--folder", hosts.work, "--time-limit", "60s", "--", "--mpi=none")
    expect(done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, f"{done.returncode} {done.stderr}")
    expect("that do not find each other" in done.stderr and "--mpi=list" in done.stderr, done.stderr)


def main():
    cluster.enter(*cluster.SLURM, "mpicc.openmpi")
    with cluster.Cluster(2) as hosts:
        hosts.start_slurm()
        is_used_between_nodes(hosts)
        without_pmix_ranks_do_not_find_each_other(hosts)


main()

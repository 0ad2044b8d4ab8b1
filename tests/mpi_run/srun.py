#!/usr/bin/env python3
"""srun.py GDR: gdr mpi run under Slurm, on two nodes: a network, a host name and a mount namespace each, with a
link between them. Ranks on both nodes find each other by PMIx, and their messages cross the link as packets of
the software NIC: bytes left the NIC of each node."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import gdr_program  # noqa: E402
from gdr_program import expect  # noqa: E402

NODES = ("n1", "n2")
CONFIG = """
ClusterName=test
SlurmctldHost=hub(10.77.0.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge.sock
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd-%n.pid
SlurmdSpoolDir={work}/spool-%n
StateSaveLocation={work}/state
TmpFS={work}/tmp-%n
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
TaskProlog={work}/task-prolog
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
NodeName=n1 NodeAddr=10.77.0.1 CPUs=2 RealMemory=500 State=UNKNOWN
NodeName=n2 NodeAddr=10.77.0.2 CPUs=2 RealMemory=500 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=5 State=UP
"""
# Each node's software NIC has the node's address, which the other node reaches.
TASK_PROLOG = """#!/bin/sh
echo "export GDR_SOFT_DEVICES=soft0/ip=10.77.0.$(hostname | tr -d n)"
"""


def run(*words, **more):
    return subprocess.run([*map(str, words)], **{"capture_output": True, "text": True, "timeout": 60, **more})


def must(*words, **more):
    done = run(*words, **more)
    expect(done.returncode == 0, f"{words}: status {done.returncode}: {done.stdout}{done.stderr}")


def start(*words):
    """Daemons, which end with the process namespace; they keep no pipe of the test's open."""
    must(*words, capture_output=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def inside(node, work, *words):
    namespace = ["nsenter", f"--net=/run/netns/{node}"] if node != "hub" else []
    script = f'hostname {node} && mount --bind {work}/hosts /etc/hosts && mount -t tmpfs t /dev/shm && exec "$@"'
    return [*namespace, "unshare", "--uts", "--mount", "sh", "-c", script, "sh", *words]


def make_networks(work):
    must("ip", "link", "add", "br0", "type", "bridge")
    must("ip", "address", "add", "10.77.0.254/24", "dev", "br0")
    must("ip", "link", "set", "br0", "up")
    for number, node in enumerate(NODES, start=1):
        must("ip", "netns", "add", node)
        must("ip", "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0", "netns", node)
        must("ip", "link", "set", f"v{number}", "master", "br0", "up")
        must("ip", "-n", node, "address", "add", f"10.77.0.{number}/24", "dev", "eth0")
        for device in ("eth0", "lo"):
            must("ip", "-n", node, "link", "set", device, "up")
    hosts = ["127.0.0.1 localhost", "10.77.0.254 hub", *(f"10.77.0.{i} {n}" for i, n in enumerate(NODES, start=1))]
    (work / "hosts").write_text("\n".join(hosts) + "\n", encoding="ascii")


def start_slurm(work):
    config = work / "slurm.conf"
    config.write_text(CONFIG.format(work=work), encoding="ascii")
    os.environ["SLURM_CONF"] = str(config)
    (work / "state").mkdir()
    (work / "task-prolog").write_text(TASK_PROLOG, encoding="ascii")
    (work / "task-prolog").chmod(0o755)
    key = work / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    start("munged", "--key-file", key, "--socket", work / "munge.sock", "--pid-file", work / "munged.pid",
          "--log-file", work / "munged.log", "--seed-file", work / "munged.seed", "--force")
    start(*inside("hub", work, "slurmctld", "-f", str(config), "-c"))
    for node in NODES:
        for folder in ("spool", "tmp"):  # both nodes' PMIx would make the same folder in /tmp
            (work / f"{folder}-{node}").mkdir()
        start(*inside(node, work, "slurmd", "-f", str(config), "-N", node))
    end = time.monotonic() + 60
    while run("sinfo", "--noheader", "--states", "idle", "--format", "%D").stdout.strip() != "2":
        expect(time.monotonic() < end, f"no two idle nodes within 60 s: {run('sinfo').stdout}{logs(work)}")
        time.sleep(0.2)


def logs(work):
    return "".join(run("tail", "-n", "15", log).stdout for log in sorted(work.glob("*.log")))


def is_used_between_nodes(work):
    environment = {**os.environ, "OMPI_MCA_pml": "ucx", "OMPI_MCA_osc": "ucx", "UCX_TLS": "rc",
                   "OMPI_MCA_btl": "^openib"}
    done = gdr_program.run("mpi", "run", "--launcher", "srun", "--mpicc", "mpicc.openmpi", "--hosts", ",".join(NODES),
                           "--memory", "host", "--sizes", "8,64K", "--duration", "0.05", "--time-limit", "90s",
                           "--folder", work, "--json", "--measure", "latency,bandwidth,all-to-all", env=environment)
    expect(done.returncode == 0, f"status {done.returncode}: {done.stderr}{done.stdout}{logs(work)}")
    report = json.loads(done.stdout)
    expect(report["verdict"] == "used", report["headline"])
    expect(report["mpi"]["hosts"] == list(NODES), report["mpi"])
    perf = report["gdr_perf"]
    expect(perf["problem"] is None and perf["rows"] and report["share_of_nic"] > 0, perf)
    expect((perf["near"], perf["far"]) == ("soft0", "soft0"), perf)
    for row in report["rows"]:
        expect(row["wrong_bytes"] == 0 and row["compared_bytes"] > 0, row)
        nics = {nic["name"].split("/")[0]: nic["bytes_out"] for nic in row["counters"]["nics"]
                if nic["name"].endswith("soft0")}
        expect(sorted(nics) == list(NODES), nics)
        expect(sum(nics.values()) >= row["sent_bytes"], row)


def without_pmix_ranks_do_not_find_each_other(work):
    done = gdr_program.run("mpi", "run", "--launcher", "srun", "--mpicc", "mpicc.openmpi", "--memory", "host", "--folder",
                           work, "--time-limit", "60s", "--", "--mpi=none")
    expect(done.returncode == 1 and done.stdout == "" and done.stderr.count("\n") == 1, f"{done.returncode} {done.stderr}")
    expect("that do not find each other" in done.stderr and "--mpi=list" in done.stderr, done.stderr)


def main():
    missing = [name for name in ("slurmctld", "slurmd", "munged", "srun", "unshare", "nsenter", "ip", "mpicc.openmpi")
               if not shutil.which(name)]
    if missing or os.geteuid() != 0:
        print(f"skipped: {', '.join(missing)} not installed (packages slurm-wlm, munge, libopenmpi-dev)" if missing else
              "skipped: needs root")
        sys.exit(77)
    if len(sys.argv) == 2:
        inner = "mount -t tmpfs tmpfs /run && ip link set lo up && hostname hub && exec \"$@\""
        unshare = ["unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
        os.execvp("unshare", [*unshare, "sh", "-c", inner, "sh", sys.executable, *sys.argv, "inside"])
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        work.chmod(0o755)
        make_networks(work)
        must("mount", "--bind", work / "hosts", "/etc/hosts")
        start_slurm(work)
        is_used_between_nodes(work)
        without_pmix_ranks_do_not_find_each_other(work)


main()

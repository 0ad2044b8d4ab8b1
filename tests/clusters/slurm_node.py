#!/usr/bin/env python3
"""slurm_node.py TREE: a Slurm of one node, in namespaces of its own, runs the prolog, the epilog and the
health check: a job runs on a good node, and each of the three drains a bad one, with the reason."""
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import time

from installation import Installation, expect, run

CONFIG = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={work}/munge.sock
SlurmctldPidFile={work}/slurmctld.pid
SlurmdPidFile={work}/slurmd.pid
SlurmdSpoolDir={work}/spool
StateSaveLocation={work}/state
SlurmctldLogFile={work}/slurmctld.log
SlurmdLogFile={work}/slurmd.log
TmpFS={work}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
GresTypes=gpu
Prolog={work}/prolog.d/*
Epilog={work}/epilog.d/*
PrologFlags=Alloc
HealthCheckProgram={work}/health-check
HealthCheckInterval={interval}
HealthCheckNodeState=ANY
NodeName=n1 NodeHostname={host} NodeAddr=127.0.0.1 CPUs=2 RealMemory=500 Gres=gpu:2 State=UNKNOWN
PartitionName=all Nodes=n1 Default=YES MaxTime=5 State=UP
"""


class Slurm:
    def __init__(self, installed, work):
        self.installed, self.work = installed, work
        self.config = work / "slurm.conf"
        os.environ["SLURM_CONF"] = str(self.config)
        for folder in ("spool", "state", "gpus", "prolog.d", "epilog.d"):
            (work / folder).mkdir()
        for number in range(2):
            # Slurm numbers the GPUs that it gives to a job by these files. Nothing opens them.
            os.mknod(work / f"gpus/nvidia{number}", stat.S_IFCHR | 0o600, os.makedev(195, number))
        (work / "gres.conf").write_text(f"NodeName=n1 Name=gpu File={work}/gpus/nvidia[0-1]\n", encoding="ascii")
        for name in ("prolog.d", "epilog.d"):
            (work / name / "50-gdr.sh").symlink_to(installed.clusters / "slurm" / name / "50-gdr.sh")
        # A health check is not told where slurm.conf is; elsewhere it lies where Slurm looks for it.
        check = work / "health-check"
        check.write_text(f"#!/bin/sh\nSLURM_CONF={self.config} exec {installed.clusters}/slurm/health-check.sh\n",
                         encoding="ascii")
        check.chmod(0o755)
        self.write_config(interval=0)
        key = work / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        self.start("munged", "--key-file", key, "--socket", work / "munge.sock", "--pid-file", work / "munged.pid",
                   "--log-file", work / "munged.log", "--seed-file", work / "munged.seed", "--force")
        self.start("slurmctld", "-f", self.config, "-c")
        self.start("slurmd", "-f", self.config, "-N", "n1")
        self.wait_for("idle")

    def write_config(self, interval):
        self.config.write_text(CONFIG.format(host=os.uname().nodename, work=self.work, interval=interval),
                               encoding="ascii")

    def start(self, *words):
        # They become daemons, which end with this process namespace, and keep no pipe of the test's open.
        done = run(*words, capture_output=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        expect(done.returncode == 0, f"{words[0]}: status {done.returncode}")

    def node(self):
        return run("scontrol", "show", "node", "--oneliner", "n1").stdout

    def state(self):
        return run("sinfo", "--noheader", "--Format", "statelong").stdout.strip()

    def wait_for(self, *states, reason=""):
        end = time.monotonic() + 600
        while self.state() not in states or reason not in self.node():
            expect(time.monotonic() < end, f"not {states} with '{reason}' within 60 s: {self.node()}{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        return "".join(run("tail", "-n", "15", self.work / name).stdout for name in ("slurmd.log", "slurmctld.log"))

    def resume(self):
        run("scontrol", "update", "NodeName=n1", "State=RESUME")
        self.wait_for("idle")


def prolog(slurm):
    """A good node runs the job; on one without hardware the job waits, and the node is drained."""
    slurm.installed.have_hardware(True)
    done = run("srun", "--gres=gpu:1", "echo", "ran")
    expect(done.stdout == "ran\n", f"{done.stderr}{slurm.logs()}")
    proofs = [call for call in slurm.installed.calls() if call.startswith("prove")]
    expect(len(proofs) == 1 and proofs[0].endswith(" --gpu 0"), f"proved {proofs}")
    slurm.wait_for("idle")
    slurm.installed.have_hardware(False)
    job = run("sbatch", "--parsable", "--gres=gpu:1", "--output=/dev/null", "--wrap", f"touch {slurm.work}/ran")
    slurm.wait_for("drained", reason="Reason=Prolog error")
    expect(not (slurm.work / "ran").exists(), "the job ran where nothing was proved")
    run("scancel", job.stdout.strip())
    slurm.installed.have_hardware(True)
    slurm.resume()


def epilog(slurm):
    """What a job broke is found when it ends."""
    machine = slurm.installed.bin / "machine"
    run("srun", "ln", "-sfn", slurm.work / "bad", machine)
    slurm.wait_for("drained", reason="Reason=Epilog error")
    slurm.installed.show("good")
    slurm.resume()


def health(slurm):
    """Drains, with the finding as the reason, and resumes by itself; a person's drain stays."""
    slurm.write_config(interval=1)
    run("scontrol", "reconfigure")
    slurm.installed.show("bad")
    slurm.wait_for("drained", reason="Reason=gdr: devices: /dev/nvidiactl is absent")
    slurm.installed.show("good")
    slurm.wait_for("idle")
    run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=new fan")
    slurm.installed.calls()
    end = time.monotonic() + 600
    while len(slurm.installed.calls()) < 1:
        expect(time.monotonic() < end, "no health check within 60 s")
        time.sleep(0.5)
    time.sleep(2)
    expect(slurm.state() == "drained" and "Reason=new fan" in slurm.node(), slurm.node())


def main():
    missing = [name for name in ("slurmctld", "slurmd", "munged", "srun", "unshare") if not shutil.which(name)]
    if missing or os.geteuid() != 0:
        print(f"skipped: {', '.join(missing)} not installed (packages slurm-wlm, munge)" if missing else
              "skipped: needs root")
        sys.exit(77)
    if len(sys.argv) == 2:
        # What Slurm starts ends with the process namespace; its ports and /run are nobody else's. It asks for
        # addresses as hosts have that are on a network.
        inner = ("mount -t tmpfs tmpfs /run && ip link set lo up && ip link add net0 type veth peer name net1 && "
                 "ip address add 10.77.0.1/24 dev net0 && ip link set net0 up && ip link set net1 up && "
                 "exec \"$@\"")
        unshare = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        os.execvp("unshare", [*unshare, "sh", "-c", inner, "sh", sys.executable, *sys.argv, "inside"])
    with tempfile.TemporaryDirectory() as work:
        work = pathlib.Path(work)
        work.chmod(0o755)
        slurm = Slurm(Installation(sys.argv[1], work), work)
        prolog(slurm)
        epilog(slurm)
        health(slurm)


main()

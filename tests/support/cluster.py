"""Hosts on one machine, joined by a bridge: each has a network, a host name, a mount table, /dev/shm and /etc/hosts
of its own. On them Slurm, and mpirun by way of a remote shell.

    cluster.enter("srun", "mpirun.openmpi")         # root of namespaces of its own, or the test is skipped
    with cluster.Cluster(4) as hosts:               # n1 to n4; this process is on a host of its own, "hub"
        hosts.start_slurm()
        done = cluster.run("srun", "--nodes", 4, "hostname")
        done = hosts.mpirun("--map-by", "node", "hostname")
        done = hosts.run_on("n2", "hostname")

The software NIC of what Slurm, mpirun and the remote shell start has the address of its host. All of it ends with
this process: it is the first of its process namespace.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

from gdr_program import expect

PACKAGES = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux", "srun": "slurm-client",
            "slurmctld": "slurm-wlm", "slurmd": "slurm-wlm", "munged": "munge", "mpirun.openmpi": "openmpi-bin",
            "mpicc.openmpi": "libopenmpi-dev", "sshd": "openssh-server", "ssh": "openssh-client"}
SLURM = ("srun", "slurmctld", "slurmd", "munged")
SSH = ("sshd", "ssh", "ssh-keygen")
INSIDE = "INSIDE_TEST_CLUSTER"
CONFIG = """
ClusterName=test
SlurmctldHost=hub(10.77.0.254)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
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
{nodes}
PartitionName=all Nodes=ALL Default=YES MaxTime=5 State=UP
"""
SSHD_CONFIG = """
HostKey {work}/ssh-key
AuthorizedKeysFile {work}/ssh-key.pub
PermitRootLogin yes
StrictModes no
UsePAM no
PidFile none
"""
SSH_CONFIG = """
IdentityFile {work}/ssh-key
UserKnownHostsFile {work}/known-hosts
"""
TASK_PROLOG = """#!/bin/sh
echo "export GDR_SOFT_DEVICES=soft0/ip=10.77.0.$(hostname | tr -d n)"
"""
# Called as ssh is: options, a host's name, words that a shell there reads. USER@ is left out, since all are root.
REMOTE_SHELL = """#!/bin/sh
while :; do case $1 in -o) shift 2 ;; -*) shift ;; *) break ;; esac; done
name=${{1#*@}}
shift
[ -f {work}/keeper-$name ] ||
  {{ echo "ssh: Could not resolve hostname $name: Name or service not known" >&2; exit 255; }}
export GDR_SOFT_DEVICES=soft0/ip=10.77.0.${{name#n}}
exec nsenter --target "$(cat {work}/keeper-$name)" --net --uts --mount sh -c "cd '$PWD' && $*"
"""
KEEPER = ('hostname "$1" && mount --bind "$2/hosts" /etc/hosts && mount -t tmpfs tmpfs /dev/shm && ip link set lo up '
          '&& echo $$ > "$2/keeper-$1" && exec sleep infinity')


def run(*words, **more):
    return subprocess.run([*map(str, words)], **{"capture_output": True, "text": True, "timeout": 600, **more})


def must(*words, **more):
    done = run(*words, **more)
    expect(done.returncode == 0, f"{words}: status {done.returncode}: {done.stdout}{done.stderr}")


def start(*words):
    """Daemons, which end with the process namespace; they keep no pipe of the test's open."""
    must(*words, capture_output=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def enter(*programs):
    """Runs the script anew in namespaces of its own, unless it is there; or skips it."""
    if os.environ.get(INSIDE):
        return
    missing = sorted(f"{name} ({PACKAGES.get(name, name)})" for name in {"ip", "unshare", "nsenter", *programs}
                     if not shutil.which(name))
    if missing or os.geteuid() != 0:
        print(f"skipped: not installed: {', '.join(missing)}" if missing else "skipped: needs root")
        sys.exit(77)
    os.environ[INSIDE] = "1"
    inner = "mount -t tmpfs tmpfs /run && ip link set lo up && hostname hub && exec \"$@\""
    unshare = ["unshare", "--mount", "--net", "--uts", "--pid", "--fork", "--kill-child", "--mount-proc"]
    os.execvp("unshare", [*unshare, "sh", "-c", inner, "sh", sys.executable, *sys.argv])


def wait_until(what, holds, seconds=600):
    end = time.monotonic() + seconds
    while not holds():
        expect(time.monotonic() < end, f"not within {seconds} s: {what()}")
        time.sleep(0.05)


class Cluster:
    def __init__(self, nodes):
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self._folder = tempfile.TemporaryDirectory()
        self.work = pathlib.Path(self._folder.name)
        self.work.chmod(0o755)
        lines = ["127.0.0.1 localhost", "10.77.0.254 hub"]
        lines += [f"{self.address(node)} {node}" for node in self.nodes]
        (self.work / "hosts").write_text("\n".join(lines) + "\n", encoding="ascii")
        must("mount", "--bind", self.work / "hosts", "/etc/hosts")
        must("ip", "link", "add", "br0", "type", "bridge")
        must("ip", "address", "add", "10.77.0.254/24", "dev", "br0")
        must("ip", "link", "set", "br0", "up")
        self._keepers = [self._make_host(node) for node in self.nodes]
        self.remote_shell = self._script("remote-shell", REMOTE_SHELL.format(work=self.work))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for keeper in self._keepers:
            keeper.kill()
            keeper.wait()
        must("umount", "/etc/hosts")
        # Slurm's daemons end with the namespace of this process, and write their state until then.
        for _ in range(100):
            try:
                return self._folder.cleanup()
            except OSError:
                time.sleep(0.1)

    @staticmethod
    def address(node):
        return f"10.77.0.{node[1:]}"

    def _script(self, name, text):
        path = self.work / name
        path.write_text(text, encoding="ascii")
        path.chmod(0o755)
        return path

    def _make_host(self, node):
        """The process that keeps the host's namespaces."""
        keeper = subprocess.Popen(["unshare", "--net", "--uts", "--mount", "sh", "-c", KEEPER, "sh", node, self.work])
        told = self.work / f"keeper-{node}"
        wait_until(lambda: f"host {node}", lambda: told.is_file() and told.read_text(encoding="ascii"), 10)
        link = f"v{node}"
        must("ip", "link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", keeper.pid)
        must("ip", "link", "set", link, "master", "br0", "up")
        must(*self.inside(node, "ip", "address", "add", f"{self.address(node)}/24", "dev", "eth0"))
        must(*self.inside(node, "ip", "link", "set", "eth0", "up"))
        return keeper

    def inside(self, node, *words):
        pid = (self.work / f"keeper-{node}").read_text(encoding="ascii").strip()
        return ["nsenter", f"--target={pid}", "--net", "--uts", "--mount", *words]

    def run_on(self, node, *words, **more):
        environment = {**os.environ, "GDR_SOFT_DEVICES": f"soft0/ip={self.address(node)}", **more.pop("env", {})}
        return run(*self.inside(node, *words), env=environment, **more)

    def start_slurm(self):
        config = self.work / "slurm.conf"
        nodes = "\n".join(f"NodeName={node} NodeAddr={self.address(node)} CPUs=2 RealMemory=500 State=UNKNOWN"
                          for node in self.nodes)
        config.write_text(CONFIG.format(work=self.work, nodes=nodes), encoding="ascii")
        os.environ["SLURM_CONF"] = str(config)
        (self.work / "state").mkdir()
        self._script("task-prolog", TASK_PROLOG)
        key = self.work / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        pathlib.Path("/run/munge").mkdir(mode=0o755)
        start("munged", "--key-file", key, "--pid-file", self.work / "munged.pid",
              "--log-file", self.work / "munged.log", "--seed-file", self.work / "munged.seed", "--force")
        start("slurmctld", "-f", config, "-c")
        for node in self.nodes:
            for folder in ("spool", "tmp"):  # in /tmp the PMIx of all nodes would make the same folder
                (self.work / f"{folder}-{node}").mkdir()
            start(*self.inside(node, "slurmd", "-f", config, "-N", node))
        idle = ("sinfo", "--noheader", "--states", "idle", "--format", "%D")
        wait_until(lambda: f"{len(self.nodes)} idle nodes: {run('sinfo').stdout}{self.logs()}",
                   lambda: run(*idle).stdout.strip() == str(len(self.nodes)))

    def start_sshd(self):
        """On each host; `ssh` in PATH then knows the key and the hosts."""
        (self.work / "sshd-config").write_text(SSHD_CONFIG.format(work=self.work), encoding="ascii")
        (self.work / "ssh-config").write_text(SSH_CONFIG.format(work=self.work), encoding="ascii")
        must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.work / "ssh-key")
        key = (self.work / "ssh-key.pub").read_text(encoding="ascii")
        (self.work / "known-hosts").write_text("".join(f"{node} {key}" for node in self.nodes), encoding="ascii")
        pathlib.Path("/run/sshd").mkdir(mode=0o755)
        sshd = shutil.which("sshd")
        for node in self.nodes:
            start(*self.inside(node, sshd, "-f", self.work / "sshd-config", "-E", self.work / f"sshd-{node}.log"))
        (self.work / "bin").mkdir()
        self._script("bin/ssh", f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.work}/ssh-config "$@"\n')
        os.environ["PATH"] = f"{self.work}/bin:{os.environ['PATH']}"

    def mpirun(self, *words, **more):
        """Open MPI's, with one slot on each host; its daemons are started by the remote shell."""
        hosts = ",".join(f"{node}:1" for node in self.nodes)
        return run("mpirun.openmpi", "--allow-run-as-root", "--host", hosts, "-mca", "plm", "rsh", "-mca",
                   "plm_rsh_agent", self.remote_shell, "-mca", "btl_tcp_if_include", "10.77.0.0/24", "-mca",
                   "oob_tcp_if_include", "10.77.0.0/24", *words, **more)

    def logs(self):
        return "".join(run("tail", "-n", "15", log).stdout for log in sorted(self.work.glob("*.log")))

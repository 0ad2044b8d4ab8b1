"""The MPIs that a distribution has, and the ways in which each may carry its messages.

    mpi = find("open_mpi")                     # Skip where it is not installed
    program = mpi.compile(folder)              # mpi_check, the checking program beside this file
    command = mpi.command("ucx_rc", ranks=4, program=[program, "--largest", "1048576"])
    command = mpi.command("ucx_rc", 2, [...], hosts=["10.0.0.1", "10.0.0.2"], agent="/path/agent")
"""
import dataclasses
import os
import pathlib
import shutil
import subprocess

CHECK = pathlib.Path(__file__).resolve().parent / "check"


class Skip(Exception):
    """What is missing here, for a test that cannot run."""


@dataclasses.dataclass
class Way:
    options: list  # of the launcher
    environment: dict  # of the ranks
    on_nic: bool = True  # False: a control run, which must not touch the software NIC
    only: str = ""  # the groups of checks that this way is able to pass; empty: all


# libfabric 1.17 loses the rest of a message that was probed, claimed and came in segments: ofi_rxm
# sends such messages in one piece then. ofi_rxd ends in SIGSEGV at synchronous sends, and hangs in
# some one-sided operations, over "udp" as over "verbs".
MTL_OFI = ["--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "osc", "pt2pt", "--mca",
           "mtl_ofi_provider_include"]
OPEN_MPI_WAYS = {
    "ucx_rc": Way(["--mca", "pml", "ucx", "--mca", "osc", "ucx"], {"UCX_TLS": "rc"}),
    "ucx_ud": Way(["--mca", "pml", "ucx", "--mca", "osc", "ucx"], {"UCX_TLS": "ud"}),
    "ofi_rxm": Way([*MTL_OFI, "verbs;ofi_rxm"], {"FI_OFI_RXM_SAR_LIMIT": "0"}),
    "ofi_rxd": Way([*MTL_OFI, "verbs;ofi_rxd"], {},
                   only="datatypes,collectives,communicators,atomics"),
    "shared_memory": Way(["--mca", "pml", "ob1", "--mca", "btl", "self,vader", "--mca", "osc",
                          "pt2pt"], {}, on_nic=False),
    "tcp": Way(["--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "osc", "pt2pt"], {},
               on_nic=False),
}

# Without MPIR_CVAR_NOLOCAL ranks of one host use shared memory of MPICH's own.
MPICH_WAYS = {
    "ucx_rc": Way([], {"UCX_TLS": "rc", "MPIR_CVAR_NOLOCAL": "1"}),
    "ucx_ud": Way([], {"UCX_TLS": "ud", "MPIR_CVAR_NOLOCAL": "1"}),
    "shared_memory": Way([], {"UCX_TLS": "self,sysv,posix,cma"}, on_nic=False),
    "tcp": Way([], {"UCX_TLS": "self,tcp", "MPIR_CVAR_NOLOCAL": "1"}, on_nic=False),
}


class Mpi:
    """Common to both; `name` is also the ending of Debian's alternatives."""

    name = ways = packages = version_words = None

    def __init__(self):
        self.compiler = self._find("mpicc")
        self.launcher = self._find("mpirun")

    def _find(self, tool):
        # Debian's name, Fedora's folder, or whatever is installed.
        for name in (f"{tool}.{self.name}", f"/usr/lib64/{self.name}/bin/{tool}", tool):
            path = shutil.which(name)
            if path and self._is_of_this_mpi(path):
                return path
        raise Skip(f"no {tool} of this MPI (Debian: {self.packages})")

    def _is_of_this_mpi(self, path):
        if path.endswith(f".{self.name}"):
            return True
        launcher = os.path.join(os.path.dirname(path), "mpirun")
        said = subprocess.run([launcher, "--version"], capture_output=True, text=True, check=False)
        return self.version_words in said.stdout

    def compile(self, folder):
        program = os.path.join(folder, "mpi_check")
        sources = sorted(str(path) for path in CHECK.glob("*.c"))
        # GCC 12 takes MPI_STATUSES_IGNORE of MPICH for an array of no elements.
        command = [self.compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror",
                   "-Wno-stringop-overflow", "-o", program, *sources]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}:\n{done.stderr}")
        return program

    def command(self, way, ranks, program, hosts=None, agent=None):
        raise NotImplementedError


class OpenMpi(Mpi):
    name = "openmpi"
    ways = OPEN_MPI_WAYS
    packages = "openmpi-bin, libopenmpi-dev"
    version_words = "Open MPI"

    def command(self, way, ranks, program, hosts=None, agent=None):
        command = [self.launcher, "--oversubscribe", "-n", str(ranks), *self.ways[way].options]
        if os.geteuid() == 0:
            command.append("--allow-run-as-root")
        for name, value in self.ways[way].environment.items():
            command += ["-x", f"{name}={value}"]
        if hosts:
            # Each host has a network of its own, so that daemons may not choose loopback.
            command += ["--host", ",".join(f"{host}:{ranks // len(hosts)}" for host in hosts),
                        "--mca", "plm_rsh_agent", agent, "--mca", "oob_tcp_if_exclude", "lo",
                        "--mca", "btl_tcp_if_exclude", "lo", "--bind-to", "none"]
        return [*command, *program]


class Mpich(Mpi):
    name = "mpich"
    ways = MPICH_WAYS
    packages = "mpich, libmpich-dev"
    version_words = "HYDRA"

    def command(self, way, ranks, program, hosts=None, agent=None):
        command = [self.launcher, "-n", str(ranks)]
        for name, value in self.ways[way].environment.items():
            command += ["-env", name, value]
        if hosts:
            # Each host's ranks have the variables of that host, and not all of this one's.
            command += ["-genvnone", "-hosts", ",".join(hosts), "-ppn", str(ranks // len(hosts)), "-launcher",
                        "ssh", "-launcher-exec", agent, "-localhost", hosts[0],
                        "-disable-hostname-propagation"]
        return [*command, *program]


IMPLEMENTATIONS = {"open_mpi": OpenMpi, "mpich": Mpich}


def find(name):
    return IMPLEMENTATIONS[name]()

#!/usr/bin/env python3
"""packages_on.py BUILD SUITE: the debs of BUILD/packages (portable.py) in a fresh Debian or Ubuntu: gdrkit
alone, then with gdrkit-standins; simulation, doctor, perftest under gdr run; upgrade; removal without a trace.
As root, with debootstrap. GDR_SYSTEMS names a folder with fresh systems (SUITE/), copied instead of fetched."""
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time

from packages import expect, one, promised_glibc, run, run_to_the_end, skip, succeed

UBUNTU = {"bionic", "focal", "jammy", "noble"}
UBUNTU_KEYRING = pathlib.Path("/usr/share/keyrings/ubuntu-archive-keyring.gpg")
LIST = "/etc/apt/sources.list"


class System:
    """A root folder; its commands run in mount, process and network namespaces that end with them."""

    def __init__(self, folder, suite):
        self.root = folder / suite
        self._suite = suite

    def make(self):
        ready = os.environ.get("GDR_SYSTEMS")
        if ready and (pathlib.Path(ready) / self._suite).is_dir():
            succeed("cp", "-a", "--reflink=auto", pathlib.Path(ready) / self._suite, self.root, timeout=600)
            return
        command = ["debootstrap", "--variant=minbase", self._suite, self.root]
        if self._suite in UBUNTU:
            if not UBUNTU_KEYRING.exists():
                skip(f"{UBUNTU_KEYRING} is missing, so packages of Ubuntu cannot be checked")
            command.insert(1, f"--keyring={UBUNTU_KEYRING}")
        else:
            # The mirror that this machine's apt uses, if it is a Debian.
            targets = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages").stdout
            command += [uri for uri in targets.split() if re.search(r"/debian/?$", uri)][:1]
        done = run(*command, timeout=1200)
        if done.returncode != 0:
            skip(f"debootstrap {self._suite}: {done.stdout.strip().splitlines()[-1]}")

    def run(self, *command, network=False, timeout=300):
        steps = ["mount -t proc proc \"$0/proc\"", "mount -t tmpfs tmpfs \"$0/dev\"",
                 "for one in null zero full random urandom; do touch \"$0/dev/$one\"; "
                 "mount --bind /dev/$one \"$0/dev/$one\"; done",
                 "ln -s /proc/self/fd \"$0/dev/fd\"", "mkdir \"$0/dev/shm\"",
                 "mount -t tmpfs tmpfs \"$0/dev/shm\"", "exec chroot \"$0\" \"$@\""]
        kinds = ["--mount", "--pid", "--fork", "--kill-child"]
        if not network:
            kinds.append("--net")
            steps.insert(0, "ip link set lo up")
        environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C", "HOME": "/root",
                       "DEBIAN_FRONTEND": "noninteractive", "LD_BIND_NOW": "1",
                       **{name: value for name, value in os.environ.items() if name.endswith("_proxy")}}
        return run("unshare", *kinds, "sh", "-c", "set -e; " + "; ".join(steps), self.root, *command,
                   env=environment, timeout=timeout)

    def succeed(self, *command, **more):
        done = self.run(*command, **more)
        expect(done.returncode == 0, f"{' '.join(map(str, command))}: exit status {done.returncode}: {done.stdout}")
        return done.stdout

    def timed(self, *command, **more):
        begin = time.monotonic()
        said = self.succeed(*command, **more)
        print(f"ok  {' '.join(command)}: {time.monotonic() - begin:.1f} s")
        return said


def files_below(root):
    return {str(path.relative_to(root)) for folder in ("usr", "etc", "var/lib/gdrkit", "opt")
            for path in (root / folder).rglob("*")}


def program_works_alone(system, glibc):
    system.succeed("dpkg", "-i", "/packages/gdrkit.deb")
    said = system.succeed("gdr", "--version")
    expect(f"glibc {glibc} or newer" in said, said)
    print(f"ok  {said.splitlines()[0]}")
    for words in (["run", "--", "true"], ["prove"]):
        done = system.run("gdr", *words)
        lines = [line for line in done.stdout.splitlines() if "gdrkit-standins" in line]
        expect(done.returncode != 0 and any("apt-get install ./gdrkit-standins_*.deb" in line for line in lines),
               f"gdr {words}: {done.stdout}")
        print(f"ok  without the stand-ins: {lines[0].strip()}")
    done = system.run("gdr", "prove", "--require-hardware")
    expect(done.returncode == 1 and "gdrkit-standins" not in done.stdout, done.stdout)
    done = system.run("gdr", "watch", "--", "true")
    expect(done.returncode == 0 and "missing" not in done.stdout, done.stdout)
    print("ok  gdr prove --require-hardware and gdr watch do not want them")


def simulates(system):
    system.succeed("dpkg", "-i", "/packages/gdrkit-standins.deb")
    said = system.timed("gdr", "prove", "--no-measure")
    expect("SIMULATION PASSED" in said, said)
    system.timed("gdr", "prove", "--json", "--no-measure")
    done = system.run("gdr", "doctor")
    expect(done.returncode in (0, 1, 3) and "checks" in done.stdout, done.stdout)
    print(f"ok  gdr doctor: exit status {done.returncode}")
    for command in ("topo", "list --soft", "peermem status", "explain --list"):
        done = system.run("gdr", *command.split())
        expect(done.returncode in (0, 1, 3) and done.stdout, f"gdr {command}: {done.stdout}")
    expect("libcuda" not in system.succeed("ldconfig", "-p"), "the loader's cache has a stand-in")
    print("ok  gdr topo, list, peermem status, explain; nothing in the loader's cache")


def runs_perftest(system):
    if system.root.name in UBUNTU:
        sources = system.root / LIST.lstrip("/")
        sources.write_text(sources.read_text().replace(" main", " main universe"))
    for command in (["update"], ["install", "-y", "--no-install-recommends", "perftest"]):
        done = system.run("apt-get", "-q", *command, network=True, timeout=600)
        if done.returncode != 0:
            print(f"skipped: apt-get {' '.join(command)}: {done.stdout.strip().splitlines()[-1]}")
            return
    # One process serves, the other one measures; both on the software NIC of this host.
    (system.root / "perftest.sh").write_text(
        "gdr run -- ib_write_bw -d soft0 -x 3 >/server.txt 2>&1 & sleep 2\n"
        "gdr run -- ib_write_bw -d soft0 -x 3 127.0.0.1; status=$?; wait; exit $status\n")
    said = system.timed("sh", "/perftest.sh")
    expect(re.search(r"^ *65536 +\d+ +", said, re.MULTILINE), said)
    print(f"ok  ib_write_bw: {[line for line in said.splitlines() if ' 65536 ' in line][0].strip()}")


def upgrades(system):
    done = system.run("dpkg", "-i", "/packages/upgrade/gdrkit.deb")
    expect(done.returncode != 0, f"half of an upgrade was taken: {done.stdout}")
    system.succeed("dpkg", "-i", "/packages/upgrade/gdrkit-standins.deb", "/packages/upgrade/gdrkit.deb")
    said = system.succeed("dpkg-query", "-W", "-f", "${Package} ${Version} ${Status}\\n", "gdrkit", "gdrkit-standins")
    expect(said.count(" 99.1 install ok installed") == 2, said)
    print("ok  upgraded together, refused alone")


def leaves_nothing(system, before):
    system.succeed("dpkg", "--purge", "gdrkit-standins", "gdrkit")
    left = [path for path in files_below(system.root) - before if re.search(r"gdr", path)]
    expect(not left, f"left: {left}")
    print("ok  removed without a trace")


def main():
    build, suite = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2]
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        skip("a fresh system needs root and debootstrap")
    packages = build / "packages"
    if not packages.is_dir():
        skip(f"no {packages}; portable.py makes it")
    with tempfile.TemporaryDirectory() as scratch:
        system = System(pathlib.Path(scratch), suite)
        system.make()
        place = system.root / "packages"
        for folder, into in ((packages, place), (packages / "upgrade", place / "upgrade")):
            into.mkdir(parents=True)
            for name in ("gdrkit", "gdrkit-standins"):
                shutil.copy(one(folder, f"{name}_*.deb"), into / f"{name}.deb")
        before = files_below(system.root)
        glibc = succeed("chroot", system.root, "ldd", "--version").splitlines()[0]
        print(f"ok  {suite}: {glibc}")
        program_works_alone(system, promised_glibc(build.parent / "portable"))
        simulates(system)
        runs_perftest(system)
        upgrades(system)
        leaves_nothing(system, before)


if __name__ == "__main__":
    run_to_the_end(main)

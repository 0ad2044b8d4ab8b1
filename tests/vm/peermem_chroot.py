#!/usr/bin/env python3
"""peermem_chroot.py BUILD: the deb of our peer-memory module in a fresh Debian (debootstrap, as root) with
headers of Linux 6.1 and 6.12: installed where nothing can be built, built by DKMS for both kernels, built
again for another driver, installed though a build fails, removed without a trace. No module is loaded
anywhere: modprobe answers questions about files alone there, since the kernel is this machine's."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import lab
from lab import expect
from peermem_modules import Modules
from peermem_packages import NAME, expect_built_for, one, packages

# What the packages of headers depend on, too: the kernels' compiler, and pahole.
PACKAGES = "dkms,make,gcc,gcc-12,libelf1,kmod,xz-utils,pahole"
LOADS_NOTHING = """#!/bin/sh
case $1 in
  --show-exports | --dump-modversions | --help) exec /sbin/modprobe "$@" ;;
esac
echo "modprobe $*" >>/tmp/asked-to-load
"""


class Debian:
    def __init__(self, folder, mounts):
        self.root = folder / "debian"
        self._mounts = mounts

    def make(self):
        targets = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)",
                                  "Created-By: Packages"], capture_output=True, text=True, check=False)
        command = ["debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm",
                   self.root, *targets.stdout.split()[:1]]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=1200)
        if done.returncode != 0:
            lab.skip(f"debootstrap: {done.stdout.strip().splitlines()[-1]}")
        wrapper = self.root / "usr" / "local" / "sbin" / "modprobe"
        wrapper.write_text(LOADS_NOTHING)
        wrapper.chmod(0o755)

    def run(self, *command, **variables):
        """In a mount namespace of its own, with the folders of the headers at their own paths."""
        steps = ["set -e"]
        for folder in self._mounts:
            inside = f"{self.root}{folder}"
            steps += [f"mkdir -p '{inside}'", f"mount --bind '{folder}' '{inside}'"]
        steps += [f"mount -t proc proc '{self.root}/proc'", f"exec chroot '{self.root}' \"$@\""]
        environment = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
                       "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive", **variables}
        return subprocess.run(["unshare", "--mount", "sh", "-c", "; ".join(steps), "sh",
                               *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, timeout=900, env=environment)

    def succeed(self, *command, **variables):
        done = self.run(*command, **variables)
        expect(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}")
        return done.stdout

    def has_package(self):
        return self.run("dpkg-query", "-W", "-f", "${Status}", NAME).stdout == "install ok installed"


def give_kernel(debian, modules):
    tree = modules.tree(debian.root)
    tree.mkdir(parents=True)
    (tree / "build").symlink_to(modules.headers)
    for name in ("modules.order", "modules.builtin"):
        (tree / name).touch()


def module_of(debian, modules):
    found = sorted(modules.tree(debian.root).rglob(f"{NAME}.ko*"))
    expect(len(found) <= 1, found)
    return found[0] if found else None


def installs_where_nothing_can_be_built(debian, kernels):
    told = debian.succeed("dpkg", "-i", "/package.deb")
    for modules in kernels:
        lines = [line for line in told.splitlines() if modules.kernel in line]
        expect(len(lines) == 1 and lines[0].startswith(f"{NAME}: not built for kernel {modules.kernel}: ") and
               lines[0].endswith("use dma-buf"), told)
        expect(module_of(debian, modules) is None, told)
    expect(debian.has_package(), told)
    told = debian.succeed("/usr/lib/gdrkit/peermem-service", "start", KERNEL=kernels[0].kernel)
    expect("use dma-buf" in told and not (debian.root / "tmp" / "asked-to-load").exists(), told)
    # As DKMS itself does for a new kernel.
    told = debian.run("dkms", "autoinstall", "-k", kernels[0].kernel)
    expect(module_of(debian, kernels[0]) is None, told.stdout)
    print("ok  without the interface: installed, skipped, a line for each kernel")


def is_built_for_each_kernel(debian, kernels):
    for modules in kernels:
        modules.put(debian.root, "peer_core/peer_core.ko", "ib_core.ko")
        modules.put(debian.root, "driver-open/nvidia.ko", "nvidia.ko")
    told = debian.succeed("dpkg", "-i", "/package.deb")
    for modules in kernels:
        module = module_of(debian, modules)
        expect(module is not None, told)
        expect_built_for(module, modules.versions("open"))
        print(f"ok  DKMS: {module.relative_to(debian.root)}")


def service_builds_again(debian, kernels):
    modules = kernels[0]
    service = "/usr/lib/gdrkit/peermem-service"
    told = debian.succeed(service, "start", KERNEL=modules.kernel)
    asked = debian.root / "tmp" / "asked-to-load"
    expect(asked.read_text() == f"modprobe {NAME}\n" and "building" not in told, told)
    modules.put(debian.root, "driver-580/nvidia.ko", "nvidia.ko")
    told = debian.succeed(service, "start", KERNEL=modules.kernel)
    expect("has changed (nvidia_p2p_" in told, told)
    expect_built_for(module_of(debian, modules), modules.versions("580"))
    told = debian.run(service, "status", KERNEL=modules.kernel)
    expect(told.returncode == 3 and "fits the GPU driver" in told.stdout, told.stdout)
    print("ok  the service builds it again for another driver, and loads it")


def a_failing_build_leaves_a_whole_package(debian, kernels):
    modules = kernels[0]
    make = debian.root / "usr" / "bin" / "make"
    make.rename(make.with_name("make.away"))
    try:  # an update takes the old build away first
        told = debian.succeed("dpkg", "-i", "/package.deb")
    finally:
        make.with_name("make.away").rename(make)
    expect(f"the build for kernel {modules.kernel} failed" in told and debian.has_package() and
           module_of(debian, modules) is None, told)
    told = debian.succeed("/usr/lib/gdrkit/peermem-service", "start", KERNEL=modules.kernel)
    expect_built_for(module_of(debian, modules), modules.versions("580"))
    print("ok  a build that fails: the package is installed, the service builds it later")


def is_removed(debian, kernels):
    debian.succeed("dpkg", "--purge", NAME)
    left = [path for folder in ("usr", "etc", "var/lib/dkms")
            for path in (debian.root / folder).rglob(f"*{NAME}*")]
    expect(not left, left)
    print("ok  removed, and nothing left")


def main():
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        lab.skip("the fresh Debian needs root and debootstrap")
    kernels = [Modules(lab.kernel_folder(sys.argv[1], release, modules=True)) for release in ("", "6.12")]
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        debian = Debian(place, [modules.folder for modules in kernels])
        deb = one(packages(place), "*.deb")
        debian.make()
        shutil.copy(deb, debian.root / "package.deb")
        for modules in kernels:
            give_kernel(debian, modules)
        installs_where_nothing_can_be_built(debian, kernels)
        is_built_for_each_kernel(debian, kernels)
        service_builds_again(debian, kernels)
        a_failing_build_leaves_a_whole_package(debian, kernels)
        is_removed(debian, kernels)


if __name__ == "__main__":
    lab.run_to_the_end(main)

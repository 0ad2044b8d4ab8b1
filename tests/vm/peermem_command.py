#!/usr/bin/env python3
"""peermem_command.py BUILD GDR: gdr peermem on made-up hosts whose modules are real ones of a kernel's
build, without a guest: what status predicts is what the module says that it wants and the driver that
it has; build makes, from the files alone, a module with the driver's versions, also where the driver
lives in a container, its file is packed, and modinfo does not find it; wrong input is one line and
leaves nothing; install and remove work with the real depmod, in a root of their own."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import lab
from lab import expect
from peermem_modules import Modules, run


class Lab(Modules):
    def __init__(self, folder, gdr):
        super().__init__(folder)
        self.gdr = gdr

    def host(self, place):
        """A root with an RDMA stack that takes peer-memory modules."""
        root = pathlib.Path(place)
        (root / "proc" / "sys" / "kernel").mkdir(parents=True)
        (root / "proc" / "sys" / "kernel" / "osrelease").write_text(self.kernel + "\n")
        (root / "sys" / "module").mkdir(parents=True)
        self.put(root, "peer_core/peer_core.ko", "ib_core.ko")
        return root

    def peermem(self, what, *options, **keys):
        return run(self.gdr, "peermem", what, *options, **keys)

    def status(self, root):
        done = self.peermem("status", "--root", root, "--json")
        expect(done.stdout.startswith("{"), done.stdout)
        return json.loads(done.stdout)

    def build(self, root, output, *options):
        return self.peermem("build", "--root", root, "--headers", self.headers, "--output", output,
                            *options)


def packed(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    for program, end in (("zstd", ".zst"), ("xz", ".xz"), ("gzip", ".gz")):
        if shutil.which(program):
            with open(f"{target}{end}", "wb") as file:
                subprocess.run([program, "-c", "-q", str(source)], stdout=file, check=True)
            return f"{target}{end}"
    lab.skip("neither zstd nor xz nor gzip is installed")
    return None


def the_driver_of_a_container(lab_, place):
    """The case that this began with: modinfo nvidia fails, the driver's file lies in another tree."""
    root = lab_.host(place / "container")
    inside = lab_.tree(root / "run" / "nvidia" / "driver") / "kernel/drivers/video/nvidia.ko"
    file = packed(lab_.driver("open"), inside)
    found = lab_.status(root)
    expect(found["verdict"] == "build" and found["modules"] == [] and
           found["drivers"][0]["origin"] == "the driver's root /run/nvidia/driver", found)
    output = place / "nvidia-peermem.ko"
    done = lab_.build(root, output)
    expect(done.returncode == 0 and output.exists() and "/run/nvidia/driver/" in done.stdout, done.stdout)
    exported = {name: one["crc"] for name, one in found["drivers"][0]["exports"].items()}
    symvers = {line.split()[1]: line.split()[0] for line in
               (lab_.driver("open").parent / "Module.symvers").read_text().splitlines()}
    expect(exported == symvers, f"{exported}, not {symvers}")
    updates = lab_.tree(root) / "updates" / "gdrkit"
    updates.mkdir()
    shutil.copy(output, updates)
    found = lab_.status(root)
    wants = {name: crc for name, crc in found["modules"][0]["wants"].items() if "nvidia" in name}
    expect(found["verdict"] == "fits" and wants and
           all(exported[name] == crc for name, crc in wants.items()), found)
    print(f"ok  {pathlib.Path(file).name} of a container: built, and it wants what that exports")
    return output


def what_the_kernel_would_refuse(lab_, place, module):
    root = lab_.host(place / "refused")
    tree = lab_.tree(root)
    for kind, reasons in (("open", set()), ("proprietary", set()), ("580", {"version"})):
        shutil.copy(lab_.driver(kind), tree / "updates" / "nvidia.ko")
        shutil.copy(module, tree / "nvidia-peermem.ko")
        found = lab_.status(root)
        got = {one["reason"] for one in found["modules"][0]["refusals"]}
        expect(got == reasons, f"{kind}: {found['modules']}")
    done = lab_.peermem("status", "--root", root)
    expect(done.returncode == 1 and "disagrees about version of symbol" in done.stdout and
           "Invalid argument" in done.stdout, done.stdout)
    print("ok  one module fits both licences of a driver; another driver's is refused")
    shutil.copy(lab_.driver("open"), tree / "updates" / "nvidia.ko")
    old = lab_.folder / "ko" / "nvidia-peermem-old-way.ko"
    if old.exists():
        shutil.copy(old, tree / "nvidia-peermem.ko")
        refusals = lab_.status(root)["modules"][0]["refusals"]
        expect({one["reason"] for one in refusals} == {"version"}, refusals)
        print("ok ", refusals[0]["text"])


def wrong_input_is_a_line(lab_, place):
    root = lab_.host(place / "wrong")
    shutil.copy(lab_.driver("open"), lab_.tree(root) / "updates" / "nvidia.ko")
    output = place / "out" / "wrong.ko"
    output.parent.mkdir()
    cut = place / "cut.ko"
    cut.write_bytes(lab_.driver("open").read_bytes()[:100_000])
    empty = place / "empty"
    empty.mkdir()
    core = lab_.folder / "build" / "peer_core" / "peer_core.ko"
    for options, status, words in (
            (["--driver-module", cut], 2, "is truncated; copy it again"),
            (["--driver-module", __file__], 2, "is not an ELF file"),
            (["--driver-module", core], 2, "is not the GPU driver"),
            (["--driver-source", empty], 2, "has no nv-p2p.h"),
            (["--rdma", empty], 2, "has no Module.symvers"),
            (["--rdma", lab_.driver("open").parent], 1, "no peer-memory module can help"),
            (["--kernel", "1.2.3"], 1, "neither modules nor a Module.symvers of the RDMA stack"),
            (["--headers", empty], 1, "has no Makefile")):
        done = lab_.build(root, output, *options) if options[0] != "--headers" else lab_.peermem(
            "build", "--root", root, "--output", output, *options)
        expect(done.returncode == status and done.stdout.count("\n") == 1 and words in done.stdout,
               f"{options}: {done.returncode} {done.stdout}")
        expect(list(output.parent.iterdir()) == [], list(output.parent.iterdir()))
        print("ok ", done.stdout.strip())
    done = lab_.peermem("build", "--root", root, "--output", output)
    expect(done.returncode == 1 and f"own headers of kernel {lab_.kernel} with --headers" in done.stdout, done.stdout)
    print("ok ", done.stdout.strip())


def installs_and_removes(lab_, place, module):
    """In an overlay over this machine's root: what is changed lies in a folder of the test."""
    if os.geteuid() != 0 or not shutil.which("depmod"):
        print("skipped: installing needs root and depmod")
        return
    mount = place / "overlay"
    mount.mkdir()
    script = f"""set -e
mount -t tmpfs none {mount}
mkdir -p {mount}/over {mount}/work {mount}/root
mount -t overlay overlay -o lowerdir=/,upperdir={mount}/over,workdir={mount}/work {mount}/root
for d in /proc /dev; do mount --bind $d {mount}/root$d; done
for d in {place} {lab_.folder} {lab_.gdr.parent.parent}; do
  mkdir -p {mount}/root$d && mount --bind $d {mount}/root$d
done
K={lab_.kernel}
mkdir -p {mount}/root/lib/modules/$K/updates
cp {lab_.driver("open")} {mount}/root/lib/modules/$K/updates/nvidia.ko
cp {lab_.folder}/build/peer_core/peer_core.ko {mount}/root/lib/modules/$K/updates/ib_core.ko
mkdir -p {mount}/root/lib/modules/$K/kernel
cp {module} {mount}/root/lib/modules/$K/kernel/nvidia-peermem.ko
for d in depmod.d modprobe.d modules-load.d systemd/system; do mkdir -p {mount}/root/etc/$d; done
in_root() {{ chroot {mount}/root "$@"; }}
in_root depmod $K
grep -q '^kernel/nvidia-peermem.ko' {mount}/root/lib/modules/$K/modules.dep
state() {{ (cd {mount}/over && find etc lib usr/lib \\( -path '*lib/modules/*' -o -path 'etc/*' \\) \
  -type f ! -name '*.bin' -exec sha256sum {{}} + 2>/dev/null | sort -k 2; find etc -type l 2>/dev/null | sort); }}
state >{place}/before
in_root {lab_.gdr} peermem install --kernel $K --dry-run {module}
in_root {lab_.gdr} peermem install --kernel $K {module}
in_root modinfo -k $K -F filename nvidia-peermem | grep updates/gdrkit/nvidia-peermem.ko
grep -q '^updates/gdrkit/nvidia-peermem.ko: updates/nvidia.ko' {mount}/root/lib/modules/$K/modules.dep ||
  grep '^updates/gdrkit/nvidia-peermem.ko: .*updates/nvidia.ko' {mount}/root/lib/modules/$K/modules.dep
in_root {lab_.gdr} peermem status --kernel $K | grep gdrkit/nvidia-peermem.ko
in_root {lab_.gdr} fix --status | grep 'gdrkit-peermem.conf'
in_root {lab_.gdr} peermem install --kernel $K {module} | grep 'nothing to do'
in_root {lab_.gdr} peermem remove
state >{place}/after
diff {place}/before {place}/after
! ls {mount}/root/var/lib/gdrkit/peermem 2>/dev/null
echo "the end"
"""
    done = run("unshare", "--mount", "sh", "-c", script)
    if "wrong fs type" in done.stdout or "unshare failed" in done.stdout:
        print("skipped: no overlay file system here:", done.stdout.strip().splitlines()[-1])
        return
    expect(done.returncode == 0 and done.stdout.endswith("the end\n"), done.stdout)
    print("ok  installed with the real depmod, seen by status and gdr fix, removed without a trace")


def check(folder, gdr):
    lab_ = Lab(folder, gdr)
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        module = the_driver_of_a_container(lab_, place)
        what_the_kernel_would_refuse(lab_, place, module)
        wrong_input_is_a_line(lab_, place)
        installs_and_removes(lab_, place, module)


def main():
    check(lab.kernel_folder(sys.argv[1], modules=True), pathlib.Path(sys.argv[2]).resolve())


if __name__ == "__main__":
    lab.run_to_the_end(main)

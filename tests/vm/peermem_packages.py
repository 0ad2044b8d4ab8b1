#!/usr/bin/env python3
"""peermem_packages.py BUILD: the packages of our peer-memory module. Without a guest: the
tarball's make finds a driver in a container's root and what gdr peermem finds; the service sees that the
driver has changed; deb and rpm hold what they should. peermem_chroot.py installs the deb."""
import pathlib
import re
import shutil
import sys
import tempfile

import lab
from lab import expect
from peermem_modules import Modules, run

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "kernel"
NAME = "gdrkit-peermem"


def succeed(*command, **keys):
    done = run(*command, **keys)
    expect(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}")
    return done.stdout


def wanted_by(module):
    """By symbol, the versions that a built module wants."""
    lines = succeed("/usr/sbin/modprobe", "--dump-modversions", module).splitlines()
    return dict(reversed(line.split()) for line in lines)


def expect_built_for(module, versions):
    wanted = {name: crc for name, crc in wanted_by(module).items() if name.startswith("nvidia_p2p_")}
    expect(len(wanted) > 4 and all(versions[name] == crc for name, crc in wanted.items()),
           f"{module}: {wanted}, not {versions}")


def packages(place):
    """The folder with the three."""
    succeed("cmake", "-S", SOURCE / "packaging", "-B", place / "packages")
    succeed("cmake", "--build", place / "packages", "--target", "package")
    return place / "packages"


def one(folder, pattern):
    found = sorted(folder.glob(pattern))
    expect(len(found) == 1, f"{pattern}: {found}")
    return found[0]


def tarball_makes_what_the_host_needs(built, modules, place):
    root = place / "host"
    modules.put(root, "peer_core/peer_core.ko", "ib_core.ko")
    container = root / "run" / "nvidia" / "driver"
    driver = modules.put(container, "driver-open/nvidia.ko", "nvidia.ko")
    succeed("xz", driver)
    succeed("tar", "-xzf", one(built, "*.tar.gz"), "-C", place)
    source = next(place.glob(f"{NAME}-[0-9]*"))
    succeed("make", "-s", f"KVER={modules.kernel}", f"KDIR={modules.headers}",
            "CONFIG_DEBUG_INFO_BTF_MODULES=", cwd=source, env={"ROOT": str(root)})
    expect_built_for(source / "nvidia-peermem.ko", modules.versions("open"))
    version = succeed("/usr/sbin/modinfo", "-F", "version", source / "nvidia-peermem.ko").strip()
    expect(f"gdrkit-{source.name.rsplit('-', 1)[1]}" == version, f"{source.name}: version {version}")
    print("ok  make in the unpacked tarball, for a driver in a container's root")
    return root, source


def script_and_program_agree(gdr, modules, root, source):
    told = run(gdr, "peermem", "status", "--root", root, "--kernel", modules.kernel).stdout
    listed = dict(re.findall(r"^  ((?:nvidia_p2p|ib)_\w+) +(0x[0-9a-f]{8})", told, re.MULTILINE))
    found = {}
    for part in ("gpu", "rdma"):
        lines = succeed(source / "symvers.sh", part, modules.kernel, env={"ROOT": str(root)})
        found.update({line.split("\t")[1]: line.split("\t")[0] for line in lines.splitlines()})
    expect(len(listed) > 6 and all(found.get(name) == crc for name, crc in listed.items()),
           f"gdr peermem status: {listed}; symvers.sh: {found}")
    print(f"ok  symvers.sh and gdr peermem status tell the same {len(listed)} versions")


def service_sees_a_change(built, modules, root, source):
    service = built / "peermem-service"
    variables = {"ROOT": str(root), "KERNEL": modules.kernel, "SYMVERS": str(source / "symvers.sh")}
    told = run(service, "status", env=variables)
    expect(told.returncode == 3 and "is not built for kernel" in told.stdout, told.stdout)
    shutil.copy(source / "nvidia-peermem.ko", modules.tree(root) / "updates" / f"{NAME}.ko")
    told = run(service, "status", env=variables)
    expect(told.returncode == 3 and "fits the GPU driver and the RDMA stack" in told.stdout and
           "nvidia_peermem is not loaded" in told.stdout, told.stdout)
    container = root / "run" / "nvidia" / "driver"
    (modules.tree(container) / "updates" / "nvidia.ko.xz").unlink()
    modules.put(container, "driver-580/nvidia.ko", "nvidia.ko")
    told = run(service, "status", env=variables)
    expect(told.returncode == 3 and re.search(r"does not fit \(nvidia_p2p_\w+: it wants 0x\w+, 0x\w+ is "
                                              r"there\); systemctl restart", told.stdout), told.stdout)
    (modules.tree(root) / "updates" / "ib_core.ko").unlink()
    told = run(service, "status", env=variables)
    expect(told.returncode == 3 and "use dma-buf" in told.stdout, told.stdout)
    told = run(service, "reload")
    expect(told.returncode == 2 and told.stdout.startswith("usage: "), told.stdout)
    print("ok  peermem-service status: not built, fits, does not fit, no interface")


def hold_what_they_should(built):
    files = {f"/usr/lib/{name}" for name in ("gdrkit/peermem-service", f"modprobe.d/{NAME}.conf",
                                             f"systemd/system/{NAME}.service")}
    sources = {"Makefile", "Kbuild", "nvidia_peermem.c", "symvers.sh", "dkms.conf"}
    deb = one(built, "*.deb")
    listed = {line.split()[-1].removeprefix(".") for line in succeed("dpkg-deb", "-c", deb).splitlines()}
    listings = {deb: listed}
    if shutil.which("rpm"):
        rpm = one(built, "*.rpm")
        listings[rpm] = set(succeed("rpm", "-qlp", rpm).splitlines())
        expect("dkms" in succeed("rpm", "-qp", "--requires", rpm), rpm)
    else:
        print("skipped: rpm is not installed, so no rpm is made")
    for package, found in listings.items():
        expect(files <= found, f"{package}: {files - found}")
        there = {path.rsplit("/", 1)[1] for path in found if path.startswith(f"/usr/src/{NAME}-")}
        expect(sources <= there, f"{package}: {sources - there}")
    expect("Depends: dkms" in succeed("dpkg-deb", "-I", deb), deb)
    print(f"ok  {' and '.join(sorted(package.suffix[1:] for package in listings))} hold the sources, "
          "the service and modprobe's configuration")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    modules = Modules(lab.kernel_folder(build, modules=True))
    for program in ("xz", "/usr/sbin/modprobe"):
        if not shutil.which(program):
            lab.skip(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        built = packages(place)
        hold_what_they_should(built)
        root, source = tarball_makes_what_the_host_needs(built, modules, place)
        script_and_program_agree(build / "bin" / "gdr", modules, root, source)
        service_sees_a_change(built, modules, root, source)


if __name__ == "__main__":
    lab.run_to_the_end(main)

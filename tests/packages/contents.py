#!/usr/bin/env python3
"""contents.py BUILD [--all]: packages made from BUILD: what is in them, and what they say to package
managers: none provides or wants a libibverbs. Without --all debs alone; with it also lintian, the tarball, and
rpms, which are installed, upgraded and removed in a root of their own."""
import pathlib
import re
import shutil
import sys
import tempfile

from packages import expect, make, one, run, run_to_the_end, skip, succeed

PROGRAM = {"/usr/bin/gdr", "/usr/lib/gdrkit/watch/libgdr-watch.so", "/usr/share/doc/gdrkit/copyright",
           "/usr/share/doc/gdrkit/CHANGELOG.md", "/usr/share/doc/gdrkit/docs/install.md",
           "/usr/share/gdrkit/kernel/nvidia_peermem.c", "/usr/share/gdrkit/kernel/symvers.sh",
           "/usr/share/gdrkit/mpi/gdr-mpi.c"}
STAND_INS = {"/usr/lib/gdrkit/" + name for name in (
    "soft-nic/libibverbs.so.1", "soft-nic/librdmacm.so.1", "soft-nic/check-configuration",
    "soft-nic/device-files", "soft-gpu/libcuda.so.1", "soft-gpu/libcudart.so.12",
    "soft-gpu/libcudart.so.13", "soft-gpu/check-configuration",
    "observe/libgdr-observe.so", "presence/libgdr-presence.so")}
# The folders that packages share, and ours. Pages and completions lie among other programs'.
OURS = re.compile(r"/usr/(bin/gdr|lib/gdrkit(/.*)?|share/gdrkit(/.*)?|share/doc/gdrkit(-standins)?(/.*)?|"
                  r"share/man(/man\d(/gdr[^/]*)?)?|share/bash-completion(/completions(/gdr)?)?|"
                  r"share/zsh(/site-functions(/_gdr)?)?|share/fish(/vendor_completions.d(/gdr.fish)?)?)")
SHARED = {"/", "/usr", "/usr/bin", "/usr/lib", "/usr/share", "/usr/share/doc"}
FOREIGN = re.compile(r"lib(ibverbs|rdmacm|cuda|cudart)\.so|libgdr")


def expect_files(package, found, wanted, unwanted):
    expect(wanted <= found, f"{package}: without {sorted(wanted - found)}")
    expect(not unwanted & found, f"{package}: with {sorted(unwanted & found)}")
    strange = [path for path in found - SHARED if not OURS.fullmatch(path)]
    expect(not strange, f"{package}: outside of its folders: {strange}")


def deb_files(deb):
    # "drwxr-xr-x root/root 0 2026-11-26 08:46 ./usr/lib/", and " -> target" behind a link.
    listed = set()
    for line in succeed("dpkg-deb", "-c", deb).splitlines():
        words = line.split(None, 5)
        expect(words[1] == "root/root", f"{deb.name}: {line}")
        expect(words[0] in ("-rw-r--r--", "-rwxr-xr-x", "drwxr-xr-x", "lrwxrwxrwx"), f"{deb.name}: {line}")
        listed.add(words[5].split(" -> ")[0].removeprefix(".").rstrip("/") or "/")
    return listed


def field(deb, name):
    return succeed("dpkg-deb", "-f", deb, name).strip()


def debs_are_whole(place):
    program, stand_ins = one(place, "gdrkit_*.deb"), one(place, "gdrkit-standins_*.deb")
    expect_files(program.name, deb_files(program), PROGRAM | {"/usr/share/doc/gdrkit/changelog.gz"},
                 STAND_INS)
    expect_files(stand_ins.name, deb_files(stand_ins),
                 STAND_INS | {"/usr/share/doc/gdrkit-standins/copyright"}, PROGRAM)
    version = field(program, "Version")
    expect(field(stand_ins, "Version") == version, version)
    expect(f"gdrkit (= {version})" in field(stand_ins, "Depends"), field(stand_ins, "Depends"))
    for deb in (program, stand_ins):
        depends = field(deb, "Depends")
        expect("libc6 (>= 2." in depends and "ibverbs" not in depends and "cuda" not in depends, depends)
        expect("Provides" not in succeed("dpkg-deb", "-f", deb), f"{deb.name} provides something")
        # No shlibs, no ldconfig: no other package may be built or loaded against what is in here.
        control = succeed("dpkg-deb", "--ctrl-tarfile", deb, encoding="latin-1")
        names = set(re.findall(r"\./([a-z0-9]+)\0", control))
        expect(names <= {"control", "md5sums"}, f"{deb.name}: control files {names}")
    print(f"ok  debs of version {version}: contents, dependencies, no scripts and no triggers")


def lintian_is_content(place):
    if not shutil.which("lintian"):
        print("lintian is not installed: not asked")
        return
    # There is no address yet.
    known = "bogus-mail-host,bogus-mail-host-in-debian-changelog"
    for deb in sorted(place.glob("*.deb")):
        said = run("lintian", "--allow-root", "--suppress-tags", known, deb).stdout
        found = [line for line in said.splitlines() if line[:3] in ("E: ", "W: ")]
        expect(not found, f"{deb.name}: {found}")
    print("ok  lintian has nothing to say")


def rpms_are_whole(place):
    program, stand_ins = one(place, "gdrkit-[0-9]*.rpm"), one(place, "gdrkit-standins-*.rpm")
    query = lambda what, rpm: set(succeed("rpm", "-qp", what, rpm).splitlines())
    expect_files(program.name, query("--list", program), PROGRAM, STAND_INS)
    expect_files(stand_ins.name, query("--list", stand_ins), STAND_INS, PROGRAM)
    version = succeed("rpm", "-qp", "--qf", "%{VERSION}-%{RELEASE}", program).strip()
    for rpm, name in ((program, "gdrkit"), (stand_ins, "gdrkit-standins")):
        provided = query("--provides", rpm)
        expect(provided == {f"{name} = {version}", f"{name}(x86-64) = {version}"}, f"{rpm.name}: {provided}")
        strange = [line for line in query("--requires", rpm) if FOREIGN.search(line)]
        expect(not strange, f"{rpm.name} requires {strange}")
        expect(not succeed("rpm", "-qp", "--scripts", rpm), f"{rpm.name} has scripts")
    required = query("--requires", stand_ins)
    expect(f"gdrkit = {version}" in required and any(line.startswith("glibc >= 2.") for line in required),
           required)
    recommended = query("--recommends", program)
    expect("libibverbs.so.1()(64bit)" in recommended, recommended)
    expect(f"gdrkit-standins = {version}" in query("--suggests", program), program)
    print("ok  rpms: contents, provides and requires without the stand-ins' libraries, no scripts")


def left_of_ours(root):
    return [path for path in root.rglob("*") if "gdr" in path.name and "var/lib" not in str(path)]


def rpms_come_and_go(build, place):
    root, upgrade = place / "root", place / "upgrade"
    root.mkdir()
    make(build, upgrade, ["RPM"], version="99.1", quickly=True)
    # Nothing of a distribution is in that root, so dependencies cannot be met; packages_on.py has some.
    rpm = ["rpm", "--root", root, "--nodeps"]
    succeed(*rpm, "-i", *place.glob("*.rpm"))
    expect((root / "usr/bin/gdr").exists() and (root / "usr/lib/gdrkit/soft-nic/libibverbs.so.1").exists(),
           "nothing was installed")
    succeed(*rpm, "-U", *upgrade.glob("*.rpm"))
    installed = sorted(succeed("rpm", "--root", root, "-q", "--qf", "%{NAME} %{VERSION}\n",
                               "gdrkit", "gdrkit-standins").splitlines())
    expect(installed == ["gdrkit 99.1", "gdrkit-standins 99.1"], installed)
    succeed(*rpm, "-e", "gdrkit-standins")
    expect((root / "usr/bin/gdr").exists() and not (root / "usr/lib/gdrkit/soft-nic").exists(),
           "one package took the other one's files")
    succeed(*rpm, "-e", "gdrkit")
    expect(not left_of_ours(root), f"left: {left_of_ours(root)}")
    print("ok  rpms: installed, upgraded, removed without a trace")


def tarball_is_whole(place):
    tarball = one(place, "*.tar.gz")
    top = tarball.name.removesuffix(".tar.gz")
    found = {line.rstrip("/") for line in succeed("tar", "-tzf", tarball).splitlines()}
    wanted = {path.replace("/usr", top, 1) for path in PROGRAM | STAND_INS}
    expect(wanted <= found, f"{tarball.name}: without {sorted(wanted - found)}")
    expect(all(path == top or path.startswith(top + "/") for path in found), f"{tarball.name}: {found}")
    succeed("tar", "-xzf", tarball, "-C", place)
    told = succeed(place / top / "bin" / "gdr", "--version")
    expect(told.startswith("gdr "), told)
    shutil.rmtree(place / top / "lib" / "gdrkit" / "soft-nic")
    done = run(place / top / "bin" / "gdr", "run", "--soft-nic", "--no-soft-gpu", "--", "true")
    expect(done.returncode == 2 and done.stdout.count("\n") == 1 and
           "soft-nic/libibverbs.so.1 is missing; build or install gdrkit as a whole" in done.stdout, done)
    print("ok  tarball: whole in one folder, runs where it is unpacked")


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    for program in ("dpkg-deb", "cpack"):
        if not shutil.which(program):
            skip(f"{program} is not installed")
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch)
        rpm = shutil.which("rpm") and shutil.which("rpmbuild")
        whole = "--all" in sys.argv[2:]
        kinds = ["DEB"] + (["TGZ"] if whole else []) + (["RPM"] if whole and rpm else [])
        make(build, place, kinds, quickly=True)
        debs_are_whole(place)
        if not whole:
            return
        lintian_is_content(place)
        tarball_is_whole(place)
        if not rpm:
            print("rpm is not installed: no rpm was made")
            return
        rpms_are_whole(place)
        rpms_come_and_go(build, place)


if __name__ == "__main__":
    run_to_the_end(main)

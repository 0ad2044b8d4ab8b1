#!/usr/bin/env python3
"""peermem_prove.py BUILD [--release RELEASE]: a host whose GPU memory only a peer-memory module can
register, from the first `gdr prove` to the last. Without the module gdr prove names what to type; that
is typed, and what it names in turn, up to the module that `gdr peermem build` has made for this kernel
and driver; then gdr prove proves every mode and names the module as the way taken. The NIC is the
kernel's own rxe with a core that has the interface, the GPU the software GPU, whose memory a stand-in
for the driver has been told (driven_gpu). Needs a kernel with /dev/udmabuf (6.12)."""
import argparse
import json
import pathlib
import re
import shutil
import tempfile

import lab
from lab import expect
from peermem_modules import Modules, run

PROVE = "LD_PRELOAD=/lab/bin/driven_gpu.so gdr prove --no-measure --sizes 1,4097,1M"
# rxe has no raw frames, and atomics and datagrams have sizes of their own.
MODES = {"ud", "send", "write", "write-imm", "read", "atomic"}
COUNTERS = "/sys/module/nvidia_peermem/parameters"
LEFT = (f"{COUNTERS}/live_regions {COUNTERS}/live_bytes /sys/module/peer_core/parameters/regions "
        "/sys/module/nvidia/parameters/allocations /sys/module/nvidia/parameters/pinned_pages "
        "/sys/module/nvidia/parameters/mappings")
# What the distribution's own programs are in the guest.
KMOD = "for name in depmod modprobe insmod rmmod modinfo; do ln -sf /lab/bin/kmod /sbin/$name; done"
# The kernel gives the software GPU's memory in large pages then, so that 64 KiB are in one piece, as a
# GPU has them.
LARGE_PAGES = "echo always >/sys/kernel/mm/transparent_hugepage/shmem_enabled"


def build_module(gdr, modules, place):
    """By gdr peermem build, for a root with the guest's files: the guest has no compiler."""
    root = place / "host"
    (root / "proc" / "sys" / "kernel").mkdir(parents=True)
    (root / "proc" / "sys" / "kernel" / "osrelease").write_text(modules.kernel + "\n")
    (root / "sys" / "module").mkdir(parents=True)
    modules.put(root, "peer_core/peer_core.ko", "ib_core.ko")
    modules.put(root, "driver-open/nvidia.ko", "nvidia.ko")
    made = place / "nvidia-peermem.ko"
    done = run(gdr, "peermem", "build", "--root", root, "--headers", modules.headers,
               "--output", made)
    expect(done.returncode == 0 and made.exists(), done.stdout)
    print("ok  gdr peermem build")
    return made


def prepare(guest):
    if guest.run("test -c /dev/udmabuf")[0] != 0:
        lab.skip(f"kernel {guest.kernel} has no /dev/udmabuf")
    guest.check(KMOD)
    guest.check("modprobe -a crc32_generic ib_uverbs udp_tunnel ip6_udp_tunnel")
    guest.check("for name in peer_core rdma_rxe nvidia-open; do insmod /lab/ko/$name.ko || exit 1; "
                "done; ip address add 10.9.0.1/24 dev lo; rdma link add rxe0 type rxe netdev lo")
    guest.check(LARGE_PAGES)
    # Where a driver and MLNX_OFED have their files.
    guest.check("cd /lib/modules/$(uname -r) && mkdir updates && cp /lab/ko/nvidia-open.ko "
                "updates/nvidia.ko && cp /lab/ko/peer_core.ko updates/ib_core.ko && depmod && "
                "mkdir -p /etc/depmod.d /etc/modprobe.d /etc/modules-load.d")


def prove(guest, words=""):
    """The exit status and the text."""
    return guest.run(f"{PROVE} {words}", 300)


def names_what_to_type(guest):
    status, text = prove(guest, "--modes write")
    expect(status == 3 and "INCOMPLETE" in text, text)
    told = re.search(r"\(errno 14\): no peer-memory module handles this address; sudo (gdr fix [a-z- ]+)",
                     text)
    expect(told and "\n  registered " not in text, text)
    print(f"ok  without the module: EFAULT, and what to type: {told.group(1)}")
    return told.group(1)


def typing_it_works(guest, command):
    status, text = guest.run(command, 120)
    expect(status != 0 and "gdr peermem build && sudo gdr peermem install" in text, text)
    print("ok  no module is installed: gdr peermem build && sudo gdr peermem install")
    print(guest.check("gdr peermem install /lab/bin/nvidia-peermem.ko", 120).strip())
    guest.check(command, 120)
    version = guest.check("cat /sys/module/nvidia_peermem/version").strip()
    expect(version.startswith("gdrkit-"), version)
    print(f"ok  installed, and {command} has loaded nvidia_peermem {version}")
    return f"nvidia_peermem {version}"


def counter(guest, name):
    return int(guest.check(f"cat {COUNTERS}/{name}"))


def proves_every_mode(guest, module):
    way = f"peer memory ({module})"
    status, text = guest.run(f"{PROVE} --json", 300)
    report = json.loads(text[text.index("{"):])
    expect(status == 3 and report["verdict"] == "INCOMPLETE", text)
    expect(report["stand_ins"] == ["GPU"] and report["real"] == ["RDMA NIC"], report["stand_ins"])
    expect(report["ways"] == [way], f"{report['ways']}: {report['registrations']}")
    taken = [one for one in report["registrations"] if one["ok"]]
    expect({one["memory"] for one in taken} == {"cuMemAlloc", "cuMemCreate"} and
           all(one["registration"] == "peer-memory" and one["used"] and
               [f"{each['name']} {each['version']}" for each in one["modules"]] == [module]
               for one in taken), report["registrations"])
    checks = [one for one in report["checks"] if one["status"] != "not proved"]
    expect(all(one["status"] == "proved" and one["failed"] == 0 and one["bytes"] > 0
               for one in checks), report["checks"])
    expect({one["mode"] for one in checks} == MODES, {one["mode"] for one in checks})
    registered = counter(guest, "registered")
    expect(registered >= len(taken) and counter(guest, "refused") == 0, registered)
    print(f"ok  {len(checks)} checks of {len(MODES)} modes, {sum(one['bytes'] for one in checks)} "
          f"bytes, {registered} registrations through {module}")
    status, text = prove(guest, "-v --modes write,read")
    expect(status == 3 and f"registered with rxe0 by {module}\n" in text and
           f"\n  way         {way}\n" in text, text)
    print(text[text.index("INCOMPLETE"):].strip())


def is_seen_while_it_runs(guest):
    job = guest.start(f"{PROVE} --modes write", 300)
    seen = ""
    while job.is_running() and " live " not in seen:
        seen = guest.check("cat /proc/driver/nvidia_peermem")
    status, text = job.wait()
    expect(status == 3 and " live " in seen, f"{seen}\n{text}")
    print("ok ", next(line for line in seen.splitlines() if " live " in line))


def nothing_is_left(guest):
    status, output = guest.run(f"i=0; while [ $i -lt 100 ]; do i=$((i + 1)); grep -q -v -x 0 {LEFT} || exit 0; sleep 0.2; "
                               f"done; grep . {LEFT}; exit 1")
    expect(status == 0, f"something is left:\n{output}")
    guest.check("rmmod nvidia_peermem && rmmod nvidia")
    print("ok  nothing is left, and the module is unloaded")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--release", default="6.12")
    options = parser.parse_args()
    build = pathlib.Path(options.build).resolve()
    kmod = shutil.which("kmod")
    if not kmod:
        lab.skip("kmod is not installed")
    modules = Modules(lab.kernel_folder(build, options.release, modules=True))
    with tempfile.TemporaryDirectory() as scratch:
        made = build_module(build / "bin" / "gdr", modules, pathlib.Path(scratch))
        programs = [build / "tests" / "vm" / "driven_gpu.so", kmod, made]
        with lab.Guest.boot(build, programs, release=options.release, modules=True) as guest:
            prepare(guest)
            command = names_what_to_type(guest)
            module = typing_it_works(guest, command)
            proves_every_mode(guest, module)
            is_seen_while_it_runs(guest)
            nothing_is_left(guest)
            expect(not guest.complaints(), f"the guest's kernel complains:\n{guest.complaints()}")


if __name__ == "__main__":
    lab.run_to_the_end(main)

#!/usr/bin/env python3
"""peermem.py BUILD [--release RELEASE] [--long]: our peer-memory module in a guest, between stand-ins
for the GPU driver and the RDMA core, and the kernel's own rxe and uverbs (tests/vm/peermem). Programs
register "GPU" memory by plain ibv_reg_mr; every byte that a NIC writes and reads is compared, memory
is freed under registrations and while they are made, processes are killed; nothing may be left, and
the kernel, which watches its allocations (slub_debug), may not complain."""
import argparse
import time

import lab
import peermem_in_guest
from lab import expect
from peermem_in_guest import CHECK, PeerMemory


def does_not_load_where_it_does_not_fit(host):
    status, log = host.insert("nvidia-peermem-open")
    expect(status != 0 and "Unknown symbol nvidia_p2p_get_pages" in log, log)
    host.guest.check("insmod /lab/ko/nvidia-580.ko")
    status, log = host.insert("nvidia-peermem-open")
    expect(status != 0 and "disagrees about version of symbol nvidia_p2p_" in log, log)
    host.guest.check("rmmod nvidia && insmod /lab/ko/nvidia-open.ko")
    if host.guest.run("test -e /lab/ko/nvidia-peermem-old-way.ko")[0] == 0:
        status, log = host.insert("nvidia-peermem-old-way")
        expect(status != 0 and "disagrees about version of symbol nvidia_p2p_" in log, log)
        print("ok  built the old way, it is refused:", log.splitlines()[0])
    registered = host.guest.check(f"{CHECK} once").strip()
    expect(registered == "EFAULT", f"without the module: {registered}")
    host.guest.check("rmmod nvidia")
    print("ok  no driver, another driver, versions read by nm: not loaded; without it EFAULT")


def persistent_mode(host):
    host.load("open")
    print(host.check("transfers"))
    freed = host.check("freed")
    expect("write to freed memory: success" in freed, freed)
    host.set("nvidia", "map_delay_ms", 300)
    freed = host.check("freed-while-mapped")
    expect(freed.endswith("registered"), freed)
    expect(host.counter("callbacks", "nvidia") == 0, "a callback in the persistent mode")
    host.set("nvidia", "map_delay_ms", 0)
    refuses_what_is_no_allocation(host, "success")
    host.unload()
    print("ok  persistent: memory that is freed stays until its registration ends")


def refuses_what_is_no_allocation(host, outcome):
    """And watches all of one, whichever part of it is registered."""
    host.log()
    freed = host.check("neighbours")
    expect(freed.endswith(f"freed: {outcome}"), freed)
    host.expect_log("131072 bytes at 0x7e0000030000 of .* are not all in one allocation of GPU memory")
    host.set("nvidia", "longest_asked", 0)
    host.check("huge")
    longest = host.counter("longest_asked", "nvidia")
    expect(longest <= 1 << 40, f"the driver was asked to pin {longest} bytes")
    print("ok  a range over two allocations, and one that is longer than any GPU, refused")


def invalidating_mode(host, what, old_locks=0, can_keep=1, client_frees=0):
    host.load("open", persistent=False, options="" if can_keep else "trust_programs=1")
    host.set("peer_core", "old_locks", old_locks)
    host.set("nvidia", "can_keep", can_keep)
    host.set("nvidia", "client_frees", client_frees)
    host.check("transfers")
    freed = host.check("freed")
    expect("write to freed memory: remote access error" in freed, freed)
    expect(host.counter("invalidated") == 1 and host.counter("told", "peer_core") >= 1,
           "nobody was told")
    if can_keep:  # else the driver has no safe way (nvidia_peermem.c)
        host.set("nvidia", "map_delay_ms", 300)
        freed = host.check("freed-while-mapped")
        expect(freed.endswith("EFAULT"), freed)
        host.expect_log("are not registered: their owner has freed them meanwhile")
    host.unload()
    host.set("peer_core", "old_locks", 0)
    print(f"ok  invalidating, {what}: a write to freed memory ends with a remote access error")


def watches_what_it_keeps(host):
    host.load("open", persistent=False)
    refuses_what_is_no_allocation(host, "remote access error")
    host.set("nvidia", "pin_delay_ms", 1000)
    outcome = host.check("replaced")
    expect(outcome in ("EFAULT", "registered, a write: remote access error"),
           f"memory that was freed while it was pinned: {outcome}")
    host.set("nvidia", "pin_delay_ms", 0)
    host.unload()
    print(f"ok  invalidating: memory freed, and its address given to other memory, meanwhile: {outcome}")


def stays_while_the_driver_may_call(host, can_keep):
    """A registration that another process than the memory's owner ends: the driver goes on lending."""
    host.load("open", persistent=False, options="" if can_keep else "trust_programs=1")
    host.set("nvidia", "can_keep", can_keep)
    job = host.guest.start(f"rm -f /run/go; {CHECK} left-to-child /run/go", 120)
    end = time.monotonic() + 600
    while not (seen := [line for line in host.regions() if line["state"] == "leaving"]):
        expect(time.monotonic() < end and job.is_running(), "the region is gone")
    status, output = host.guest.run("rmmod nvidia_peermem 2>&1")
    expect(status != 0 and "Resource temporarily unavailable" in output,
           f"unloaded although the driver may call it: {output}")
    host.guest.check("touch /run/go")
    status, output = job.wait()
    expect(status == 0, output)
    host.nothing_left()
    expect(host.regions() == [], host.regions())
    host.unload()
    print(f"ok  {' '.join(seen[0].values())}: ended by a child; not unloaded before the memory is freed")


def leaves_no_callback_behind(host):
    """The driver is still in the callback when the region, and with it the module, may go."""
    host.load("open", persistent=False, options="trust_programs=1")
    host.set("nvidia", "can_keep", 0)
    host.set("nvidia", "callback_delay_ms", 3000)
    job = host.guest.start(f"{CHECK} freed-slowly", 120)
    while host.counter("callbacks", "nvidia") == 0:
        expect(job.is_running(), "no callback")
    host.guest.check("until rmmod nvidia_peermem 2>/dev/null; do sleep 0.05; done", 120)
    status, output = job.wait()
    expect(status == 0, output)
    expect(not host.guest.complaints(), host.guest.complaints())
    host.guest.check("rmmod nvidia")
    print("ok  the module does not go while it is called back")


def is_seen_and_not_unloaded(host, persistent):
    """A region while it lives; then its process is killed."""
    host.load("open", persistent)
    job = host.guest.start(f"{CHECK} hold 2", 60)
    end = time.monotonic() + 600
    while not (seen := [line for line in host.regions() if line["state"] == "live"]):
        expect(time.monotonic() < end and job.is_running(), "no region appears")
    region = seen[0]
    expect(len(seen) == 1 and region["command"] == "peermem_check" and
           region["length"] == str(2 << 20) and region["address"] == "0x7e0000000000" and
           region["mode"] == ("persistent" if persistent else "invalidating"), seen)
    expect(host.guest.run(f"grep -q peermem_check /proc/{region['process']}/cmdline")[0] == 0 and
           host.guest.run(f"test -e /sys/bus/pci/devices/{region['nic']}")[0] == 0, seen)
    expect((host.counter("live_regions"), host.counter("live_bytes")) == (1, 2 << 20), "counters")
    status, output = host.guest.run("rmmod nvidia_peermem 2>&1")
    expect(status != 0 and "Resource temporarily unavailable" in output, output)
    job.wait(0)
    host.nothing_left()
    expect(host.regions() == [] and host.counter("registered") == 1, host.regions())
    host.unload()
    print("ok ", " ".join(region.values()), "seen, not unloaded; killed, nothing left")


def refuses_with_a_line(host):
    host.load("open")
    for module, name, value, back, wanted, line in (
            ("nvidia", "table_version", 0x00030000, 0x00010002, "EPROTO",
             "page tables of version 0x00030000 are not known"),
            ("nvidia", "can_keep", 0, 1, "EOPNOTSUPP", "persistent=0 trust_programs=1"),
            ("nvidia", "window_pages", 0, 65536, "ENOMEM", "no room"),
            ("peer_core", "has_pci", 0, 1, "EINVAL", "no PCI function")):
        if name == "window_pages":  # what is allocated is limited by it, too
            continue
        before = host.counter("refused")
        host.set(module, name, value)
        got = host.check("once")
        host.set(module, name, back)
        expect(got == wanted, f"{name}={value}: {got}, not {wanted}")
        said = host.expect_log(line)
        expect(said.count("\n") == 0 and host.counter("refused") == before + 1, said)
        print(f"ok  {got}: {said.partition('nvidia_peermem: ')[2]}")
    expect(host.check("once") == "registered", "afterwards nothing is registered")
    host.set("nvidia", "can_keep", 0)
    name = "/run/$(printf 'a\\033\\377b c')"  # any program may have such a name
    host.guest.check(f'cp {CHECK} "{name}" && "{name}" once')
    said = host.expect_log("of a__b_c .process [0-9]*. are not registered")
    host.unload()
    host.load("open", persistent=False)
    host.set("nvidia", "can_keep", 0)
    expect(host.check("once") == "EOPNOTSUPP", "lent although programs are not trusted")
    host.unload()
    print("ok ", said.partition("nvidia_peermem: ")[2])


def does_not_lend_unasked(host):
    """Where a program could hang or crash the driver, the administrator must say that none will."""
    for driver, options in (("470", "trust_programs=0"), ("515", "persistent=0")):
        host.guest.check(f"insmod /lab/ko/nvidia-{driver}.ko")
        status, log = host.insert(f"nvidia-peermem-{driver}", options)
        expect(status != 0 and "load the module with trust_programs=1" in log and
               "Operation not supported" in log, f"driver {driver}, {options}: {log}")
        host.guest.check("rmmod nvidia")
    print("ok  drivers 470 and 515: not loaded where programs are not trusted")


def every_driver(host):
    """One module serves the open and the proprietary licence; other drivers need a build each."""
    for driver, module, persistent, options in (
            ("proprietary", "open", True, ""), ("580", "580", True, ""), ("515", "515", True, ""),
            ("515", "515", False, "persistent=0 trust_programs=1"),
            ("470", "470", False, "")):
        host.load(driver, module=module, options=options)
        host.check("transfers")
        freed = host.check("freed")
        outcome = "success" if persistent else "remote access error"
        expect(f"write to freed memory: {outcome}" in freed, freed)
        if not persistent:
            expect(host.guest.check("cat /sys/module/nvidia_peermem/parameters/persistent").strip()
                   == "N", "it says that it is persistent")
        version = host.guest.check("cat /sys/module/nvidia_peermem/version").strip()
        expect(version.startswith("gdrkit-"), f"gdr doctor takes it for the driver's own: {version}")
        host.unload()
        print(f"ok  driver {driver} {options}: version {version} of the module, every byte, freed: {outcome}")


def races(host, registrations):
    for persistent, old_locks in ((True, 0), (False, 0), (False, 1)):
        host.load("open", persistent)
        host.set("peer_core", "old_locks", old_locks)
        host.set("nvidia", "client_frees", old_locks)
        outcome = host.check(f"race 4 {registrations}", 600)
        expect(host.counter("registered") > 0, outcome)
        print(f"ok  {registrations} registrations race with frees,",
              "persistent:" if persistent else f"invalidating, old_locks={old_locks}:", outcome,
              f"({host.counter('invalidated')} ended by a callback)")
        host.unload()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--release", default="")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()

    def test(host: PeerMemory):
        does_not_load_where_it_does_not_fit(host)
        persistent_mode(host)
        invalidating_mode(host, "present core")
        invalidating_mode(host, "a core that unmaps under its lock", old_locks=1)
        invalidating_mode(host, "a GPU that cannot keep memory", can_keep=0)
        invalidating_mode(host, "a driver that leaves tables to us", client_frees=1)
        invalidating_mode(host, "such a one that cannot keep memory", can_keep=0, client_frees=1)
        watches_what_it_keeps(host)
        stays_while_the_driver_may_call(host, can_keep=1)
        stays_while_the_driver_may_call(host, can_keep=0)
        leaves_no_callback_behind(host)
        is_seen_and_not_unloaded(host, True)
        is_seen_and_not_unloaded(host, False)
        refuses_with_a_line(host)
        does_not_lend_unasked(host)
        every_driver(host)
        races(host, 1000 if options.long else 120)

    peermem_in_guest.run(test, options.release)


if __name__ == "__main__":
    lab.run_to_the_end(main)

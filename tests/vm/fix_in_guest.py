#!/usr/bin/env python3
"""fix_in_guest.py BUILD: gdr fix on real registers. QEMU's root ports have Access Control Services,
and with an IOMMU the guest's kernel sets their redirects at boot, as it does on a real machine. There
gdr fix must clear these bits and no others, write down what it does before it does it, and put every
byte back, also after it was killed at any step; and it must refuse where it is not told that nothing
but an emulation is behind the tree. A second guest boots with what --persist wrote."""
import base64
import json
import shutil
import sys

import lab
from lab import expect

PORT = "0000:00:10.0"
CONFIG = f"/sys/bus/pci/devices/{PORT}/config"
JOURNAL = "/var/lib/gdrkit/fix/journal"
FIX = f"gdr fix acs --port {PORT} --emulated"
GRUB = "/etc/default/grub.d/60-gdrkit.cfg"
ACS = 0x000d
REDIRECTS = 0x2c
DEVICES = ("-nic", "none", "-device", "intel-iommu,intremap=off",
           "-device", "pcie-root-port,id=upper,addr=0x10,chassis=1",
           "-device", "edu,bus=upper")


def config(guest):
    """All of the port's configuration space, read by nothing of gdrkit's."""
    space = base64.b64decode(guest.check(f"base64 {CONFIG}"))
    expect(len(space) == 4096, f"{len(space)} bytes of configuration space")
    return space


def word(space, at):
    return int.from_bytes(space[at:at + 2], "little")


def control_offset(space):
    at = 0x100
    while at:
        if word(space, at) == ACS:
            return at + 6
        at = word(space, at + 2) >> 4
    raise lab.Failure("the port has no ACS capability")


def cleared(space):
    at = control_offset(space)
    control = word(space, at) & ~REDIRECTS
    return space[:at] + control.to_bytes(2, "little") + space[at + 2:]


def document(guest, command, status=0):
    got, output = guest.run(f"{command} --json 2>&1", 60)
    expect(got == status, f"{command} ended with {got}: {output}")
    return json.loads(output[output.index("{"):])


def journal(guest):
    return guest.run(f"cat {JOURNAL}")[1]


def refuses_in_a_virtual_machine(guest, before):
    for apply in ("", "--apply"):
        status, output = guest.run(f"gdr fix acs --port {PORT} {apply} 2>&1")
        expect(status == 1 and "virtual machine" in output, output)
    expect(config(guest) == before, "a refused gdr fix has written")
    status, output = guest.run("gdr fix acs --port 0000:00:00.0 --emulated --apply 2>&1")
    expect(status == 1 and "neither a root port" in output, output)
    print("ok  refused: a virtual machine; a function that is no port")


def writes_and_undoes(guest, before):
    plan = document(guest, FIX)
    change = plan["plan"][0]["changes"][0]
    at = control_offset(before)
    expect((change["old"], change["offset"]) == (f"0x{word(before, at):04x}", at - 6), change)
    expect(config(guest) == before, "a dry run has written")
    document(guest, f"{FIX} --apply")
    expect(config(guest) == cleared(before), "other bytes than the redirects have changed")
    lines = [json.loads(line) for line in journal(guest).splitlines()]
    expect(len(lines) == 2 and lines[0]["target"] == PORT and lines[1]["state"] == "done", lines)
    expect(lines[0]["boot_id"] == guest.check("cat /proc/sys/kernel/random/boot_id").strip(), lines)
    again = document(guest, f"{FIX} --apply")
    expect(again["plan"][0]["changes"] == [], again)
    undone = document(guest, "gdr fix --undo")
    expect(undone["steps"][0]["fate"] == "restored", undone)
    expect(config(guest) == before and journal(guest) == "", "not undone bit for bit")
    print(f"ok  ACS control {word(before, at):#06x} -> {word(cleared(before), at):#06x} at "
          f"{at:#x}, journalled, read back, undone bit for bit")


def leaves_what_others_set(guest, before):
    document(guest, f"{FIX} --apply")
    at = control_offset(before)
    guest.check(rf"printf '\005' | dd of={CONFIG} bs=1 seek={at} conv=notrunc 2>/dev/null")
    undone = document(guest, "gdr fix --undo", 1)
    expect(undone["steps"][0]["fate"] == "left" and "0x0005" in undone["steps"][0]["reason"], undone)
    expect(word(config(guest), at) == 5, "gdr fix overwrote what somebody else had set")
    octal = "".join(f"\\{byte:03o}" for byte in cleared(before)[at:at + 2])
    guest.check(f"printf '{octal}' | dd of={CONFIG} bs=2 seek={at // 2} conv=notrunc 2>/dev/null")
    document(guest, "gdr fix --undo")
    expect(config(guest) == before, "not undone")
    print("ok  a value that somebody else has set is told, and left")


def survives_a_kill(guest, before):
    for point in ("fix_planned", "fix_journalled", "fix_changed", "fix_read_back", "fix_marked"):
        status, output = guest.run(f"GDR_KILL={point}:1 {FIX} --apply 2>&1")
        if status == 0:
            print("skipped: this build has no kill points (GDR_FAULT_HOOKS)")
            document(guest, "gdr fix --undo")
            return
        expect(status == 137, f"{point}: {status} {output}")
        made = point not in ("fix_planned", "fix_journalled")
        expect(config(guest) == (cleared(before) if made else before), f"{point}: its state")
        if point not in ("fix_planned", "fix_marked"):
            status, output = guest.run(f"{FIX} --apply 2>&1")
            expect(status == 1 and "--undo" in output and output.count("\n") == 1, output)
            shown = document(guest, "gdr fix --status")
            expect(shown["entries"][0]["state"] == "begun", shown)
        document(guest, "gdr fix --undo")
        expect(config(guest) == before and journal(guest) == "", f"{point}: not undone")
        print(f"ok  killed at {point}, undone bit for bit")
    for point in ("fix_undoing", "fix_restored", "fix_undone"):
        document(guest, f"{FIX} --apply")
        status, output = guest.run(f"GDR_KILL={point}:1 gdr fix --undo 2>&1")
        expect(status == 137, f"{point}: {status} {output}")
        document(guest, "gdr fix --undo")
        expect(config(guest) == before and journal(guest) == "", f"{point}: not undone")
        print(f"ok  killed at {point}, undone by the next bit for bit")


def works_alone(guest):
    status, output = guest.run(
        f"mkdir -p /var/lib/gdrkit/fix; flock /var/lib/gdrkit/fix/lock {FIX} --apply 2>&1")
    expect(status == 1 and "another gdr fix is running" in output and output.count("\n") == 1,
           output)
    print("ok  two at a time: the second says so in a line")


def persists(guest, before):
    """The kernel parameter that it writes for the next boot."""
    guest.check("mkdir -p /etc/default/grub.d")
    document(guest, f"{FIX} --persist --apply")
    script = guest.check(f"GRUB_CMDLINE_LINUX=quiet; . {GRUB}; echo \"$GRUB_CMDLINE_LINUX\"")
    quiet, parameter = script.split()
    expect(quiet == "quiet" and parameter.startswith("pci="), script)
    document(guest, "gdr fix --undo")
    expect(guest.run(f"ls {GRUB}")[0] != 0, "the file of the boot loader is still there")
    expect(config(guest) == before, "not undone")
    return parameter.replace('"', "")  # GRUB takes the quotes away


def takes_effect_at_boot(parameter, before):
    with lab.Guest.boot(sys.argv[1], qemu=DEVICES,
                        kernel_options=f"intel_iommu=on {parameter}") as guest:
        at = control_offset(before)
        expect(word(config(guest), at) == word(cleared(before), at),
               f"{parameter} gave {word(config(guest), at):#06x}")
        plan = document(guest, FIX)
        expect(plan["plan"][0]["changes"] == [] and plan["plan"][0]["nothing"], plan)
        print(f"ok  booted with {parameter}: ACS control {word(cleared(before), at):#06x}")


def main():
    flock = shutil.which("flock") or lab.skip("flock is not installed (Debian: util-linux)")
    with lab.Guest.boot(sys.argv[1], [flock], DEVICES, kernel_options="intel_iommu=on") as guest:
        before = config(guest)
        expect(word(before, control_offset(before)) & REDIRECTS,
               "the guest's kernel has set no redirects")
        refuses_in_a_virtual_machine(guest, before)
        writes_and_undoes(guest, before)
        leaves_what_others_set(guest, before)
        survives_a_kill(guest, before)
        works_alone(guest)
        parameter = persists(guest, before)
        print(guest.check(f"{FIX}; {FIX} --apply; gdr fix --status; gdr fix --undo"))
        expect(not guest.complaints(), f"the guest's kernel complains:\n{guest.complaints()}")
    takes_effect_at_boot(parameter, before)


if __name__ == "__main__":
    lab.run_to_the_end(main)

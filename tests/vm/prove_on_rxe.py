#!/usr/bin/env python3
"""prove_on_rxe.py BUILD: gdrkit's own tools over the kernel's verbs. In a guest with two rxe devices on
a veth pair, `gdr prove` with host memory must prove every mode that rxe offers, name what it does not
offer, claim nothing about stand-ins, and have moved its bytes across the pair; also under loss and
corruption; and it must not prove what is not there."""
import json
import sys

import lab
from lab import expect

CONNECTED = ("send", "write", "write-imm", "read", "atomic")
SOFT_NIC = "/opt/gdrkit/lib/gdrkit/soft-nic"
PROVE = "gdr prove --memory host --require-hardware --json"


def number(guest, path):
    return int(guest.check(f"cat {path}"))


def sent_bytes(guest):
    return {link: number(guest, f"/sys/class/net/{link}/statistics/tx_bytes")
            for link in ("w0", "w1")}


def counter(guest, device, name):
    return number(guest, f"/sys/class/infiniband/{device}/ports/1/hw_counters/{name}")


def report_of(output):
    """The document alone: the kernel may have put a word in front of it."""
    return json.loads(output[output.index("{"):])


def expect_proved(report, near, far, modes):
    expect(report["verdict"] == "PROVED" and report["partial"], report["verdict"])
    expect(report["stand_ins"] == [], f"stand-ins: {report['stand_ins']}")
    inventory = report["inventory"]
    expect(inventory["gpus"] == [] and "gdrkit" not in inventory["libibverbs"], inventory)
    expect({(nic["name"], nic["stand_in"]) for nic in inventory["nics"]} ==
           {("rxa", False), ("rxb", False)}, inventory["nics"])
    status = {check["mode"]: check for check in report["checks"]}
    expect(set(status) == set(modes), f"checks: {sorted(status)}")
    for mode, check in status.items():
        expect((check["from_nic"], check["to_nic"]) == (near, far), check)
        if mode == "raw":
            expect(check["status"] == "not proved" and
                   "offers no raw packet queue pairs" in check["reason"], check)
        else:
            expect(check["status"] == "proved" and check["transfers"] > 0 and
                   check["failed"] == 0, check)
    bytes_moved = sum(check["bytes"] for check in report["checks"])
    print(f"ok  gdr prove {near} -> {far}: {', '.join(modes)}; {bytes_moved} bytes")
    return status


def part_of_a_proof(guest, command, seconds):
    """Its document: host memory alone is a part of what can be proved, and the exit status says so."""
    status, output = guest.run(command, seconds)
    expect(status == 3, f"{command}: exit status {status}: {output}")
    return report_of(output)


def proves_every_mode(guest):
    before = sent_bytes(guest)
    report = part_of_a_proof(guest, PROVE, 120)
    status = expect_proved(report, "rxa", "rxb", ("raw", "ud", *CONNECTED))
    expect(len(report["not_proved"]) == 2, report["not_proved"])
    expect(report["measurements"][0]["direct_ns"], report["measurements"])
    after = sent_bytes(guest)
    for link, modes in (("w0", ("ud", "send", "write", "write-imm")), ("w1", ("read",))):
        crossed = after[link] - before[link]
        wanted = sum(status[mode]["bytes"] for mode in modes)
        expect(crossed > wanted, f"{link} sent {crossed} bytes of {wanted}")
        print(f"ok  {link} sent {crossed} bytes, {wanted} of them checked ones")
    for device in ("rxa", "rxb"):
        expect(counter(guest, device, "rcvd_pkts") > 0, f"{device} received nothing")


def proves_the_other_direction(guest):
    report = part_of_a_proof(
        guest, f"{PROVE} --nic rxb --peer-nic rxa --no-measure --sizes 1,4097,1M+13", 60)
    expect_proved(report, "rxb", "rxa", ("raw", "ud", *CONNECTED))


def proves_under_disturbance(guest, disturbance, counters):
    before = {name: counter(guest, *name) for name in counters}
    guest.check(f"tc qdisc add dev w0 root netem {disturbance}")
    modes = ",".join(CONNECTED)
    report = part_of_a_proof(
        guest, f"{PROVE} --no-measure --sizes 64,4097,64K,1M --modes {modes}", 120)
    guest.check("tc qdisc del dev w0 root")
    expect_proved(report, "rxa", "rxb", CONNECTED)
    moved = {name: counter(guest, *name) - before[name] for name in counters}
    expect(any(moved.values()), f"{disturbance} disturbed nothing: {moved}")
    print(f"ok  under {disturbance}: " +
          ", ".join(f"{device} {name} +{by}" for (device, name), by in moved.items()))


def proves_nothing_that_is_not_there(guest):
    status, output = guest.run("gdr prove --json --no-measure --sizes 64 --modes write", 60)
    report = report_of(output)
    expect(status == 3 and report["verdict"] == "INCOMPLETE" and
           report["next"] == "gdr prove --memory host", output)
    print("ok  the software GPU beside rxe is INCOMPLETE:", report["causes"][0])
    status, output = guest.run(f"ip link set w1 down; {PROVE} --no-measure; status=$?; "
                               "ip link set w1 up; exit $status", 60)
    report = report_of(output)
    expect(status == 1 and report["verdict"] == "FAILED", output)
    print("ok  without a link:", report["seen"][0])
    status, output = guest.run(f"LD_LIBRARY_PATH={SOFT_NIC} {PROVE} --no-measure", 60)
    report = report_of(output)
    expect(status == 1 and report["verdict"] == "FAILED", output)
    print("ok  the software NIC in front of the real one:", report["seen"][0])


def runs_programs_on_the_nic_that_is_there(guest):
    for option, nics in (("", "rxa rxb"), ("--soft-nic", "soft0 soft1")):
        seen = guest.check(f"gdr run {option} --no-soft-gpu -- ibv_devinfo -l 2>/dev/null | "
                           "sed 1d | xargs")
        expect(seen.strip() == nics, f"gdr run {option} shows {seen}")
        print(f"ok  gdr run {option} -- ibv_devinfo:", nics)


def main():
    lost = (("rxb", "out_of_seq_request"), ("rxa", "completer_retry_err"),
            ("rxb", "duplicate_request"))
    with lab.Guest.boot(sys.argv[1]) as guest:
        guest.check("/lab/veth_pair.sh")
        proves_every_mode(guest)
        proves_the_other_direction(guest)
        proves_under_disturbance(guest, "loss 3%", lost)
        proves_under_disturbance(guest, "corrupt 3%", lost)
        proves_nothing_that_is_not_there(guest)
        runs_programs_on_the_nic_that_is_there(guest)
        expect(not guest.complaints(), f"the guest's kernel complains:\n{guest.complaints()}")


if __name__ == "__main__":
    lab.run_to_the_end(main)

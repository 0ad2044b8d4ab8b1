#!/usr/bin/env python3
"""dma_buf_on_rxe.py BUILD [--release RELEASE]: dma-bufs registered by ibv_reg_dmabuf_mr through the
kernel's own uverbs and core, with rxe as a driver that takes them (tests/vm/peermem). Memory comes
from an exporter of ours, which moves it and dies; every byte is compared. Where the kernel has
/dev/udmabuf (6.12), also `gdr prove` and `gdr run` with the software GPU on that real NIC."""
import argparse
import json
import pathlib
import time

import lab
from lab import expect

CHECK = "/lab/bin/peermem_check"
WITH_VERBS = "LD_PRELOAD=/lab/bin/dma_buf_verbs.so"
LEFT = ("/sys/module/rdma_rxe/parameters/buffers /sys/module/dma_buf_stub/parameters/buffers "
        "/sys/module/dma_buf_stub/parameters/mapped")


def nothing_left(guest):
    status, output = guest.run(f"i=0; while [ $i -lt 100 ]; do i=$((i + 1)); grep -q -v -x 0 {LEFT} || exit 0; sleep 0.2; "
                               f"done; grep . {LEFT}; exit 1")
    expect(status == 0, f"something is left:\n{output}")


def check(guest, case):
    output = guest.check(f"{WITH_VERBS} {CHECK} {case}", 120)
    nothing_left(guest)
    print("ok ", output.strip())
    return output


def registers_an_exporters_memory(guest):
    check(guest, "dma-buf")
    moved = check(guest, "dma-buf-moved")
    expect("remote access error" in moved, moved)
    expect(int(guest.check("cat /sys/module/rdma_rxe/parameters/moved")) == 1, "nobody was told")
    check(guest, "dma-buf-orphan")


def ends_with_its_process(guest):
    job = guest.start(f"{WITH_VERBS} {CHECK} dma-buf-hold", 60)
    end = time.monotonic() + 600
    while guest.run(f"grep -x -q 1 {LEFT.split()[0]}")[0] != 0:
        expect(time.monotonic() < end and job.is_running(), "nothing is registered")
    job.wait(0)
    nothing_left(guest)
    print("ok  a process is killed, nothing left")


def prove(guest, words, status):
    got, output = guest.run(f"{words} --json --no-measure --sizes 1,4097,1M", 180)
    expect(got == status, f"{words} ended with {got}: {output}")
    return json.loads(output[output.index("{"):])


def software_gpu_on_the_real_nic(guest):
    """The memory of the software GPU as a dma-buf of the kernel's own."""
    report = prove(guest, f"{WITH_VERBS} gdr prove --modes write,read,send", 3)
    expect(report["verdict"] == "INCOMPLETE", report["verdict"])  # the GPU is none
    inventory = report["inventory"]
    expect("gdrkit" not in inventory["libibverbs"] and
           [nic["stand_in"] for nic in inventory["nics"]] == [False], inventory)
    expect(inventory["gpus"] and all(gpu["stand_in"] for gpu in inventory["gpus"]), inventory)
    expect(report["stand_ins"] == ["GPU"], report["stand_ins"])
    checks = report["checks"]
    expect(checks and all(one["status"] == "proved" and one["failed"] == 0 for one in checks), checks)
    ways = {(one["registration"], one["ok"]) for one in report["registrations"]}
    expect(ways == {("dma-buf", True), ("peer-memory", False)} and report["ways"] == ["dma-buf"], ways)
    print(f"ok  gdr prove: {report['verdict']}, stand-ins: {report['stand_ins']}, {len(checks)} "
          f"checks, {sum(one['bytes'] for one in checks)} bytes; {sorted(ways)}")
    report = prove(guest, "gdr prove --modes write", 3)
    expect(report["verdict"] == "INCOMPLETE", report["verdict"])
    report = prove(guest, f"GDR_SOFT_DMA_BUF=anonymous {WITH_VERBS} gdr prove --modes write", 3)
    expect(report["verdict"] == "INCOMPLETE", report["verdict"])
    print("ok  a library or a GPU that has no dma-bufs for it: INCOMPLETE")


def program_on_both(guest):
    refused, output = guest.run("gdr run -- true 2>&1")
    expect(refused == 0 or "cannot reach the memory of the software GPU" in output, output)
    status, output = guest.run("gdr run --soft-gpu --no-soft-nic -- true 2>&1")
    expect(status == 2 and "GDR_SOFT_DMA_BUF=udmabuf" in output, output)
    output = guest.check("GDR_SOFT_DMA_BUF=udmabuf gdr run --soft-gpu --no-soft-nic -- "
                         "ibv_devinfo -l 2>&1")
    expect("rxe0" in output and "soft0" not in output, output)
    print("ok  gdr run takes both with GDR_SOFT_DMA_BUF=udmabuf")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--release", default="")
    options = parser.parse_args()
    programs = [pathlib.Path(options.build).resolve() / "tests" / "vm" / name
                for name in ("peermem_check", "dma_buf_verbs.so")]
    with lab.Guest.boot(options.build, programs, release=options.release, modules=True) as guest:
        guest.check("modprobe -a crc32_generic ib_uverbs udp_tunnel ip6_udp_tunnel")
        guest.check("for name in peer_core rdma_rxe dma_buf_stub; do insmod /lab/ko/$name.ko || "
                    "exit 1; done; ip address add 10.9.0.1/24 dev lo; "
                    "rdma link add rxe0 type rxe netdev lo")
        registers_an_exporters_memory(guest)
        ends_with_its_process(guest)
        if guest.run("test -c /dev/udmabuf")[0] == 0:
            software_gpu_on_the_real_nic(guest)
            program_on_both(guest)
        else:
            print("this kernel has no /dev/udmabuf: nothing of the software GPU is tried")
        expect(not guest.complaints(), f"the guest's kernel complains:\n{guest.complaints()}")


if __name__ == "__main__":
    lab.run_to_the_end(main)

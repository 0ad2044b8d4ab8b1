#!/usr/bin/env python3
"""perf_on_rxe.py BUILD [--pairs N]: gdr perf over the kernel's verbs. In a guest with two rxe devices on a
veth pair, `gdr perf --check` must find every byte right as loopback on one device, and between client
and server on both; it must name what rxe does not offer, survive a client that vanishes, and take no
stand-in. Beside it perftest on the same devices, N times in turn: those figures are recorded, and no
test is made of them, since an emulated processor's speed is its own."""
import argparse
import json
import statistics
import time

import ends
import lab
from lab import expect

CLIENT, SERVER = "10.8.0.1", "10.8.0.2"  # of rxa and rxb
PORT, PERFTEST_PORT = 18600, 19000
REPORT = "/tmp/report.json"
CLIENT_TO = f"--port {PORT} 127.0.0.1"
PERF = f"gdr perf --report {REPORT}"
MEASURED = "--duration 0.3 --warm-up 0.05"
SHORT = "--duration 0.1 --warm-up 0.02 --repeats 3"
# What is measured, and how many rows that are.
CHECKED = {
    "--operation write,write-imm,read,send --sizes 64,64K": 16,
    "--operation write,send --sizes 1M --measure bandwidth": 2,
    "--operation fetch-add,compare-swap": 4,
    "--operation send --transport ud --sizes 64,1024": 4,
    "--operation write,send,read --both-ways --measure bandwidth --sizes 64,64K": 6,
}
BY_MANAGER = {
    "--operation write,read,send --sizes 64,64K": 12,
    "--operation fetch-add --measure bandwidth --queue-pairs 5 --threads 2": 1,
    "--operation send --both-ways --measure bandwidth --sizes 4K --srq --queue-pairs 2": 1,
}
# gdr perf's figure beside perftest's: its row, the program and the column of its line.
BESIDE = {
    "write, 64 KiB, bandwidth [MB/s]": ("--operation write --measure bandwidth --sizes 64K",
                                        "ib_write_bw -s 65536 -n 1000", 3),
    "read, 64 KiB, bandwidth [MB/s]": ("--operation read --measure bandwidth --sizes 64K",
                                       "ib_read_bw -s 65536 -n 1000", 3),
    "send, 64 B, half a round trip [us]": ("--operation send --measure latency --sizes 64",
                                           "ib_send_lat -s 64 -n 2000", 4),
    "write, 64 B, half a round trip [us]": ("--operation write --measure latency --sizes 64",
                                            "ib_write_lat -s 64 -n 2000", 4),
}


def measure(guest, options, wanted=0):
    status, output = guest.run(f"rm -f {REPORT}; {PERF} {options}", 120)
    expect(status == wanted, f"gdr perf {options} ended with {status}:\n{output}")
    return json.loads(guest.check(f"cat {REPORT}"))


def expect_devices(report, near, far):
    for side, nic in (("near", near), ("far", far)):
        found = report[side]
        expect([port["nic"] for port in found["ports"]] == [nic] and not found["nic_is_stand_in"] and
               not found["gpu_is_stand_in"] and not found["gpus"] and
               "gdrkit" not in found["library"], found)


def expect_right(row):
    what = f"{row['load']}: {row}"
    expect(row["problem"] == "" and row["messages"] > 0, what)
    expect(row["checked"]["wrong"] == 0 and row["checked"]["messages"] > 0, what)
    # Datagrams may be lost; then the rest is compared.
    expect(row["lost"] == 0 or row["load"]["transport"] == "UD", what)
    expect(("latency_ns" in row) == (row["load"]["measure"] == "latency"), what)


def checks_every_byte(guest, where, near, far):
    for options, count in CHECKED.items():
        report = measure(guest, f"--require-hardware --memory host --check {SHORT} --depth 16 {where} {options}")
        expect_devices(report, near, far)
        rows = report["rows"]
        expect(len(rows) == count, f"{options}: {len(rows)} rows")
        for row in rows:
            expect_right(row)
        checked = sum(row["checked"]["messages"] for row in rows)
        print(f"ok  gdr perf {near} -> {far} --check {options}: {checked} messages right")


def uses_two_ports_at_once(guest):
    report = measure(guest, f"--require-hardware --memory host --check {SHORT} --depth 16 --cpu 0,1 "
                            "--nic rxa,rxb --peer-nic rxb,rxa --operation write,send --sizes 64,64K")
    expect([port["nic"] for port in report["far"]["ports"]] == ["rxb", "rxa"], report["far"])
    expect(len(report["rows"]) == 4, report["rows"])
    for row in report["rows"]:
        expect_right(row)
        expect([(port["near"], port["far"]) for port in row["ports"]] == [("rxa", "rxb"), ("rxb", "rxa")] and
               all(port["share"] > 0 for port in row["ports"]), row["ports"])
    print("ok  two ports at once, each with the other")


def sent_by(guest, link):
    return int(guest.check(f"cat /sys/class/net/{link}/statistics/tx_bytes"))


def checks_loopback(guest):
    before = sent_by(guest, "w0")
    checks_every_byte(guest, "--nic rxa --cpu 0,1", "rxa", "rxa")
    expect(sent_by(guest, "w0") - before < 1 << 20, "a loopback crossed the link")


def checks_client_and_server(guest):
    before = sent_by(guest, "w0"), sent_by(guest, "w1")
    checks_every_byte(guest, f"--nic rxa {CLIENT_TO}", "rxa", "rxb")
    crossed = [after - old for old, after in zip(before, (sent_by(guest, "w0"), sent_by(guest, "w1")))]
    expect(min(crossed) > 1 << 20, f"bytes on the link: {crossed}")
    print(f"ok  bytes on the link, of the client and of the server: {crossed}")


# The kernel shows its connections, and which queue pairs they are of.
def connects_by_the_kernels_manager(guest):
    for options, count in BY_MANAGER.items():
        for where, far in (("--nic rxa --cpu 0,1", "rxa"), (f"--nic rxa {CLIENT_TO}", "rxb")):
            report = measure(guest, f"--require-hardware --memory host --check --rdma-cm {SHORT} --depth 16 "
                                    f"{where} {options}")
            expect_devices(report, "rxa", far)
            expect(len(report["rows"]) == count, f"{options}: {len(report['rows'])} rows")
            for row in report["rows"]:
                expect_right(row)
    running = guest.start(f"gdr perf --memory host --nic rxa {CLIENT_TO} --rdma-cm --queue-pairs 3 --sizes 64 "
                          "--measure bandwidth --duration 4")
    time.sleep(3)
    shown = guest.check("rdma resource show cm_id")
    running.wait(30)
    connected = [line for line in shown.splitlines() if "state CONNECT" in line]
    expect(len(connected) == 6, f"connections of both sides:\n{shown}")
    expect(not guest.check("rdma resource show cm_id | grep comm.gdr || true").strip(), "connections are left over")
    print(f"ok  --rdma-cm: {connected[0].strip()}")


def names_what_is_not_there(guest):
    report = measure(guest, f"--require-hardware --memory host --nic rxa --operation send "
                            f"--transport xrc --sizes 64 --measure latency", 1)
    problem = report["rows"][0]["problem"]
    expect("ibv_open_xrcd: Operation not supported" in problem, problem)
    print("ok  over XRC:", problem)
    report = measure(guest, f"--require-hardware --memory host --nic rxa --gid-index 0 --sizes 64 "
                            f"--measure latency {CLIENT_TO}", 1)
    problem = report["rows"][0]["problem"]
    expect("mix IPv4 and IPv6" in problem, problem)
    print("ok  with another GID:", problem)
    report = measure(guest, f"{SHORT} --sizes 64 --cpu 0,1")
    expect_devices(report, report["near"]["ports"][0]["nic"], report["far"]["ports"][0]["nic"])
    expect({row["load"]["near"] for row in report["rows"]} == {"host"}, report["rows"])
    print("ok  a NIC without a GPU is measured with host memory, by no stand-in")


# A row of large messages on a network that is slow ends in time all the same.
def ends_in_time(guest):
    report = measure(guest, f"--memory host --nic rxa {CLIENT_TO} {SHORT} --operation send --srq "
                            "--queue-pairs 4 --sizes 8M --measure bandwidth")
    expect(report["rows"][0]["seconds"] < 30, report["rows"][0])
    print(f"ok  4 queue pairs with messages of 8 MiB: {report['rows'][0]['seconds']:.1f} s")


def survives_a_client_that_vanishes(guest):
    status, output = guest.run(f"timeout -s KILL 1 gdr perf --memory host --nic rxa {CLIENT_TO}")
    expect(status == 137, f"the client was to be killed: {status}\n{output}")
    measure(guest, f"--memory host --nic rxa {CLIENT_TO} {SHORT} --sizes 64 --measure rate")
    print("ok  the server survives a client that vanishes")


def own_figure(guest, options):
    row = measure(guest, f"--memory host --nic rxa {CLIENT_TO} {MEASURED} {options}")["rows"][0]
    if row["load"]["measure"] == "latency":
        return row["latency_ns"]["p50"] / 1e3
    return row["bandwidth_bytes_per_second"]["median"] / 1e6


# perftest gives mebibytes a second.
def perftest_figure(guest, sides, command, column):
    server, client = sides
    serving = guest.start(f"{command} -F -d {server.device} -x {server.gid} -p {PERFTEST_PORT}")
    guest.check(f"/lab/listens.sh {PERFTEST_PORT}", 15)
    said = guest.check(f"{command} -F -d {client.device} -x {client.gid} -p {PERFTEST_PORT} {SERVER}")
    serving.wait(5)
    size = command.split(" -s ")[1].split()[0]
    line = next(line for line in said.splitlines() if line.split()[:1] == [size])
    return float(line.split()[column]) * (2**20 / 1e6 if "_bw" in command else 1)


def records_figures(guest, pairs):
    sides = (ends.GuestEnd(guest, "server", "rxb", SERVER),
             ends.GuestEnd(guest, "client", "rxa", CLIENT))
    for what, (options, command, column) in BESIDE.items():
        own, other = [], []
        for _ in range(pairs):
            own.append(own_figure(guest, options))
            other.append(perftest_figure(guest, sides, command, column))
        ratios = sorted(one / two for one, two in zip(own, other))
        print(f"recorded  {what}: gdr perf {statistics.median(own):.4g}, "
              f"{command.split()[0]} {statistics.median(other):.4g}; ratio "
              f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}), {pairs} pairs")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--pairs", type=int, default=0)
    options = parser.parse_args()
    with lab.Guest.boot(options.build) as guest:
        guest.check("/lab/veth_pair.sh")
        checks_loopback(guest)
        uses_two_ports_at_once(guest)
        guest.start(f"gdr perf --server --port {PORT} --nic rxb >/tmp/server.log 2>&1", 280)
        guest.check(f"/lab/listens.sh {PORT}", 15)
        checks_client_and_server(guest)
        connects_by_the_kernels_manager(guest)
        names_what_is_not_there(guest)
        ends_in_time(guest)
        survives_a_client_that_vanishes(guest)
        if options.pairs:
            records_figures(guest, options.pairs)
        expect(not guest.complaints(), f"the guest's kernel complains:\n{guest.complaints()}")


if __name__ == "__main__":
    lab.run_to_the_end(main)

"""ports.py GDR: one run over several ports at once: which of them talk to each other, every byte of what they carry, and what each had of the sum."""
import csv
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import OPERATIONS, QUICK, Perf, main, require, title  # noqa: E402
from two_programs import free_port, stop  # noqa: E402

PERF = Perf(sys.argv[1])
DEVICES = {"GDR_SOFT_DEVICES": "soft0,soft1,soft2,soft3"}
BANDWIDTH = (*QUICK, "--memory", "host", "--measure", "bandwidth")


def document(*options, **more):
    return PERF.document(*BANDWIDTH, *options, **DEVICES, **more)


def right(row, near, far):
    require(not row["problem"] and row["lost"] == 0, title(row), row)
    ports = row["ports"]
    require([port["near"] for port in ports] == near and [port["far"] for port in ports] == far, ports)
    require(abs(sum(port["share"] for port in ports) - 1) < 1e-6, ports)
    require(all(port["bandwidth_bytes_per_second"] > 0 for port in ports), ports)
    if row["load"]["check"]:
        found = row["checked"]
        require(found["wrong"] == 0 and found["messages"] == row["messages"] > 0, title(row), found)


def a_loopback_over_two_ports_and_their_neighbours():
    # A software NIC answers to the GID of its own device alone: each talks to the right one.
    near, far = ["soft0", "soft2"], ["soft3", "soft1"]
    for transport, operations in OPERATIONS.items():
        run = document("--nic", ",".join(near), "--peer-nic", ",".join(far), "--check", "--sizes",
                       "1000", "--transport", transport, "--operation", ",".join(operations))
        for side, names in (("near", near), ("far", far)):
            require([port["nic"] for port in run[side]["ports"]] == names, run[side])
            require(len({port["gid"] for port in run[side]["ports"]}) == 2, run[side])
        for row in run["rows"]:
            right(row, near, far)
            load = row["load"]
            require((load["ports"], load["threads"], load["queue_pairs"]) == (2, 2, 2), load)


def threads_and_queue_pairs_are_shared_out():
    near = ["soft0", "soft1", "soft2"]
    for options in (("--threads", "4"), ("--queue-pairs", "8"), ("--both-ways", "--check")):
        run = document("--nic", ",".join(near), "--sizes", "64", "--operation", "write,send", *options)
        for row in run["rows"]:
            right(row, near, near)
            require(row["load"]["queue_pairs"] >= row["load"]["threads"] >= 3, row["load"])


def staged_and_gpu_memory_go_through_several_ports_too():
    near = ["soft0", "soft1"]
    rows = PERF.document(*QUICK, "--memory", "gpu,staged", "--measure", "bandwidth", "--check",
                         "--sizes", "4K", "--nic", ",".join(near), **DEVICES)["rows"]
    require(len(rows) == 2, rows)
    for row in rows:
        require(row["checked"]["wrong"] == 0 and not row["problem"], row)
        require(len(row["ports"]) == 2, row["ports"])


def without_a_measure_there_is_bandwidth_alone():
    rows = PERF.document(*QUICK, "--memory", "host", "--nic", "soft0,soft1", "--sizes", "64",
                         **DEVICES)["rows"]
    require([row["load"]["measure"] for row in rows] == ["bandwidth"], rows)


def a_client_uses_as_many_of_the_servers_ports_as_it_has():
    port = free_port()
    server = PERF.server(port, "--nic", "soft2,soft3", **DEVICES)
    here = ("127.0.0.1", "--port", str(port), "--operation", "send", "--check", "--sizes", "64")
    try:
        run = document(*here, "--nic", "soft0,soft1")
        right(run["rows"][0], ["soft0", "soft1"], ["soft2", "soft3"])
        run = document(*here, "--nic", "soft1")
        require([one["nic"] for one in run["far"]["ports"]] == ["soft2"], run["far"])
        require(run["rows"][0]["ports"] == [] and run["rows"][0]["checked"]["wrong"] == 0, run)
        done = PERF.run(*BANDWIDTH, *here, "--nic", "soft0,soft1,soft2", **DEVICES)
        require(done.returncode == 2 and done.stderr.count("\n") == 1, done.returncode, done.stderr)
        require("--nic names 3 ports, but the server has 2" in done.stderr, done.stderr)
        document(*here, "--nic", "soft0,soft1")  # it serves on
    finally:
        server.terminate()
        said = server.communicate(timeout=100)[0]
        stop(server)
    require("serving soft2 port 1, soft3 port 1 (STAND-IN)" in said, said)
    PERF.leaves_nothing_behind()


def the_table_and_csv_say_what_each_port_had():
    options = (*BANDWIDTH, "--nic", "soft0,soft1", "--sizes", "64K")
    said = PERF.run(*options, **DEVICES).stdout
    for phrase in ("\n          soft0 port 1", "\n          soft1 port 1", ", 2 ports", " GB/s ("):
        require(phrase in said, phrase, said)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        PERF.run(*options, "--report", path, **DEVICES)
        with open(path, encoding="utf-8", newline="") as file:
            line, = csv.DictReader(file)
    require(line["near_nic"] == "soft0; soft1" and line["port_names"].count("soft") == 4, line)


if __name__ == "__main__":
    sys.exit(main([a_loopback_over_two_ports_and_their_neighbours,
                   threads_and_queue_pairs_are_shared_out,
                   staged_and_gpu_memory_go_through_several_ports_too,
                   without_a_measure_there_is_bandwidth_alone,
                   a_client_uses_as_many_of_the_servers_ports_as_it_has,
                   the_table_and_csv_say_what_each_port_had]))

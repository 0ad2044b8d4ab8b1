"""gpu_by_packets.py GDR: GPU memory between two network namespaces and over a link that spoils packets: --check looks at every byte."""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import QUICK, Perf, main, require, title  # noqa: E402
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

PERF = Perf(sys.argv[1])
PORT = 18600
# Within a packet, several packets, more than what is read ahead and than one block of memory.
SIZES = "1,5000,700000"
OPERATIONS = "write,write-imm,send,read"
CASES = (("rc", OPERATIONS, "gpu", "gpu"), ("rc", "write,read", "host", "gpu"),
         ("xrc", "write,read", "gpu", "gpu"), ("rc", "fetch-add", "gpu", "gpu"))


def right(rows, least):
    require(len(rows) >= least, len(rows))
    for row in rows:
        found = row["checked"]
        require(not row.get("problem") and found["wrong"] == 0, title(row), row)
        require(found["messages"] > 0 and not row["lost"], title(row), found)


def measured(hosts, transport, operations, near, far):
    server = hosts.start(0, PERF.command("--server", "--listen", "any"))
    client = None
    sizes = ("--sizes", SIZES) if operations != "fetch-add" else ()
    try:
        wrong = hosts.wait_until_listens(PORT, server)
        require(wrong is None, wrong)
        client = hosts.start(1, PERF.command(
            hosts.address, *QUICK, "--check", "--memory", near, "--far-memory", far,
            "--transport", transport, "--operation", operations, *sizes,
            "--measure", "bandwidth", "--json"))
        said = client.communicate(timeout=1000)[0]
        server.terminate()
        server.communicate(timeout=100)
    finally:
        stop(server, patience=1)
        if client is not None:
            stop(client)
    require(client.returncode == 0, transport, operations, near, far, said)
    return json.loads(said)["rows"]


def between_two_hosts():
    with Hosts(mtu=4200) as hosts:
        for transport, operations, near, far in CASES:
            rows = measured(hosts, transport, operations, near, far)
            right(rows, len(operations.split(",")))
            for counters in hosts.take_counters(PERF.gdr):
                require(counters.get("packets_received", 0) > 0, counters)


def by_packets(*options, **more):
    return PERF.document(*QUICK, "--check", "--memory", "gpu", "--measure", "bandwidth",
                         *options, seconds=1000, GDR_SOFT_PATH="packets", **more)["rows"]


def over_a_link_that_spoils_packets():
    right(by_packets("--operation", "write,send,read", "--sizes", "5000,700000",
                     GDR_SOFT_FAULTS="loss=0.01,reorder=0.01,duplicate=0.01,seed=3"), 6)


def with_more_queue_pairs_than_one_may_have_memory_for():
    right(by_packets("--operation", "write,send,read", "--sizes", "700000", "--queue-pairs", "32",
                     "--both-ways"), 3)


def with_a_shared_receive_queue():
    right(by_packets("--operation", "send,write-imm", "--sizes", "5000", "--srq",
                     "--queue-pairs", "3"), 2)


def unreliable_ones_place_what_arrives():
    right(by_packets("--operation", "write,send", "--sizes", "5000", "--transport", "uc",
                     "--depth", "4"), 2)


if __name__ == "__main__":
    try:
        become_root()
        sys.exit(main([between_two_hosts, over_a_link_that_spoils_packets,
                       with_more_queue_pairs_than_one_may_have_memory_for,
                       with_a_shared_receive_queue, unreliable_ones_place_what_arrives]))
    except Skip as missing:
        print(f"skipped: {missing}")
        sys.exit(77)

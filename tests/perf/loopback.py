"""loopback.py GDR: every operation over every transport by every measure, with every byte checked; and what changes how messages move."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import (ATOMICS, MEASURES, OPERATIONS, QUICK, Perf, main, require,  # noqa: E402
                          title)

PERF = Perf(sys.argv[1])


def measured(row, may_lose=False):
    figure = {"bandwidth": "bandwidth_bytes_per_second", "latency": "latency_ns",
              "rate": "rate_messages_per_second"}[row["load"]["measure"]]
    require(not row.get("problem"), title(row), row.get("problem"))
    value = row[figure]["p50"] if figure == "latency_ns" else row[figure]["median"]
    require(value > 0, title(row), row)
    require(row["lost"] == 0 or may_lose, title(row), "lost", row["lost"])


def checked(row, at_least):
    measured(row)
    found = row["checked"]
    require(found["wrong"] == 0, title(row), found)
    require(found["messages"] >= at_least and found["bytes"] >= found["messages"],
            title(row), "too few were checked:", found)


def every_operation_over_every_transport():
    for operations, sizes in ((OPERATIONS, ("--sizes", "1,1000")), (ATOMICS, ())):
        for transport, names in operations.items():
            rows = PERF.rows(*QUICK, "--check", "--transport", transport, "--operation",
                             ",".join(names), "--measure", MEASURES, *sizes)
            require(len(rows) == len(names) * 3 * (2 if sizes else 1), len(rows))
            for row in rows:
                checked(row, 16)


def large_messages():
    for row in PERF.rows(*QUICK, "--check", "--operation", "write,read,send", "--sizes", "1M",
                         "--measure", "bandwidth,latency"):
        checked(row, 16)


# Each of these has once, or could, lose count of messages, places or completions.
WAYS = (("--srq", "--operation", "send,write-imm", "--queue-pairs", "3"),
        ("--srq", "--operation", "send", "--transport", "uc", "--queue-pairs", "2"),
        ("--events", "--operation", "write,send,read"),
        ("--batch", "8", "--operation", "write,send,read"),
        ("--batch", "3", "--signal-every", "2", "--operation", "write,write-imm"),
        ("--inline", "64", "--operation", "write,send"),
        ("--queue-pairs", "5", "--threads", "2", "--operation", "write,send,read"),
        ("--queue-pairs", "3", "--transport", "xrc", "--operation", "write,send"),
        ("--queue-pairs", "3", "--transport", "ud", "--operation", "send"),
        ("--depth", "1", "--operation", "write,send"),
        ("--mtu", "256", "--operation", "send"))


def every_way_of_moving_them():
    for options in WAYS:
        for row in PERF.rows(*QUICK, "--measure", "bandwidth", "--sizes", "64", "--check",
                             *options):
            checked(row, 16)
        for row in PERF.rows(*QUICK, "--measure", "bandwidth", "--sizes", "64", *options):
            measured(row)


def both_ways_at_once():
    for options in (("--operation", "write,send,read,write-imm"),
                    ("--operation", "send", "--transport", "ud"),
                    ("--operation", "send", "--srq", "--queue-pairs", "2")):
        for row in PERF.rows("--duration", "20ms", "--warm-up", "1ms", "--repeats", "2",
                             "--both-ways", "--measure", "bandwidth", "--sizes", "64", *options):
            measured(row, may_lose="ud" in options)  # a datagram without a receive is gone


def both_ways_with_every_byte_checked():
    quick = (*QUICK, "--check", "--both-ways", "--measure", "bandwidth")
    for operations, size in ((OPERATIONS, "1000"), (ATOMICS, "8")):
        for transport, names in operations.items():
            for row in PERF.rows(*quick, "--transport", transport, "--operation", ",".join(names),
                                 "--sizes", size):
                checked(row, 32)
                # As many from either side, each of them compared.
                require(row["checked"]["messages"] == row["messages"], title(row), row["checked"])
    for options in (("--srq", "--operation", "send", "--queue-pairs", "3"),
                    ("--events", "--operation", "write,send,read"),
                    ("--batch", "8", "--operation", "write,send"),
                    ("--queue-pairs", "5", "--threads", "2", "--operation", "write,send,read"),
                    ("--depth", "1", "--operation", "write,send")):
        for row in PERF.rows(*quick, "--sizes", "64,1M", *options):
            checked(row, 4)


def staged_with_every_byte_checked():
    # Odd numbers of messages one at a time, which leave the buffers anywhere in their round.
    for memory in (("staged",), ("staged", "--far-memory", "host,gpu"),
                   ("host,gpu", "--far-memory", "staged")):
        document = PERF.document("--memory", *memory, "--iterations", "27", "--repeats", "3",
                                 "--check", "--operation", "write,send", "--measure",
                                 "bandwidth,latency", "--sizes", "1,1000,256K")
        for row in document["rows"]:
            checked(row, 27)


def pinned_host_memory_with_every_byte_checked():
    for row in PERF.document(*QUICK, "--memory", "pinned", "--far-memory", "host,gpu,pinned,staged",
                             "--check", "--measure", "bandwidth,latency", "--sizes", "1,64K",
                             "--operation", "write,send")["rows"]:
        checked(row, 16)


def latency_with_threads_and_events():
    for options in (("--threads", "2", "--queue-pairs", "2"), ("--events",)):
        for row in PERF.rows(*QUICK, "--measure", "latency", "--sizes", "8", "--operation",
                             "write,send,read", "--check", *options):
            checked(row, 16)


def batches_larger_than_the_places_for_large_messages():
    # 64 MiB of places: eight of these, and a batch of 16 would fill them twice.
    rows = PERF.rows("--iterations", "16", "--repeats", "1", "--depth", "16", "--batch", "16",
                     "--measure", "bandwidth", "--sizes", "8M", "--check")
    checked(rows[0], 8)


def a_row_counts_its_iterations():
    row, = PERF.rows("--iterations", "1000", "--repeats", "4", "--measure", "latency", "--sizes",
                     "8", "--operation", "send")
    require(row["latency_ns"]["samples"] == 1000, row["latency_ns"]["samples"])


def unreliable_latency_goes_on_for_longer_than_a_loss_takes():
    row, = PERF.rows("--duration", "1.5s", "--warm-up", "0", "--repeats", "2", "--measure",
                     "latency", "--sizes", "8", "--transport", "uc")
    measured(row)


def writes_over_uc_are_waited_for_while_they_are_under_way():
    """They complete once they have left, and nothing tells the target of them. No more of them
    than a socket has room for: they all arrive at once."""
    for row in PERF.rows(*QUICK, "--check", "--transport", "uc", "--operation", "write", "--sizes",
                         "1,5000", "--measure", "bandwidth,rate", "--depth", "16",
                         GDR_SOFT_PATH="packets", GDR_SOFT_FAULTS="delay=20ms"):
        checked(row, 16)


def thousands_of_queue_pairs():
    options = ("--queue-pairs", "4096", "--threads", "8", "--sizes", "64", "--measure",
               "bandwidth", "--depth", "4", "--duration", "50ms", "--warm-up", "0", "--repeats",
               "2")
    row, = PERF.rows(*options)
    measured(row)
    require(row["registered_bytes"] == 8 * 2 * 512 * 64, row["registered_bytes"])
    require(0.01 < row["set_up_seconds"] < 600, row["set_up_seconds"])
    said = PERF.run("--memory", "host", *options).stdout
    require("the client registered " in said and "set-up took" in said, said)


if __name__ == "__main__":
    sys.exit(main([every_operation_over_every_transport, large_messages, every_way_of_moving_them,
                   both_ways_at_once, both_ways_with_every_byte_checked,
                   staged_with_every_byte_checked, pinned_host_memory_with_every_byte_checked,
                   latency_with_threads_and_events,
                   batches_larger_than_the_places_for_large_messages, a_row_counts_its_iterations,
                   unreliable_latency_goes_on_for_longer_than_a_loss_takes,
                   writes_over_uc_are_waited_for_while_they_are_under_way,
                   thousands_of_queue_pairs]))

"""faults.py GDR: `--check` finds what the software NIC does wrong on purpose (GDR_FAULT), in every case that moves data."""
import contextlib
import os
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import ATOMICS, MEASURES, OPERATIONS, QUICK, Perf, main, require, title  # noqa: E402
from two_programs import free_port, stop  # noqa: E402

PERF = Perf(sys.argv[1])


def rows_under(fault, transport, operations, *options, measures=MEASURES):
    rows = PERF.rows(*QUICK, "--depth", "8", "--check", "--transport", transport,
                     "--operation", ",".join(operations), "--measure", measures, *options,
                     status=1, fault=fault)
    require(len(rows) == len(operations) * len(measures.split(",")), fault, rows)
    return rows


def all_wrong(rows, fault, says=""):
    for row in rows:
        require(not row.get("problem"), fault, title(row), row.get("problem"))
        found = row["checked"]
        require(found["messages"] > 0 and found["wrong"] == found["messages"], fault, title(row),
                found)
        require(says in found["first_wrong"], fault, title(row), found["first_wrong"])


def one_bit():
    for transport, operations in OPERATIONS.items():
        # The hook cannot change what lies in another process, where a read's data comes from.
        sent = [name for name in operations if name != "read"]
        all_wrong(rows_under("flip_bit", transport, sent, "--sizes", "1000"), "flip_bit",
                  "bit 4 of byte 999")


def the_last_byte_that_is_stale():
    for transport, operations in OPERATIONS.items():
        for row in rows_under("short_last_byte", transport, operations, "--sizes", "1000"):
            found = row["checked"]
            # The byte that was there before is the right one once in 256 times.
            require(found["wrong"] > found["messages"] / 2, title(row), found)


def a_block_that_is_displaced():
    for transport in ("rc", "uc", "xrc"):
        all_wrong(rows_under("shift_64k", transport, OPERATIONS[transport], "--sizes", "128K",
                             measures="bandwidth,latency"), "shift_64k")


def data_that_never_came():
    """Of what has no receive: a write that nobody notices, a read that brings nothing."""
    for transport in ("rc", "xrc"):
        rows = rows_under("drop_write", transport, ["read"], "--sizes", "1000")
        rows += rows_under("drop_write", transport, ["write"], "--sizes", "1000",
                           measures="bandwidth,rate")
        all_wrong(rows, "drop_write")


def writes_over_uc_that_never_came_are_lost():
    for row in rows_under("drop_write", "uc", ["write"], "--sizes", "1000",
                          measures="bandwidth,rate"):
        require(row["lost"] == row["messages"] > 0, title(row), row["lost"], row["messages"])
        require(row["checked"]["wrong"] == 0, title(row), row["checked"])


def completions_without_data():
    """A completion has told of these: over UC and UD, too, they are wrong and not lost."""
    for transport, operations in OPERATIONS.items():
        received = [name for name in operations if name in ("send", "write-imm")]
        all_wrong(rows_under("completion_without_data", transport, received, "--sizes", "1000"),
                  "completion_without_data")
        if "write" in operations:  # latency is measured with immediates then
            all_wrong(rows_under("completion_without_data", transport, ["write"], "--sizes", "1000",
                                 measures="latency"), "completion_without_data")


def atomics_that_bring_back_another_number():
    for fault in ("drop_write", "flip_bit"):
        for transport, operations in ATOMICS.items():
            for row in rows_under(fault, transport, operations):
                found = row["checked"]
                # Where nothing comes back, the place may hold the right number from before.
                require(found["wrong"] > 0, fault, title(row), found)
                require("brought back" in found["first_wrong"], found)


STAGED = ("--memory", "staged", *QUICK, "--check", "--operation", "write,send", "--measure",
          "bandwidth,latency")


def staged_data_on_its_way():
    for fault, size, says in (("flip_bit", "1000", "bit 4 of byte 999"),
                              ("shift_64k", "128K", "displaced by +65536 bytes"),
                              ("completion_without_data", "1000", "")):
        rows = PERF.document(*STAGED, "--sizes", size, status=1, fault=fault)["rows"]
        require(len(rows) == 4, rows)
        all_wrong(rows, fault, says)
    for row in PERF.document(*STAGED, "--sizes", "1000", status=1, fault="short_last_byte")["rows"]:
        require(row["checked"]["wrong"] > row["checked"]["messages"] / 2, title(row), row["checked"])


BOTH_WAYS = ("--both-ways", "--depth", "8", *QUICK, "--check", "--measure", "bandwidth")
# A fault, what it spoils, and of how many bytes.
ON_THE_WAY = (("flip_bit", {"rc": "write,write-imm,send", "uc": "write,send", "ud": "send",
                            "xrc": "write,send"}, "1000"),
              ("shift_64k", {"rc": "write,write-imm,read,send", "uc": "write", "xrc": "read"}, "128K"),
              ("drop_write", {"rc": "write,read", "xrc": "write,read"}, "1000"),
              ("completion_without_data", {"rc": "send,write-imm", "ud": "send"}, "1000"))


def both_ways_whichever_side_spoils_it():
    """Half of what is compared is what the side with the fault has sent or read."""
    for fault, cases, size in ON_THE_WAY:
        for of_server in (True, False):
            port = free_port()
            server = PERF.server(port, fault=fault if of_server else "")
            try:
                for transport, operations in cases.items():
                    rows = PERF.rows("127.0.0.1", "--port", str(port), *BOTH_WAYS, "--transport",
                                     transport, "--operation", operations, "--sizes", size,
                                     status=1, fault="" if of_server else fault)
                    for row in rows:
                        found = row["checked"]
                        require(not row.get("problem"), fault, title(row), row.get("problem"))
                        require(found["messages"] == 2 * found["wrong"] > 0, fault, title(row),
                                "the server's" if of_server else "the client's", found)
            finally:
                server.send_signal(signal.SIGINT)
                stop(server, patience=5)


@contextlib.contextmanager
def whole_server():
    """One without the fault: a client that sees no completion cannot show where it is."""
    port = free_port()
    server = PERF.server(port)
    try:
        yield ("127.0.0.1", "--port", str(port))
    finally:
        server.send_signal(signal.SIGINT)
        stop(server, patience=5)


WITHOUT_COMPLETION = (*QUICK, "--depth", "8", "--check", "--operation", "send", "--sizes", "64", "--measure",
                      "bandwidth")
HIDDEN = {"status": 1, "fault": "data_without_completion"}


def both_ways_of_atomics_and_of_what_is_lost():
    rows = rows_under("drop_write", "rc", ATOMICS["rc"], "--both-ways", measures="bandwidth")
    for row in rows:
        require(row["checked"]["wrong"] > 0, title(row), row["checked"])
    row, = rows_under("drop_write", "uc", ["write"], "--both-ways", "--sizes", "1000",
                      measures="bandwidth")
    require(row["lost"] == row["messages"] > 0 == row["checked"]["wrong"], row)
    with whole_server() as here:
        row, = PERF.rows(*here, *WITHOUT_COMPLETION, "--transport", "ud", "--both-ways",
                         fault=HIDDEN["fault"])
    require(row["lost"] * 2 == row["messages"] > 0, row)  # what the client has sent


def data_without_a_completion():
    with whole_server() as here:
        row, = PERF.rows(*here, *WITHOUT_COMPLETION, **HIDDEN)
        require("8 of 8 messages have no completion" in row["problem"], row)
        row, = PERF.rows(*here, *WITHOUT_COMPLETION, "--transport", "ud", **HIDDEN)
        require(row["lost"] == row["messages"] > 0, row)


def the_table_says_what_was_wrong():
    done = PERF.run(*QUICK, "--memory", "host", "--check", "--sizes", "1000", "--measure",
                    "bandwidth", fault="flip_bit")
    require(done.returncode == 1, done.returncode)
    for phrase in ("WRONG", "wrong: message 0 of queue pair 0: ", "WRONG DATA in 1 measurement"):
        require(phrase in done.stdout, phrase, done.stdout)


if __name__ == "__main__":
    sys.exit(main([one_bit, the_last_byte_that_is_stale, a_block_that_is_displaced,
                   data_that_never_came, writes_over_uc_that_never_came_are_lost,
                   completions_without_data, atomics_that_bring_back_another_number,
                   staged_data_on_its_way, both_ways_whichever_side_spoils_it,
                   both_ways_of_atomics_and_of_what_is_lost, data_without_a_completion, the_table_says_what_was_wrong]))

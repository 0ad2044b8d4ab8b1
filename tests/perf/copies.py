"""copies.py GDR: --bare-copies, the CUDA driver's own beside the rows of GPU memory, on two software GPUs. How fast they are is no test."""
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import QUICK, Perf, main, require, title  # noqa: E402

PERF = Perf(sys.argv[1])
COPIES = ("--bare-copies", "--measure", "bandwidth", "--sizes", "8,3M")
NAME = "bare copies by the CUDA driver"


def rows(*options):
    return PERF.document(*QUICK, *COPIES, *options, GDR_SOFT_GPUS="2")["rows"]


def copies_of(row):
    return [limit for limit in row["limits"] if limit["what"] == NAME]


def has_copies(row):
    require(not row["problem"], title(row), row["problem"])
    copies, = copies_of(row)
    median = row["bandwidth_bytes_per_second"]["median"]
    require(copies["bytes_per_second"] > 0, title(row), copies)
    require(abs(copies["share"] * copies["bytes_per_second"] / median - 1) < 1e-9, copies, median)
    require(row["limits"][-1]["what"] == NAME, "comparisons come last", row["limits"])
    require(any(remark.startswith(NAME + ": ") for remark in row["remarks"]), row["remarks"])


def stand_beside_every_row_of_gpu_memory():
    for memory in ("gpu:0", "gpu-vmm:0", "host", "pinned:0"):
        found = rows("--memory", memory, "--far-memory", "gpu:1,gpu:0,host",
                     "--operation", "write,read")
        require(len(found) == 3 * 2 * 2, len(found))
        for row in found:
            if "gpu" in row["load"]["near"] + row["load"]["far"]:
                has_copies(row)
            else:
                require(not copies_of(row), title(row))


def are_not_made_of_what_the_processor_copies_or_both_ways():
    for row in rows("--memory", "staged:0", "--far-memory", "host,gpu:1"):
        require(not copies_of(row), title(row))
    for row in rows("--memory", "gpu", "--both-ways"):
        require(not copies_of(row), title(row))


def leave_what_was_measured_as_it_was():
    """A GPU of the client's own would change how host memory gets into the server's."""
    for row in rows("--memory", "host,pinned:0", "--far-memory", "gpu:1", "--check"):
        has_copies(row)
        require(row["checked"]["wrong"] == 0, row["checked"])


def end_with_the_run():
    PERF.leaves_nothing_behind()
    run = PERF.start("--bare-copies", "--memory", "gpu", "--duration", "60")
    try:
        end = time.monotonic() + 200
        while len(PERF.processes()) < 3:
            require(time.monotonic() < end and run.poll() is None, PERF.processes())
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
        run.wait(timeout=100)
    finally:
        run.kill()
    PERF.leaves_nothing_behind()


if __name__ == "__main__":
    sys.exit(main([stand_beside_every_row_of_gpu_memory,
                   are_not_made_of_what_the_processor_copies_or_both_ways,
                   leave_what_was_measured_as_it_was, end_with_the_run]))

#!/usr/bin/env python3
"""matrix.py [--connected] GDR [PATTERN]: every perftest program on the software NIC, in every mode it
offers; --connected: where it can be connected by librdmacm (-R), so.

A run is a server and a client of one program, as two processes. It passes when both exit with 0 and
the client prints the lines of results that its sizes ask for. PATTERN (a regular expression) picks
runs by their name, which is the command that repeats them. What a program does not offer is not a
run: the rules below say which and why.
"""
import concurrent.futures
import functools
import itertools
import os
import pathlib
import re
import shutil
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from figures import RESULT, undisturbed  # noqa: E402
from two_programs import Here, run_pair  # noqa: E402

LIMIT = 1000  # seconds for each process: perftest fills half a gigabyte for some
TRANSPORTS = {
    "send": ["RC", "UC", "UD", "XRC"],
    "write": ["RC", "UC", "XRC"],
    "read": ["RC", "XRC"],
    "atomic": ["RC", "XRC"],
}
SIZES_OF_ALL = 23  # 2 to 2^23


def modes(operation, figure, transport, path_mtu):
    """The arguments of each run of one program over one transport, with how many results it prints."""
    waits = [[], ["-e"]] if operation != "write" else [[]]  # a write has no receiver to wake
    inlines = [[]]
    if operation in ("send", "write"):  # what is read or swapped is not the initiator's
        inlines = [["-I", "0"], ["-I", "64"]]
    queues = [[]]
    directions = [[]]
    if figure == "bw":
        queues = [["-q", "1"], ["-q", "8"]]
        directions = [[], ["-b"]]
    if operation == "send" and transport in ("RC", "UD"):  # XRC has shared queues anyway
        queues = queues + [["--use-srq"]]
    sizes = [(["-s", "64"], 1), (["-a"], SIZES_OF_ALL)]
    if transport == "UD":
        sizes[1] = (["-a"], path_mtu.bit_length() - 1)  # 2 to the path MTU
    if operation == "atomic":  # eight bytes, always
        sizes = [([], 1)]
    for wait, inline, queue, direction, (size, results) in itertools.product(
            waits, inlines, queues, directions, sizes):
        if inline == ["-I", "64"] and size == ["-a"]:
            continue  # longer messages than the queue pair takes inline
        yield wait + inline + queue + direction + size, results


def runs(path_mtu=4096):
    for operation, transports in TRANSPORTS.items():
        for figure in ("bw", "lat"):
            for transport in transports:
                for arguments, results in modes(operation, figure, transport, path_mtu):
                    # Fewer receives than queue pairs share them out as none to each.
                    several = "40" if transport == "XRC" else "10"
                    count = ["-n", several] if "-a" in arguments else ["-n", "200"]
                    yield ([f"ib_{operation}_{figure}", "-d", "soft0", "-c", transport] + arguments +
                           count, results)


def posts_where_it_may_not(command):
    """Connected for datagrams that are answered, perftest posts a receive to the queue pair, which has
    none of its own beside a shared receive queue: EINVAL here, ENOMEM from libmlx5."""
    answered = command[0].endswith("_lat") or "-b" in command
    return "UD" in command and "--use-srq" in command and answered


def connected_runs(path_mtu=4096):
    """perftest connects neither UC nor XRC by librdmacm, and says so."""
    for command, results in runs(path_mtu):
        if command[4] in ("RC", "UD") and not posts_where_it_may_not(command):
            yield [*command, "-R"], results


class Patient:
    """A place whose servers listen by librdmacm, which no table of sockets shows."""

    def __init__(self, place, seconds):
        self._place = place
        self._seconds = seconds
        self.address = "127.10.0.1" if isinstance(place, Here) else place.address
        self.free_port, self.start = place.free_port, place.start

    def wait_until_listens(self, _, server):
        end = time.monotonic() + self._seconds
        while time.monotonic() < end:
            if server.poll() is not None:
                return f"the server ended with {server.returncode}: {server.stdout.read()}"
            time.sleep(0.05)
        return None


def run_connected(place, gdr, command, results):
    """Both sides agree by one connection to make the next; then the client asks for it while the server
    begins to listen. Nothing in perftest keeps the client from being first, and it gives up then: on
    a busy machine, again and again."""
    for seconds in (0.7, 0.7, 2, 2, 5, 5):
        seen = run_undisturbed(Patient(place, seconds), gdr, command, results)
        if seen is None:
            break
    return seen


def run(place, gdr, command, results):
    """None when it passes, else what was seen."""
    wrong, said = run_pair(place, [gdr, "run", "--soft-nic", "--no-soft-gpu", "--", *command], LIMIT)
    if wrong is not None:
        return wrong
    found = len(RESULT.findall(said))
    return None if found == results else f"{found} lines of results, not {results}:\n{said}"


def run_undisturbed(place, gdr, command, results):
    return undisturbed(lambda: run(place, gdr, command, results))


def main():
    words = [word for word in sys.argv[1:] if word != "--connected"]
    connected = len(words) < len(sys.argv) - 1
    gdr = os.path.abspath(words[0])
    pattern = re.compile(words[1] if len(words) > 1 else "")
    if not shutil.which("ib_send_bw"):
        print("skipped: perftest is not installed (Debian: perftest)")
        return 77
    offered = connected_runs() if connected else runs()
    attempt = functools.partial(run_connected if connected else run_undisturbed, Here(), gdr)
    chosen = [one for one in offered if pattern.search(" ".join(one[0]))]
    if not chosen:
        print(f"no run's name matches '{pattern.pattern}'")
        return 2
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max(1, (os.cpu_count() or 2) // 2)) as pool:
        ends = pool.map(lambda one: (one[0], attempt(*one)), chosen)
        for command, seen in ends:
            if seen is not None:
                failed += 1
                print(f"FAILED: {' '.join(command)}\n{seen}\n", flush=True)
    print(f"{len(chosen) - failed} of {len(chosen)} runs passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

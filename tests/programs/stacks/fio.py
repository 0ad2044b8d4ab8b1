#!/usr/bin/env python3
"""fio.py GDR: fio's RDMA engine over the software NIC: RDMA writes, RDMA reads, and messages whose
contents fio verifies as it receives them; between two processes of one host, then between two hosts."""
import os
import pathlib
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import Here, stop  # noqa: E402

LIMIT = 200  # seconds
WHOLE = "io=4096KiB"
JOB = ["fio", "--ioengine=rdma", "--thread", "--bs=64k", "--size=4m"]
# What a job is: the client's verb, what only the receiver has, what only the sender has. fio asks for
# no RNR retries, so the receiver has a receive for each message.
JOBS = {
    "writes": ("write", ["--iodepth=16"], ["--iodepth=16"]),
    "reads": ("read", ["--iodepth=16"], ["--iodepth=16"]),
    "messages": ("send", ["--iodepth=64", "--verify=crc32c"],
                 ["--iodepth=1", "--verify=crc32c", "--do_verify=0",
                  "--verify_state_save=0"]),
}


class HereByName(Here):
    """librdmacm resolves it to a device, and not to any."""

    address = "127.10.0.1"


def attempt(place, gdr, job, patience):
    """None, or what was wrong. Who listens by librdmacm shows in no table: the client is patient."""
    verb, receiver, sender = JOBS[job]
    words = [gdr, "run", "--soft-nic", "--no-soft-gpu", "--", *JOB, f"--port={place.free_port()}"]
    server = place.start(0, [*words, "--name=receiver", "--rw=read", *receiver])
    client = None
    try:
        try:
            server.wait(timeout=patience)
            return f"the receiver ended with {server.returncode}: {server.stdout.read()}"
        except subprocess.TimeoutExpired:
            pass
        client = place.start(1, [*words, "--name=sender", "--rw=write", f"--verb={verb}",
                                 f"--hostname={place.address}", *sender])
        said = client.communicate(timeout=LIMIT)[0]
        heard = server.communicate(timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        return f"no end within {LIMIT} seconds"
    finally:
        stop(server)
        if client is not None:
            stop(client)
    # The receiver's fio knows nothing of one-sided transfers.
    whole = WHOLE in said and (WHOLE in heard or job != "messages")
    if client.returncode != 0 or server.returncode != 0 or not whole:
        return f"exit {client.returncode} and {server.returncode}:\n{said}\n--- receiver\n{heard}"
    return None


def run(place, gdr, job):
    for patience in (1, 2, 4):
        wrong = attempt(place, gdr, job, patience)
        if wrong is None:
            break
    return wrong


def main():
    gdr = os.path.abspath(sys.argv[1])
    if not shutil.which("fio"):
        raise Skip("fio is not installed (Debian: fio)")
    engines = subprocess.run(["fio", "--enghelp"], capture_output=True, text=True, check=False)
    if "rdma" not in engines.stdout.split():
        raise Skip("this fio has no RDMA engine")
    become_root()
    with Hosts(mtu=4200) as hosts:
        for job in JOBS:
            for place in (HereByName(), hosts):
                where = "between hosts" if place is hosts else "on one host"
                wrong = run(place, gdr, job)
                if wrong is None and place is hosts and not all(
                        side["packets_sent"] for side in hosts.take_counters(gdr)):
                    wrong = "no packets have left"
                if wrong is not None:
                    print(f"FAILED: {job} {where}\n{wrong}")
                    return 1
    print("fio: writes, reads and verified messages, on one host and between two")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

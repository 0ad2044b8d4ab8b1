#!/usr/bin/env python3
"""chosen.py GDR: what UCX chooses by itself (UCX_TLS unset), and what `gdr run` says of it.

Within a host: shared memory, and the closing line says so and why. Between two hosts, where the
software NIC and an Ethernet interface join them: the software NIC, and the line counts its bytes. With
UCX_TLS=tcp: the line says that UCX chose another transport."""
import os
import re
import shutil
import sys
import pathlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import Here, run_server_and_client  # noqa: E402

LIMIT = 1000
# A host has these for itself, and UCX takes two processes in different ones to be on two hosts.
ON_ITS_OWN = ["unshare", "--ipc", "--pid", "--fork", "--mount-proc"]
SHARED_MEMORY = re.compile(r"^gdr run: .*UCX (chose shared memory|used shared memory as well), since "
                           r"the other process is on this host \(UCX_TLS=rc chooses the software", re.MULTILINE)
BYTES = re.compile(r"^gdr run: software NIC: opened soft0, \d+ queue pairs?, [\d.]+ [KMG]iB; "
                   r"loaded libibverbs, .*UCX.*$",
                   re.MULTILINE)
ANOTHER = re.compile(r"^gdr run: .*UCX (chose another transport|was loaded without its InfiniBand part)",
                     re.MULTILINE)


def run(place, gdr, settings, before, arguments):
    command = ["env", "-u", "UCX_TLS", "UCX_WARN_UNUSED_ENV_VARS=n", *settings, *before, gdr, "run",
               "--soft-nic", "--no-soft-gpu", "--", "ucx_perftest", *arguments]
    return run_server_and_client(place, command, command, LIMIT)


def attempt(name, place, gdr, settings, before, arguments, wanted, unwanted=None):
    wrong, said, heard = run(place, gdr, settings, before, arguments)
    for words in (said, heard):
        if wrong is None and not wanted.search(words):
            wrong = f"nothing that matches '{wanted.pattern}':\n{words}"
        if wrong is None and unwanted and unwanted.search(words):
            wrong = f"what matches '{unwanted.pattern}':\n{words}"
    print(f"ok  {name}" if wrong is None else f"FAILED: {name}\n{wrong}", flush=True)
    return wrong is None


def main():
    gdr = os.path.abspath(sys.argv[1])
    if not shutil.which("ucx_perftest"):
        raise Skip("no ucx_perftest (Debian: ucx-utils)")
    # Long enough that `gdr run` looks at the processes meanwhile.
    short = ["-t", "tag_lat", "-s", "8", "-n", "200000"]
    fine = attempt("within a host", Here(), gdr, [], [], short, SHARED_MEMORY)
    fine &= attempt("TCP by wish", Here(), gdr, ["UCX_TLS=tcp"], [], ["-t", "tag_lat", "-n", "10000"],
                    ANOTHER, SHARED_MEMORY)
    become_root()
    with Hosts(mtu=4200) as hosts:
        fine &= attempt("between hosts", hosts, gdr, [], ON_ITS_OWN,
                        ["-t", "tag_bw", "-s", "65536", "-n", "500"], BYTES)
    return 0 if fine else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

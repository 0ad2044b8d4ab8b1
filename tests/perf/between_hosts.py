"""between_hosts.py GDR: client and server in two network namespaces: packets carry what is measured, and --check looks at every byte of it."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import QUICK, Perf, main, require, title  # noqa: E402
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

PERF = Perf(sys.argv[1])
PORT = 18600
CASES = (("rc", "write,send,read,write-imm", "1,5000"), ("uc", "write,send", "1,5000"),
         ("ud", "send", "1,1000"), ("xrc", "write,read", "1,5000"), ("rc", "fetch-add", "8"))


# These lose messages where a socket is full: so there are few under way; and on a busy machine all
# the same: then once more.
UNRELIABLE = ("uc", "ud")


def measured(hosts, transport, operations, sizes):
    command = PERF.command("--memory", "host")
    few = ("--depth", "16") if transport in UNRELIABLE else ()
    server = hosts.start(0, PERF.command("--server", "--listen", "any"))
    client = None
    try:
        wrong = hosts.wait_until_listens(PORT, server)
        require(wrong is None, wrong)
        client = hosts.start(1, [*command, hosts.address, *QUICK, "--check", "--transport",
                                 transport, "--operation", operations, "--sizes", sizes, *few,
                                 "--measure", "bandwidth,latency", "--json"])
        said = client.communicate(timeout=600)[0]
        server.terminate()
        server.communicate(timeout=100)
    finally:
        stop(server, patience=1)
        if client is not None:
            stop(client)
    return client.returncode, said


def every_transport_by_packets():
    with Hosts(mtu=4200) as hosts:
        for transport, operations, sizes in CASES:
            for _ in range(4 if transport in UNRELIABLE else 1):
                status, said = measured(hosts, transport, operations, sizes)
                there, here = hosts.take_counters(PERF.gdr)
                rows = json.loads(said)["rows"] if status == 0 else []
                if rows and not any(row["lost"] for row in rows):
                    break
            require(status == 0, status, said)
            bytes_moved = 0
            for row in rows:
                found = row["checked"]
                require(not row.get("problem") and found["wrong"] == 0, title(row), row)
                require(found["messages"] > 0, title(row), found)
                bytes_moved += found["bytes"]
            for counters in (there, here):
                for name in ("packets_sent", "packets_received"):
                    require(counters[name] >= 32, transport, name, counters)
            require(here["packets_sent"] * 4200 >= bytes_moved / 4, transport, bytes_moved, here)


if __name__ == "__main__":
    try:
        become_root()
        sys.exit(main([every_transport_by_packets]))
    except Skip as missing:
        print(f"skipped: {missing}")
        sys.exit(77)

#!/usr/bin/env python3
"""qperf.py GDR [all]: qperf's RDMA tests over the software NIC: between two processes of one host, with
queue pairs connected by qperf itself and by librdmacm; then between two hosts, by librdmacm. Without
"all" some of each kind.

Not run: datagrams, and between hosts what qperf connects itself. It knows no GID, and RoCE has no
address without one (ibv_create_ah is EINVAL, as on a RoCE NIC)."""
import os
import pathlib
import re
import shutil
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import Here, stop  # noqa: E402

LIMIT = 600  # seconds for the tests of one place
RELIABLE = ["rc_bw", "rc_bi_bw", "rc_lat", "rc_rdma_read_bw", "rc_rdma_read_lat",
            "rc_rdma_write_bw", "rc_rdma_write_lat", "rc_rdma_write_poll_lat",
            "rc_compare_swap_mr", "rc_fetch_add_mr", "ver_rc_compare_swap", "ver_rc_fetch_add"]
UNRELIABLE = ["uc_bw", "uc_bi_bw", "uc_lat", "uc_rdma_write_bw", "uc_rdma_write_lat",
              "uc_rdma_write_poll_lat"]
SOME = ["rc_bw", "rc_lat", "rc_rdma_read_lat", "rc_rdma_write_poll_lat", "ver_rc_fetch_add",
        "uc_lat"]
FIGURE = re.compile(r"^ +(?:\S+ )?(?:bw|send_bw|recv_bw|latency|msg_rate) += +([0-9.]+)",
                    re.MULTILINE)
# qperf before 2018-11 (118a571) tells its port before it listens there.
CAME_TOO_EARLY = "Event rejected"


def attempt(place, gdr, test, connection_manager):
    """None, or what was wrong."""
    port = place.free_port()
    words = [gdr, "run", "--quiet", "--soft-nic", "--no-soft-gpu", "--", "qperf", "-lp", str(port)]
    server = place.start(0, words)
    client = None
    try:
        wrong = place.wait_until_listens(port, server)
        if wrong is not None:
            return wrong
        client = place.start(1, [*words, place.address, "-t", "1", "-cm", connection_manager, test])
        said = client.communicate(timeout=LIMIT)[0]
    except Exception as error:  # pylint: disable=broad-except  # a time limit, mostly
        return str(error)
    finally:
        stop(server)
        if client is not None:
            stop(client)
    figures = [float(figure) for figure in FIGURE.findall(said)]
    if client.returncode != 0 or not figures or min(figures) <= 0:
        return f"exit {client.returncode}:\n{said}"
    return None


def run(place, gdr, test, connection_manager):
    for _ in range(4):
        wrong = attempt(place, gdr, test, connection_manager)
        if wrong is None or CAME_TOO_EARLY not in wrong:
            break
    return wrong


class HereByName(Here):
    """librdmacm resolves it to a device, and not to any."""

    address = "127.10.0.1"


def runs(chosen, hosts):
    here = HereByName()
    for test in chosen:
        yield "on one host", here, test, "0"
    for test in chosen:
        if test not in UNRELIABLE:  # qperf itself connects those
            yield "on one host by librdmacm", here, test, "1"
            yield "between hosts by librdmacm", hosts, test, "1"


def main():
    gdr = os.path.abspath(sys.argv[1])
    if not shutil.which("qperf"):
        raise Skip("qperf is not installed (Debian: qperf)")
    become_root()
    chosen = RELIABLE + UNRELIABLE if sys.argv[2:] == ["all"] else SOME
    count = failed = 0
    with Hosts(mtu=4200) as hosts:
        for where, place, test, connection_manager in runs(chosen, hosts):
            count += 1
            wrong = run(place, gdr, test, connection_manager)
            if wrong is None and place is hosts and not all(
                    side["packets_sent"] for side in hosts.take_counters(gdr)):
                wrong = "no packets have left"
            if wrong is not None:
                failed += 1
                print(f"FAILED: {test} {where}\n{wrong}\n", flush=True)
    print(f"{count - failed} of {count} runs passed")
    return 1 if failed else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

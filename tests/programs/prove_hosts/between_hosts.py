"""between_hosts.py GDR: the proof between two network namespaces: packets carry it, lost ones change nothing, and addresses that no other host reaches are named with what to type."""
import json
import os
import sys

from proofs import FEW, main, require

from two_hosts import Hosts, Skip, become_root
from two_programs import stop

GDR = sys.argv[1]
PORT = 18601


def proved(hosts, *options, default_devices=False):
    server = hosts.start(0, [GDR, "prove", "--server", "--soft", "--listen", "any"],
                         default_devices=default_devices)
    client = None
    try:
        wrong = hosts.wait_until_listens(PORT, server)
        require(wrong is None, wrong)
        client = hosts.start(1, [GDR, "prove", hosts.address, "--soft", *options],
                             default_devices=default_devices)
        said = client.communicate(timeout=1200)[0]
        server.terminate()
        served = server.communicate(timeout=100)[0]
        require(server.returncode == 0, served)
    finally:
        stop(server, patience=1)
        if client is not None:
            stop(client)
    return client.returncode, said


def packets_carry_the_proof():
    with Hosts(mtu=4200) as hosts:
        status, said = proved(hosts, "--json", "--sizes", "1,4097,1M+13")
        require(said.startswith("{"), status, said)
        report = json.loads(said)
        # Raw frames of the software NIC stay within a host.
        require(status == 3 and report["partial"], status, report["seen"])
        wrong = [check for check in report["checks"]
                 if check["status"] != ("not proved" if check["mode"] == "raw" else "proved")]
        require(not wrong and len(report["not_proved"]) == 1, wrong, report["not_proved"])
        moved = sum(check["bytes"] for check in report["checks"] if check["mode"] != "raw")
        require(report["verdict"] == "SIMULATION PASSED", report["seen"])
        require(len(report["measurements"]) == 4, report["measurements"])
        require(all(one["direct_ns"] for one in report["measurements"]), report["measurements"])
        there, here = hosts.take_counters(GDR)
        for counters in (there, here):
            require(counters["packets_sent"] * 4200 >= moved / 4, moved, counters)


def lost_packets_change_nothing():
    os.environ["GDR_SOFT_FAULTS"] = "loss=0.01,reorder=0.02,duplicate=0.01,seed=7"
    try:
        with Hosts(mtu=4200) as hosts:
            status, said = proved(hosts, *FEW, "--modes", "send,write,read,atomic")
    finally:
        del os.environ["GDR_SOFT_FAULTS"]
    require(status == 0 and "SIMULATION PASSED" in said, status, said)


def loopback_addresses_are_named():
    with Hosts() as hosts:
        status, said = proved(hosts, *FEW, default_devices=True)
        require(status == 1 and "\nFAILED" in said, status, said)
        said = " ".join(said.split())
        require("has the loopback address 127.10.0." in said, said)
        require("export GDR_SOFT_DEVICES=soft1/ip=ADDRESS" in said, said)


def a_link_that_is_down_is_named():
    with Hosts() as hosts:
        server = hosts.start(0, [GDR, "prove", "--server", "--soft", "--listen", "any"])
        try:
            require(hosts.wait_until_listens(PORT, server) is None, "no server")
            hosts.take_link_down(0)
            client = hosts.start(1, [GDR, "prove", hosts.address, "--soft", *FEW])
            said = client.communicate(timeout=600)[0]
            require(client.returncode == 1 and f"no server at {hosts.address}" in said, said)
        finally:
            stop(server, patience=1)


if __name__ == "__main__":
    try:
        become_root()
        os.environ.pop("GDR_SOFT_DEVICES", None)
        sys.exit(main([packets_carry_the_proof, lost_packets_change_nothing,
                       loopback_addresses_are_named, a_link_that_is_down_is_named]))
    except Skip as missing:
        print(f"skipped: {missing}")
        sys.exit(77)

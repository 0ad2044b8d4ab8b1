#!/usr/bin/env python3
"""fi_info.py GDR: which endpoints libfabric's verbs provider offers on the software NIC, as `fi_info`
lists them: with the devices that a user has by default, and with one behind an interface. Where no
interface but loopback is up, libfabric finds no messages endpoint, and `gdr run` says why."""
import os
import pathlib
import re
import shutil
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

LIMIT = 300  # seconds
ENTRY = re.compile(r"^provider: (\S+)\n    fabric: .*\n    domain: (\S+)\n.*\n    type: (\S+)$",
                   re.MULTILINE)
EXPECTED = {("verbs", "soft0", "FI_EP_MSG"), ("verbs", "soft0-dgram", "FI_EP_DGRAM"),
            ("verbs;ofi_rxm", "soft0", "FI_EP_RDM"), ("verbs;ofi_rxd", "soft0-dgram", "FI_EP_RDM")}
NO_INTERFACE = "libfabric looks for it behind network interfaces other than loopback"


def run(hosts, command, default_devices):
    process = hosts.start(0, command, default_devices)
    try:
        return process.communicate(timeout=LIMIT)[0]
    finally:
        stop(process)


def main():
    gdr = [os.path.abspath(sys.argv[1]), "run", "--soft-nic", "--no-soft-gpu", "--"]
    if not shutil.which("fi_info"):
        raise Skip("fi_info is not installed (Debian: libfabric-bin)")
    become_root()
    wrong = []
    with Hosts(mtu=4200) as hosts:
        for default in (True, False):
            devices = "the default devices" if default else "a device behind an interface"
            said = run(hosts, [*gdr, "fi_info", "-p", "verbs"], default)
            missing = EXPECTED - set(ENTRY.findall(said))
            if missing:
                wrong.append(f"with {devices} fi_info does not list {sorted(missing)}:\n{said}")
            # The device's addresses: by IP, as programs name them.
            said = run(hosts, [*gdr, "fi_info", "-p", "verbs", "-v", "-t", "FI_EP_MSG"], default)
            if f"src_addr: fi_sockaddr_in://{hosts.address}:0" not in said:
                wrong.append(f"with {devices} no endpoint has the address of this host:\n{said}")
        hosts.take_link_down(0)
        said = run(hosts, [*gdr, "fi_info", "-p", "verbs"], True)
        if NO_INTERFACE not in said:
            wrong.append(f"without an interface gdr run does not say what is missing:\n{said}")
    if wrong:
        print("FAILED: " + "\nFAILED: ".join(wrong))
        return 1
    print("fi_info lists messages, datagram and reliable datagram endpoints")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

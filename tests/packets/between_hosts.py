#!/usr/bin/env python3
"""between_hosts.py GDR BAD_WIRE PROGRAMS LINK [PATTERN]: programs that nobody here wrote, between two
hosts: network namespaces with a link between them.

PROGRAMS  ping_pong, with contents compared; perftest: each program once over each transport;
          perftest_all: in every mode that it offers (tests/programs/perftest); perftest_connected,
          perftest_all_connected: the same by librdmacm (-R)
LINK      1500 or 4200: that MTU, by veth; ipv6; faults: packets are lost, repeated, reordered,
          damaged, delayed and marked by tests/packets/bad_wire; netem: by the kernel's tc-netem
PATTERN   a regular expression: only runs whose command matches

Passes when every program does, packets have moved with each, and where the link is bad some had to be
sent again. There only reliable transports run."""
import os
import pathlib
import re
import shutil
import sys

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "support"), str(TESTS / "programs" / "perftest")]
import matrix  # noqa: E402
from two_hosts import Hosts, Skip, become_root, path_mtu_of  # noqa: E402
from two_programs import run_pair  # noqa: E402

FAULTS = "loss=0.01,duplicate=0.01,reorder=0.02,corrupt=0.005,delay=50us,mark=0.01"
NETEM = "delay 100us reorder 5% 25% loss 1% duplicate 1%"
LIMIT = 600  # seconds for each process

LINKS = {
    "1500": {"mtu": 1500},
    "4200": {"mtu": 4200},
    "ipv6": {"mtu": 4200, "ipv6": True},
    "faults": {"mtu": 1500, "faults": FAULTS},
    "netem": {"mtu": 1500, "netem": NETEM},
}
BAD_LINKS = ("faults", "netem")

# -c: what arrives is compared (xsrq: the number of clients; it always compares), -e: events.
PING_PONGS = ["ibv_rc_pingpong -c", "ibv_rc_pingpong -c -e", "ibv_srq_pingpong -c",
              "ibv_srq_pingpong -c -e", "ibv_xsrq_pingpong -c 1", "ibv_uc_pingpong -c",
              "ibv_uc_pingpong -c -e", "ibv_ud_pingpong -c", "ibv_ud_pingpong -c -e"]
# The link-local address and each further one, as RoCE v1 and v2; programs mostly take 3.
OTHER_GIDS = ("0", "1", "2", "4", "5")
COMPLAINT = re.compile("invalid data|failed|error", re.IGNORECASE)
DONE = re.compile(r"iters in|^success", re.MULTILINE)


def is_reliable(command):
    if command[0].endswith("pingpong"):
        return command[0][4:6] not in ("uc", "ud")
    return command[command.index("-c") + 1] not in ("UC", "UD")


# Whoever has all its completions ends, and with it its queue pair. If its last acknowledge is lost
# the other one asks in vain, on any network.
LAST_ACKNOWLEDGE_LOST = re.compile(r"exit (0 and 1|1 and 0):.*transport retry counter exceeded",
                                   re.DOTALL)


def run_lossy_ping_pong(hosts, gdr, command):
    for _ in range(4):
        wrong = run_ping_pong(hosts, gdr, command)
        if wrong is None or not LAST_ACKNOWLEDGE_LOST.match(wrong):
            break
    return wrong


def run_ping_pong(hosts, gdr, command):
    wrong, said = run_pair(hosts, [gdr, "run", "--soft-nic", "--no-soft-gpu", "--", *command], LIMIT)
    if wrong is None and (COMPLAINT.search(said) or not DONE.search(said)):
        wrong = said
    return wrong


def ping_pongs(reliable):
    runs = [words + " -g 3" for words in PING_PONGS]
    runs += [f"ibv_{transport}_pingpong -c -g {gid}" for transport in ("rc", "ud")
             for gid in OTHER_GIDS]
    for words in runs:
        command = words.split() + (["-n", "300"] if reliable else [])
        if reliable and not is_reliable(command):
            continue
        run = run_lossy_ping_pong if reliable else run_ping_pong
        yield command, lambda hosts, gdr, command=command, run=run: run(hosts, gdr, command)


def overruns(command):
    """An unreliable connection sends as fast as it can, and perftest waits for every message: with
    messages of megabytes it waits for what the receiving socket had no room for."""
    return "UC" in command and command[0].startswith("ib_send") and "-a" in command


def counts_events(command):
    """It has room for one message and takes one event for one completion. Where an acknowledge is lost
    the answer comes first, on any network: then it sends once too often, and gives up."""
    return command[0] == "ib_send_lat" and "-e" in command


def perftests(reliable, every_mode, path_mtu, connected):
    seen = set()
    attempt = matrix.run_connected if connected else matrix.run_undisturbed
    for command, results in (matrix.connected_runs if connected else matrix.runs)(path_mtu):
        if overruns(command):
            continue
        if reliable and (not is_reliable(command) or counts_events(command)):
            continue
        if not every_mode:  # program, device and transport
            command, results = [*command[:5], "-n", "50" if reliable else "200"], 1
            command += ["-R"] if connected else []
        if " ".join(command) in seen:
            continue
        seen.add(" ".join(command))
        yield command, (lambda hosts, gdr, command=command, results=results:
                        attempt(hosts, gdr, command, results))


def not_moved(command, counters):
    """None, or which side's counters stand still. An unreliable server need not answer."""
    for name, side in zip(("server", "client"), counters):
        if not side["packets_received"] and not (name == "client" and not is_reliable(command)):
            return f"no packet has reached the {name}"
        if not side["packets_sent"] and not (name == "server" and not is_reliable(command)):
            return f"no packet has left the {name}"
    return None


def run_all(hosts, gdr, runs):
    """How many failed; and how many packets were sent again."""
    failed = again = 0
    for command, run in runs:
        wrong = run(hosts, gdr)
        counters = hosts.take_counters(gdr)
        if wrong is None:
            wrong = not_moved(command, counters)
        again += sum(side["retransmitted_packet"] for side in counters)
        if wrong is not None:
            failed += 1
            moved = {name: [side[name] for side in counters] for name in counters[0]
                     if any(side[name] for side in counters)}
            print(f"FAILED: {' '.join(command)}\n{wrong}\ncounters of both sides: {moved}\n",
                  flush=True)
    return failed, again


def main():
    gdr, bad_wire = (os.path.abspath(path) for path in sys.argv[1:3])
    programs, link = sys.argv[3:5]
    pattern = re.compile(sys.argv[5] if len(sys.argv) > 5 else "")
    needed = "ibv_rc_pingpong" if programs == "ping_pong" else "ib_send_bw"
    if not shutil.which(needed):
        raise Skip(f"{needed} is not installed (Debian: ibverbs-utils, perftest)")
    become_root()
    reliable = link in BAD_LINKS
    if reliable:
        matrix.LIMIT = 1200  # seconds: eight queue pairs move 5 GB through what spoils every 20th packet
    runs = (ping_pongs(reliable) if programs == "ping_pong"
            else perftests(reliable, programs.startswith("perftest_all"),
                           path_mtu_of(LINKS[link]["mtu"]),
                           programs.endswith("_connected")))
    chosen = [run for run in runs if pattern.search(" ".join(run[0]))]
    with Hosts(bad_wire=bad_wire, **LINKS[link]) as hosts:
        failed, again = run_all(hosts, gdr, chosen)
    print(f"{len(chosen) - failed} of {len(chosen)} runs passed; {again} packets were sent again")
    if reliable and again == 0 and not failed:
        print("FAILED: none of them, over a link that loses some")
        return 1
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

#!/usr/bin/env python3
"""interop.py BUILD [--all] [--control] [--only TEXT] [--traces FOLDER]: programs that nobody here wrote, and
byte_check, between the software NIC on this host and the kernel's rxe in a guest, over a tap device in
a network namespace of the test's own; each side as client and as server, undisturbed and while
packets are lost. rxe's own counters must move with each.
A pair is run again where its failure is none of the NICs' doing, or plainly rxe's: see pair.py.

--all adds a second MTU, and packets that are repeated, reordered and damaged.
--control runs both ends on rxe, in the guest: what fails there is none of the software NIC's doing.
--only leaves out what does not have TEXT in its line; --traces keeps the packets of the software NIC."""
import argparse
import os
import pathlib
import re
import subprocess
import time

import ends
import lab
import pair

HOST, GUEST = "10.99.0.1", "10.99.0.2"
PING_PONG = re.compile(r"\d+ iters in")
LIMIT = 60  # seconds for a pair; two are usual
FIGURES = re.compile(r"^ +\d+ +\d+ +[\d.]+", re.MULTILINE)
EVERY_BYTE = re.compile("every byte right")


def ping_pong(transport, iterations, size):
    # -c: every byte that arrives is compared.
    return (f"ibv_{transport}_pingpong -c -n {iterations} -s {size}", "-g", PING_PONG)


def perftest(operation, iterations, options="-s 65536"):
    # -u: a timeout of 0.27 s, since an emulated guest may stand still for a while.
    return (f"ib_{operation}_bw -F -u 16 -n {iterations} {options}".rstrip(), "-x", FIGURES)


def byte_check(options=""):
    return (f"byte_check {options}".rstrip(), "-g", EVERY_BYTE)


def reliable(iterations):
    """What may lose packets and must not show it."""
    return [ping_pong("rc", iterations, 4096), perftest("write", iterations),
            perftest("read", iterations), perftest("send", iterations),
            perftest("atomic", iterations, "-A FETCH_AND_ADD"),
            perftest("atomic", iterations, "-A CMP_AND_SWAP")]


EVERYTHING = [*reliable(200), ping_pong("uc", 200, 4096), ping_pong("ud", 200, 1024),
              perftest("send", 200, "-c UD -s 1024"), byte_check()]
AT_ONCE = [perftest("write", 50), byte_check("-r")]

# MTU of the link, what tc-netem does to both directions, programs.
PHASES = [
    (4200, "", EVERYTHING),
    (4200, "loss 1%", [perftest("write", 50), byte_check("-l")]),
]
ALL_PHASES = [
    (4200, "", EVERYTHING),
    (1500, "", [ping_pong("rc", 200, 4096), ping_pong("ud", 200, 1024), perftest("write", 200),
                perftest("read", 200), byte_check()]),
    (1500, "loss 1%", [perftest("write", 50), byte_check("-l")]),
    (4200, "loss 1%", [*reliable(50), byte_check("-l")]),
    (4200, "duplicate 5%", AT_ONCE),
    (4200, "delay 1ms reorder 1%", AT_ONCE),
    (4200, "corrupt 1%", AT_ONCE),
]


class Lab:
    """The guest, the two ends, and the link between them."""

    def __init__(self, guest, client, server, link, host_link):
        self.guest = guest
        self.ends = (client, server)
        self.link = link
        self._host_link = host_link

    def set_mtu(self, mtu):
        for link in self.link.split():
            self.guest.check(f"ip link set {link} mtu {mtu}")
        if self._host_link:
            subprocess.run(["ip", "link", "set", self._host_link, "mtu", str(mtu)], check=True)

    def disturb(self, how):
        self.guest.check(f"/lab/disturb.sh {self.link.split()[0]} {how}")

    def stop_disturbing(self):
        """How many packets were dropped meanwhile."""
        return int(self.guest.check(f"/lab/disturb.sh {self.link.split()[0]}"))

    def counters(self):
        """Of every end that is an rxe."""
        counters = [end.counters() for end in self.ends if hasattr(end, "counters")]
        return {name: sum(each[name] for each in counters) for name in ("sent", "received")}


def arguments(end, command, gid_option, port):
    words = command.split()
    return [words[0], "-d", end.device, gid_option, end.gid, "-p", str(port), *words[1:]]


def run_pair(server, client, command, gid_option, port, seconds):
    """What became of them; or a Pair with only `wrong` set."""
    serving = server.start(arguments(server, command, gid_option, port), seconds)
    why_not = server.wait_until_listens(port, serving)
    if why_not:
        serving.wait(0)
        return pair.Pair(wrong=why_not)
    calling = client.start([*arguments(client, command, gid_option, port), server.address], seconds)
    return pair.wait_for_both(pair.Side(client, calling), pair.Side(server, serving), seconds)


def run_one(world, client, server, line, program, port):
    """True when all was well. One line either way, and the programs' own words when not."""
    command, gid_option, expected = program
    before = world.counters()
    start = time.monotonic()
    excuses = []
    while True:
        ran = run_pair(server, client, command, gid_option, port, LIMIT)
        excuse = pair.excuse(ran, may_leave_early="loss" in line and "pingpong" in line)
        if not excuse or len(excuses) == 3:
            break
        excuses.append(excuse)
    wrong, printed = ran.wrong, ran.printed
    seconds = time.monotonic() - start
    after = world.counters()
    moved = {name: after[name] - before[name] for name in before}
    if not wrong and not expected.search(printed):
        wrong = f"nothing printed matches '{expected.pattern}'"
    enough = any if "-c UD" in command else all  # nobody answers these
    if not wrong and not enough(moved.values()):
        wrong = f"rxe's own counters did not move: {moved}"
    print(f"{'FAILED' if wrong else 'ok'}  {line}  rxe sent {moved['sent']}, "
          f"received {moved['received']}  {seconds:.1f} s" +
          "".join(f"  (repeated: {excuse})" for excuse in excuses))
    if wrong:
        print(f"    {wrong}\n{printed}")
    return not wrong


def run_phase(world, phase, only, first_port):
    """How many programs ran, and how many of them not as they should."""
    mtu, disturbance, programs = phase
    pairs = (world.ends, world.ends[::-1])
    chosen = []
    for program in programs:
        for client, server in pairs:
            line = (f"MTU {mtu}, {disturbance or 'undisturbed'}: {client.name} -> {server.name}  "
                    f"{program[0]}")
            if only in line:
                chosen.append((client, server, line, program))
    if not chosen:
        return 0, 0
    world.set_mtu(mtu)
    if disturbance:
        world.disturb(disturbance)
    failures = sum(not run_one(world, *one, first_port + i) for i, one in enumerate(chosen))
    if disturbance:
        dropped = world.stop_disturbing()
        if "loss" in disturbance:
            print(f"    {dropped} packets were dropped")
            failures += dropped == 0
    return len(chosen), failures


def run_phases(world, phases, only):
    count = failures = 0
    for phase in phases:
        ran, failed = run_phase(world, phase, only, 18600 + count)
        count += ran
        failures += failed
    complaints = world.guest.complaints()
    if complaints:
        raise lab.Failure(f"the guest's kernel complains:\n{complaints}")
    if failures or not count:
        raise lab.Failure(f"{failures} of {count}")
    print(f"{count} of {count} right")


def phases_of(arguments):
    return ALL_PHASES if arguments.all or arguments.only else PHASES


def make_tap():
    """The host's end of the link, in the namespace that is ours."""
    if not os.path.exists("/dev/net/tun"):
        lab.skip("there is no /dev/net/tun")
    for command in ("ip link set lo up", "ip tuntap add dev tap0 mode tap",
                    f"ip address add {HOST}/24 dev tap0", "ip link set tap0 up mtu 4200"):
        done = subprocess.run(command.split(), capture_output=True, text=True, check=False)
        if done.returncode != 0:
            lab.skip(f"{command}: {done.stderr.strip()}")


def interop(arguments, folder):
    make_tap()
    if arguments.traces:
        arguments.traces.mkdir(parents=True, exist_ok=True)
    nic = ("-netdev", "tap,id=net,ifname=tap0,script=no,downscript=no",
           "-device", "virtio-net-pci,netdev=net")
    with lab.Guest(folder, nic) as guest:
        guest.check(f"/lab/tap_end.sh {GUEST}")
        host = ends.HostEnd(arguments.build / "bin" / "gdr", "gdrkit", "soft0", HOST, arguments.traces)
        rxe = ends.GuestEnd(guest, "rxe", "rxe0", GUEST)
        run_phases(Lab(guest, host, rxe, "eth0", "tap0"), phases_of(arguments), arguments.only)


def control(arguments, folder):
    with lab.Guest(folder, ("-nic", "none")) as guest:
        guest.check("/lab/veth_pair.sh")
        near = ends.GuestEnd(guest, "rxa", "rxa", "10.8.0.1")
        far = ends.GuestEnd(guest, "rxb", "rxb", "10.8.0.2")
        run_phases(Lab(guest, near, far, "w0 w1", None), phases_of(arguments), arguments.only)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--control", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--traces", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    checker = arguments.build / "tests" / "vm" / "byte_check"
    os.environ["PATH"] += f":{checker.parent}"
    if not os.environ.get("GDR_VM_PRIVATE"):
        lab.prepare(arguments.build, [checker])
    if not arguments.control:
        lab.enter_private_namespaces()
    folder = arguments.build / "vm"
    (control if arguments.control else interop)(arguments, folder)


if __name__ == "__main__":
    lab.run_to_the_end(main)

"""Two hosts on one machine: network namespaces with a link between them, for programs in pairs.

    become_root()                                        # or the test is skipped
    with Hosts(mtu=4200) as hosts:                       # joined by veth
        wrong, said = run_pair(hosts, [gdr, "run", "--", "ibv_rc_pingpong"], 60)
        server, client = hosts.take_counters(gdr)

    Hosts(mtu=1500, faults="loss=0.01", bad_wire=PATH)   # joined by tests/packets/bad_wire
    Hosts(mtu=1500, netem="loss 1% reorder 5% 25%")      # joined by veth, made worse by tc-netem

The namespaces have no names: they are gone with the last process in them, whatever ends this one.
"""
import ctypes
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile

from two_programs import start, stop, wait_until_listens

PR_SET_PDEATHSIG = 1


class Skip(Exception):
    """What is missing here, for a test that cannot run."""


def become_root():
    """Runs the script anew as root of a user namespace, unless it is root; else Skip."""
    for program in ("ip", "unshare", "nsenter"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed (Debian: iproute2, util-linux)")
    if os.geteuid() == 0:
        return
    apart = ["unshare", "--user", "--map-root-user"]
    tried = subprocess.run([*apart, "unshare", "--net", "true"], capture_output=True, text=True,
                           check=False)
    if tried.returncode != 0:
        raise Skip(f"no network namespaces for this user: {tried.stderr.strip()}")
    sys.stdout.flush()
    os.execvp(apart[0], [*apart, sys.executable, *sys.argv])


def _die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _start_helper(command):
    """A process that says one line when it is ready, and never outlives this one."""
    # pylint: disable=subprocess-popen-preexec-fn  # this program has one thread then
    helper = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              start_new_session=True, preexec_fn=_die_with_parent)
    said = helper.stdout.readline()
    if said != "ready\n":
        helper.kill()
        raise Skip(f"{command[0]}: {said.strip()}")
    return helper


def path_mtu_of(mtu):
    """The path MTU that a link of one of these tests carries."""
    return 4096 if mtu >= 4200 else 1024


class Hosts:
    """As two_programs.Here, and each side's devices have that host's address."""

    ADDRESSES = ("10.0.0.1", "10.0.0.2")
    ADDRESSES6 = ("fd00::1", "fd00::2")
    LINK_LOCAL = ("fe80::1", "fe80::2")
    PORT = 18515  # nobody else is there

    def __init__(self, mtu=1500, faults=None, bad_wire=None, netem=None, ipv6=False):
        self._device_addresses = self.ADDRESSES6 if ipv6 else self.ADDRESSES
        self.address = self.ADDRESSES[0]  # what programs tell each other beforehand goes by IPv4
        self._folder = tempfile.TemporaryDirectory()
        self._helpers = []
        try:
            for _ in range(2):
                self._helpers.append(_start_helper(
                    ["unshare", "--net", "sh", "-c", "echo ready; exec sleep infinity"]))
            if faults:
                link = "wire0"
                self._helpers.append(_start_helper(
                    [bad_wire, *(str(helper.pid) for helper in self._helpers), faults]))
            else:
                link = "host0"
                self._run(0, "ip", "link", "add", link, "type", "veth", "peer", "name", link,
                          "netns", str(self._helpers[1].pid))
            self._link = link
            for side in range(2):
                self._set_up(side, link, mtu)
                if netem:
                    self._run(side, "tc", "qdisc", "add", "dev", link, "root", "netem",
                              *netem.split())
        except BaseException:
            self.close()
            raise

    def _set_up(self, side, link, mtu):
        self._run(side, "ip", "link", "set", "lo", "up")
        # Without IPv6 in the kernel the rest goes on; with it, an address counts at once.
        has_ipv6 = os.path.exists("/proc/net/if_inet6")
        if has_ipv6:
            self._run(side, "ip", "link", "set", link, "addrgenmode", "none")
        # What is to be lost, the link loses, and not the queue in front of it.
        self._run(side, "ip", "link", "set", link, "mtu", str(mtu), "txqueuelen", "10000", "up")
        self._run(side, "ip", "address", "add", self.ADDRESSES[side] + "/24", "dev", link)
        for address in (self.ADDRESSES6[side], self.LINK_LOCAL[side]) if has_ipv6 else ():
            self._run(side, "ip", "address", "add", address + "/64", "dev", link, "nodad")

    def _run(self, side, *command):
        done = subprocess.run(self._inside(side, command), capture_output=True, text=True,
                              check=False)
        if done.returncode != 0:
            raise Skip(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")

    def _inside(self, side, command):
        return ["nsenter", f"--net=/proc/{self._helpers[side].pid}/ns/net", "--", *command]

    def free_port(self):
        return self.PORT

    def start(self, side, command, default_devices=False):
        """`default_devices`: the software NICs that a user gets who sets nothing."""
        environment = dict(os.environ, GDR_SOFT_COUNTERS=self._counters(side))
        environment.pop("GDR_SOFT_DEVICES", None)
        if not default_devices:
            environment["GDR_SOFT_DEVICES"] = f"soft0/ip={self._device_addresses[side]}"
        return start(self._inside(side, command), environment)

    def take_link_down(self, side):
        self._run(side, "ip", "link", "set", self._link, "down")

    def remote_shell(self):
        """A program that starts others on one of the hosts as ssh does: PROGRAM ADDRESS COMMAND..."""
        path = f"{self._folder.name}/remote_shell"
        lines = ["#!/bin/sh", "while :; do", "case $1 in"]
        for side in range(2):
            environment = (f"GDR_SOFT_DEVICES=soft0/ip={self._device_addresses[side]} "
                           f"GDR_SOFT_COUNTERS={self._counters(side)}")
            inside = " ".join(self._inside(side, ["env", *environment.split(), "sh", "-c"]))
            lines.append(f'{self.ADDRESSES[side]}) shift; exec {inside} "$*" ;;')
        lines += ["-*) shift ;;", '*) echo "no such host: $1" >&2; exit 255 ;;', "esac", "done"]
        with open(path, "w", encoding="ascii") as script:
            script.write("\n".join(lines) + "\n")
        os.chmod(path, 0o755)
        return path

    def wait_until_listens(self, port, server):
        return wait_until_listens(port, server)

    def _counters(self, side):
        return f"{self._folder.name}/counters{side}"

    def tcp_segments(self, side):
        """How many that host's kernel has sent."""
        return self._kernel_counter(side, "Tcp", "OutSegs")

    def udp_datagrams(self, side):
        return self._kernel_counter(side, "Udp", "OutDatagrams")

    def _kernel_counter(self, side, protocol, name):
        with open(f"/proc/{self._helpers[side].pid}/net/snmp", encoding="ascii") as lines:
            names, values = [line.split() for line in lines if line.startswith(protocol + ":")]
        return int(values[names.index(name)])

    def take_counters(self, gdr):
        """What each side has counted since this was asked last: two dictionaries."""
        taken = []
        for side in range(2):
            path = self._counters(side)
            printed = subprocess.run([gdr, "counters", "--json", "--all", path], check=True,
                                     capture_output=True, text=True).stdout
            taken.append(json.loads(printed)["sources"][0]["counters"])
            os.remove(path)
        return taken

    def close(self):
        for helper in reversed(self._helpers):
            stop(helper)
        self._helpers = []
        self._folder.cleanup()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

"""The two ends between which programs run: this host's, on the software NIC, and the guest's rxe.

    server = end.start(["ibv_rc_pingpong", "-d", end.device, "-g", end.gid, "-p", "18515"])
    why_not = end.wait_until_listens(18515, server)
    status, output = server.wait(30)
"""
import contextlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import two_programs  # noqa: E402


class GuestEnd:
    def __init__(self, guest, name, device, address):
        self.name = name
        self.device = device
        self.address = address
        self._guest = guest
        # The index of the GID with the IPv4 address.
        digits = "".join(f"{int(part):02x}" for part in address.split("."))
        wanted = f"ffff:{digits[:4]}:{digits[4:]}"
        folder = f"/sys/class/infiniband/{device}/ports/1/gids"
        self.gid = guest.check(f"cd {folder}; grep -ls {wanted} * | head -n 1").strip()

    def start(self, command, seconds=30):
        return self._guest.start(" ".join(command), seconds)

    def wait_until_listens(self, port, _):
        status, _ = self._guest.run(f"/lab/listens.sh {port}", 15)
        return None if status == 0 else "the server did not listen within 10 seconds"

    def counters(self):
        """rxe's packets, as its driver counts them."""
        folder = f"/sys/class/infiniband/{self.device}/ports/1/hw_counters"
        words = self._guest.check(f"cd {folder}; cat sent_pkts rcvd_pkts").split()
        return {"sent": int(words[0]), "received": int(words[1])}


class HostProcess:
    """As lab.Job, of this host."""

    def __init__(self, process, seconds):
        self._process = process
        self._end = time.monotonic() + seconds

    def is_running(self):
        return self._process.poll() is None

    def wait(self, patience=None):
        rest = self._end - time.monotonic()
        try:
            output, _ = self._process.communicate(
                timeout=max(0, rest if patience is None else min(rest, patience)))
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):  # it has ended by itself just now
                os.killpg(self._process.pid, signal.SIGKILL)
            return 137, self._process.communicate()[0]
        return self._process.returncode, output

    # two_programs asks a process for these.
    def __getattr__(self, name):
        return getattr(self._process, name)


class HostEnd:
    """Programs under `gdr run`, in this process's network namespace."""

    def __init__(self, gdr, name, device, address, traces=None):
        self.name = name
        self.device = device
        self.address = address
        self.gid = "3"
        self._run = [gdr, "run", "--quiet", "--soft-nic", "--no-soft-gpu", "--"]
        self._environment = dict(os.environ, GDR_SOFT_DEVICES=f"{device}/ip={address}")
        self._traces = traces
        self._started = 0

    def start(self, command, seconds=30):
        self._started += 1
        environment = dict(self._environment)
        if self._traces:  # one of its own for each, in the order of the results
            trace = self._traces / f"{self._started:03d}-{command[0]}.pcap"
            environment["GDR_SOFT_PCAP"] = str(trace)
        program = shutil.which(command[0]) or command[0]
        return HostProcess(two_programs.start([*self._run, program, *command[1:]], environment),
                           seconds)

    def wait_until_listens(self, port, server):
        return two_programs.wait_until_listens(port, server)

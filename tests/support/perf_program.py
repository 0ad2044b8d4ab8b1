"""`gdr perf` on the software NIC, for the scripts that test it.

    perf = Perf(gdr)
    rows = perf.rows("--operation", "write", "--check")      # of the JSON document; exit status 0
    run = perf.run("--batch", "200")                         # .returncode, .stdout, .stderr
    server = perf.server(port)                               # with two_programs.stop(server) later
    perf.leaves_nothing_behind()
"""
import json
import os
import subprocess
import time

import two_programs

# As little as measures anything: two repetitions of a few messages.
QUICK = ("--iterations", "16", "--repeats", "2")
# What goes over each of these transports.
OPERATIONS = {"rc": ("write", "write-imm", "read", "send"), "uc": ("write", "write-imm", "send"),
              "ud": ("send",), "xrc": ("write", "write-imm", "read", "send")}
ATOMICS = {"rc": ("fetch-add", "compare-swap"), "xrc": ("fetch-add", "compare-swap")}
MEASURES = "bandwidth,latency,rate"


class Failed(Exception):
    """What was wrong."""


def require(claim, *seen):
    if not claim:
        raise Failed("\n".join(str(one) for one in seen))


class Perf:
    def __init__(self, gdr):
        self.gdr = gdr
        # Only what these tests have started carries it.
        self._mark = f"GDR_PERF_TEST={os.getpid()}"

    def environment(self, **more):
        name, value = self._mark.split("=")
        return dict(os.environ, **{name: value}, **more)

    def command(self, *options):
        return [self.gdr, "perf", "--soft", *options]

    def run(self, *options, seconds=600, fault="", whole=None, **more):
        return subprocess.run(whole or self.command(*options), env=self.environment(GDR_FAULT=fault, **more),
                              capture_output=True, text=True, timeout=seconds, check=False)

    def document(self, *options, status=0, **more):
        done = self.run("--json", *options, **more)
        require(done.returncode == status, f"exit status {done.returncode} instead of {status}",
                " ".join(options), done.stdout[-2000:], done.stderr)
        return json.loads(done.stdout)

    def rows(self, *options, **more):
        return self.document("--memory", "host", *options, **more)["rows"]

    def start(self, *options, **more):
        return two_programs.start(self.command(*options), self.environment(**more))

    def server(self, port, *options, fault="", **more):
        server = self.start("--server", "--port", str(port), *options, GDR_FAULT=fault, **more)
        wrong = two_programs.wait_until_listens(port, server)
        require(wrong is None, wrong)
        return server

    def processes(self):
        """Of this test, by their environment: also those that nobody waits for any more."""
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if self._mark.encode() in file.read().split(b"\0"):
                        found.append(int(name))
            except OSError:
                pass  # it has ended, or is another user's
        return found

    def leaves_nothing_behind(self, but=()):
        """No process, soon, and nothing in shared memory that has a name."""
        end = time.monotonic() + 100
        while set(self.processes()) - set(but):
            require(time.monotonic() < end, "processes left behind:",
                    *set(self.processes()) - set(but))
            time.sleep(0.02)

    @staticmethod
    def shared_memory():
        """Files: folders are other tests', which keep their machines in memory."""
        if not os.path.isdir("/dev/shm"):
            return set()
        return {entry.name for entry in os.scandir("/dev/shm") if not entry.is_dir()}


def processor_seconds(process):
    with open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_measuring(client):
    """It polls then; before that it takes hardly any of the processor."""
    end = time.monotonic() + 300
    while client.poll() is None and processor_seconds(client) < 0.5:
        require(time.monotonic() < end, "it does not measure", processor_seconds(client))
        time.sleep(0.05)
    require(client.poll() is None, "it has ended early with", client.returncode)


def title(row):
    load = row["load"]
    return f"{load['operation']} over {load['transport']}, {load['measure']}"


def main(tests):
    """Runs them; the exit status. Each takes nothing and raises Failed."""
    failed = 0
    for test in tests:
        began = time.monotonic()
        try:
            test()
        except (Failed, subprocess.TimeoutExpired, json.JSONDecodeError, KeyError) as problem:
            failed += 1
            print(f"FAILED  {test.__name__}\n{type(problem).__name__}: {problem}", flush=True)
        else:
            print(f"ok      {test.__name__}  ({time.monotonic() - began:.1f} s)", flush=True)
    return 1 if failed else 0

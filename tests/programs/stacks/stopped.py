#!/usr/bin/env python3
"""stopped.py GDR: of two connected rpings one is stopped. Another pair goes on meanwhile, and so do
these two once it is continued; when it is stopped again and killed, the other one ends. Within the host
and by packets, client and server, all at once."""
import os
import pathlib
import shutil
import signal
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from two_programs import free_port, start, stop  # noqa: E402

STOPPED = 2  # seconds: longer than anybody waits for a lock, shorter than the 17 s of packets
PATIENCE = 400


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"not within {PATIENCE} seconds: {what}")
        time.sleep(0.02)


class Rping:
    def __init__(self, gdr, path, port, *words):
        # --quiet: the process becomes rping, so that a signal to it is one to rping.
        self.process = start([gdr, "run", "--quiet", "--soft-nic", "--no-soft-gpu", "--", "rping", *words,
                              "-a", "127.10.0.1", "-p", str(port), "-v", "-C", "1000000000"],
                             {**os.environ, "GDR_SOFT_PATH": path})
        self.pings = 0
        threading.Thread(target=self.count, daemon=True).start()

    def count(self):
        for line in self.process.stdout:
            self.pings += "ping data" in line

    def is_there(self):
        return self.process.poll() is None

    def goes_on(self, more=20):
        before = self.pings
        wait_for("pings go on", lambda: self.pings >= before + more)


class Pair:
    def __init__(self, gdr, path):
        port = free_port()
        self.server = Rping(gdr, path, port, "-s")
        self.client = None
        wait_for("they connect", lambda: self.connects(gdr, path, port))

    # A client that is quicker than its server's rdma_listen is refused.
    def connects(self, gdr, path, port):
        if self.client is None or not self.client.is_there():
            self.client = Rping(gdr, path, port, "-c")
        return self.client.pings > 0

    def stop(self):
        stop(self.server.process)
        if self.client is not None:
            stop(self.client.process)


def check(gdr, path, name):
    pair, others = Pair(gdr, path), Pair(gdr, path)
    try:
        stopped, left = pair.client, pair.server
        if name == "server":
            stopped, left = left, stopped
        stopped.process.send_signal(signal.SIGSTOP)
        end = time.monotonic() + STOPPED
        while time.monotonic() < end:
            others.client.goes_on()
        if not left.is_there():
            return "the other one gave up"
        stopped.process.send_signal(signal.SIGCONT)
        pair.client.goes_on()
        pair.server.goes_on()
        stopped.process.send_signal(signal.SIGSTOP)
        others.client.goes_on()
        stopped.process.send_signal(signal.SIGKILL)
        wait_for("the other one ends", lambda: not left.is_there())
        others.client.goes_on()
    except RuntimeError as wrong:
        return str(wrong)
    finally:
        pair.stop()
        others.stop()
    return None


def main():
    gdr = os.path.abspath(sys.argv[1])
    if shutil.which("rping") is None:
        print("skipped: no rping (package rdmacm-utils)")
        return 77
    wrong = {}

    def note(path, name):
        wrong[path, name] = "it did not end"
        wrong[path, name] = check(gdr, path, name)

    threads = [threading.Thread(target=note, args=(path, name))
               for path in ("auto", "packets") for name in ("client", "server")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for (path, name), what in wrong.items():
        print(f"{path}, {name} stopped: {what or 'passed'}")
    return 1 if any(wrong.values()) else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""rspreload.py GDR: programs that know nothing of RDMA, of whose sockets rdma-core's librspreload.so
makes rsockets, over our librdmacm: Python's HTTP server and curl, on one host and between two.

Every byte is compared, and the hosts' kernels must have sent no TCP segment. Exit status 77 where the
library is not installed."""
import errno
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

FOLDERS = ("/usr/lib/x86_64-linux-gnu/rsocket", "/usr/lib64/rsocket")  # Debian's, Fedora's
PYTHON = "/usr/bin/python3"
PORT = "7707"
LIMIT = 400  # seconds
BYTES = 3_000_000
SENT_BY_NIC = re.compile(r"software NIC: opened soft0, \d+ queue pairs?, ([\d.]+) MiB")
# Before release 63 the library has no accept4(), by which Python accepts: the call reaches the kernel,
# with a descriptor of /dev/null, which the library has opened in the socket's place.
ASKS_ACCEPT4 = """
import socket, sys
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
try:
    listener.accept()
except OSError as error:
    sys.exit(error.errno)
"""
# So there the same server calls accept(), which the library has.
SERVES_BY_ACCEPT = """
import ctypes, os, runpy, socket
library = ctypes.CDLL(None, use_errno=True)
def accept(listener):
    descriptor = library.accept(listener.fileno(), None, None)
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return descriptor, ("a client", 0)
socket.socket._accept = accept
runpy.run_module("http.server", run_name="__main__")
"""


class Failed(Exception):
    """What was wrong."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def find_library():
    for folder in FOLDERS:
        path = pathlib.Path(folder, "librspreload.so")
        if path.exists():
            return path
    raise Skip("no librspreload.so of rdma-core's (Debian: librdmacm1)")


class Place:
    """Two hosts, on which programs run with the library."""

    def __init__(self, hosts, gdr, library, folder):
        self.hosts, self.gdr, self.library = hosts, gdr, library
        self.sent = pathlib.Path(folder, "sent")
        self.sent.write_bytes(os.urandom(BYTES))

    def start(self, side, *words):
        return self.hosts.start(side, [self.gdr, "run", "--soft-nic", "--no-soft-gpu", "--", "env",
                                       f"LD_PRELOAD={self.library}", *map(str, words)])

    def expect_no_accept4(self):
        asks = self.start(0, PYTHON, "-c", ASKS_ACCEPT4, self.hosts.address, PORT)
        said = asks.communicate(timeout=LIMIT)[0]
        expect(asks.returncode == errno.ENOTSOCK, f"accept4: {asks.returncode}, {said}")

    def serve(self):
        """A server that listens, which only its own words show."""
        how = ("-m", "http.server")
        if b"\0accept4\0" not in self.library.read_bytes():
            self.expect_no_accept4()
            how = ("-c", SERVES_BY_ACCEPT)
        server = self.start(0, PYTHON, "-u", *how, "-b", self.hosts.address, "-d", self.sent.parent,
                            PORT)
        heard = ""
        while "Serving HTTP" not in heard:
            line = server.stdout.readline()
            expect(line, f"the server ended: {heard}")
            heard += line
        return server

    def fetch(self, side):
        got = self.sent.with_name(f"got{side}")
        client = self.start(side, "curl", "-sS", "--max-time", LIMIT, "-o", got,
                            f"http://{self.hosts.address}:{PORT}/{self.sent.name}")
        said = client.communicate(timeout=100 * LIMIT)[0]
        expect(client.returncode == 0, f"curl on side {side} ended with {client.returncode}: {said}")
        expect(got.read_bytes() == self.sent.read_bytes(), f"side {side} got other bytes")
        segments = self.hosts.tcp_segments(side)
        expect(segments == 0, f"the kernel of side {side} sent {segments} TCP segments: {said}")


def check(place):
    server = place.serve()
    try:
        for side in (0, 1):
            place.fetch(side)
    finally:
        os.killpg(server.pid, signal.SIGINT)
        heard = server.communicate(timeout=LIMIT)[0]
        print(heard)
        stop(server)
    counted = SENT_BY_NIC.search(heard)
    expect(counted and float(counted[1]) * 2**20 > 1.9 * BYTES, "not all by the server's NIC")


def main():
    gdr, library = os.path.abspath(sys.argv[1]), find_library()
    if not shutil.which("curl"):
        raise Skip("curl is not installed (Debian: curl)")
    become_root()
    with Hosts() as hosts, tempfile.TemporaryDirectory() as folder:
        try:
            check(Place(hosts, gdr, library, folder))
        except (Failed, subprocess.TimeoutExpired) as wrong:
            print(f"FAILED: {library}: {wrong}")
            return 1
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

#!/usr/bin/env python3
"""record_perf_sessions.py GDR FOLDER: what real clients of gdr perf say to its server, for perf_session_fuzz to start from: one file for each load, in FOLDER, which is tests/fuzz/corpus/perf_session.

The server's random numbers are all 7 in that fuzzer, so the answer to a probe is changed to that; and it has one port with the LID 1, which is the place that the client then names."""
import os
import socket
import struct
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import raw_perf  # noqa: E402
from perf_program import QUICK, Perf  # noqa: E402
from two_programs import free_port, stop  # noqa: E402

LOADS = {
    "write": ("--operation", "write", "--measure", "bandwidth,latency"),
    "send_ud": ("--operation", "send", "--transport", "ud", "--measure", "bandwidth"),
    "read_xrc": ("--operation", "read", "--transport", "xrc", "--measure", "rate"),
    "atomics": ("--operation", "fetch-add,compare-swap", "--measure", "bandwidth"),
    "check_both_ways": ("--operation", "send", "--measure", "bandwidth", "--check", "--both-ways", "--depth", "2"),
    "check_read": ("--operation", "read", "--measure", "latency", "--check"),
    "threads": ("--operation", "write-imm", "--measure", "bandwidth", "--threads", "2", "--queue-pairs", "3"),
}
RAW = b"\xff"  # the fuzzer takes what follows as it is
STATION_HEAD = 2 + 16 + 1


def changed(kind, body):
    here = struct.pack("<H", 1) + bytes(16) + b"\0"
    if kind == raw_perf.ANSWER:
        return struct.pack("<II", 1, 7)
    if kind == raw_perf.PROBE:
        return body[:2] + here + body[2 + STATION_HEAD:]
    if kind == raw_perf.CONNECT:
        count, = struct.unpack_from("<I", body)
        out, at = body[:4], 4
        for _ in range(count):
            queues, = struct.unpack_from("<I", body, at + STATION_HEAD + 14)
            end = at + STATION_HEAD + 18 + 16 * queues
            out, at = out + here + body[at + STATION_HEAD:end], end
        return out
    return body


def record(gdr, server_port, options):
    """Everything that one client says."""
    said = bytearray()
    with socket.create_server(("127.0.0.1", 0)) as between:
        client = subprocess.Popen([gdr, "perf", "--soft", "--memory", "host", "--sizes", "8", *QUICK, *options,
                                   "127.0.0.1", "--port", str(between.getsockname()[1])], stdout=subprocess.DEVNULL)
        near, _ = between.accept()
        far = socket.create_connection(("127.0.0.1", server_port))

        def pass_on():
            while data := far.recv(65536):
                near.sendall(data)

        thread = threading.Thread(target=pass_on, daemon=True)
        thread.start()
        while head := near.recv(5, socket.MSG_WAITALL):
            length, kind = struct.unpack(">IB", head)
            body = near.recv(length, socket.MSG_WAITALL) if length else b""
            far.sendall(head + body)
            said += raw_perf.framed(kind, changed(kind, body))
        far.shutdown(socket.SHUT_RDWR)
        thread.join()
        far.close()
        near.close()
        if client.wait(timeout=100) != 0:
            raise SystemExit(f"{' '.join(options)} ended with {client.returncode}")
    return RAW + bytes(said)


def main(gdr, folder):
    os.makedirs(folder, exist_ok=True)
    port = free_port()
    server = Perf(gdr).server(port)
    try:
        for name, options in LOADS.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(record(gdr, port, options))
    finally:
        stop(server)


if __name__ == "__main__":
    main(*sys.argv[1:])

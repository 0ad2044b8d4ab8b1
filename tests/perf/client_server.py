"""client_server.py GDR: `gdr perf --server` and its clients as processes of their own over TCP: one after the other, killed, interrupted, of another version, and not there at all."""
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import MEASURES, QUICK, Perf, main, require, title, wait_until_measuring  # noqa: E402
from two_programs import free_port, stop  # noqa: E402

PERF = Perf(sys.argv[1])
HOST = "127.0.0.1"
# Long enough that whatever happens to it happens in the middle.
ENDLESS = ("--memory", "host", "--measure", "bandwidth", "--sizes", "64", "--duration", "300s",
           "--warm-up", "0")


class Serving:
    """A server, which must end well and leave nothing behind."""

    def __init__(self, *options):
        self.port = free_port()
        self.process = PERF.server(self.port, *options)

    def client(self, *options):
        return [HOST, "--port", str(self.port), *options]

    def is_idle(self):
        """Threads of its own, and of the software NIC, alone."""
        return self.process.poll() is None

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.send_signal(signal.SIGINT)
        said = ""
        try:
            said = self.process.communicate(timeout=100)[0]
        finally:
            stop(self.process)
        if kind is None:
            require(self.process.returncode == 0, "server:", self.process.returncode, said)
            PERF.leaves_nothing_behind()
        self.said = said


def memory_of(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def descriptors_of(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def settle_at(process, most):
    """The software NIC closes what it shared with a process once it has seen that end."""
    end = time.monotonic() + 200
    while descriptors_of(process) > most:
        require(time.monotonic() < end, "descriptors left open:", descriptors_of(process), most)
        time.sleep(0.02)


def one_line(text, *phrases):
    require(text.count("\n") == 1 and text.startswith("gdr perf: "), "not one line:", text)
    for phrase in phrases:
        require(phrase in text, f"no '{phrase}' in:", text)


def serves_three_clients_one_after_the_other():
    with Serving() as serving:
        # With its first datagram the software NIC opens its port to other hosts, and keeps it.
        PERF.rows(*serving.client(*QUICK, "--sizes", "64"))
        time.sleep(1)
        before = descriptors_of(serving.process)
        for operations, transport in (("write,send,read", "rc"), ("write,send", "uc"),
                                      ("write,fetch-add", "xrc")):
            rows = PERF.rows(*serving.client(*QUICK), "--transport", transport, "--operation",
                             operations, "--measure", MEASURES, "--sizes", "8", "--check")
            for row in rows:
                require(not row.get("problem") and row["checked"]["wrong"] == 0, title(row), row)
            settle_at(serving.process, before)
    require(serving.said.count(f"{HOST}: ") == 4 and "ended early" not in serving.said, serving.said)


def goes_on_after_a_client_that_is_killed_in_the_middle():
    with Serving() as serving:
        PERF.rows(*serving.client(*QUICK, "--sizes", "64"))
        time.sleep(1)
        descriptors = descriptors_of(serving.process)
        before = memory_of(serving.process)
        segments = PERF.shared_memory()
        for options in (("--operation", "send"), ("--operation", "write", "--transport", "uc"),
                        ("--operation", "read", "--check"),
                        ("--both-ways", "--operation", "send", "--threads", "2",
                         "--queue-pairs", "16")):
            client = PERF.start(*serving.client(*ENDLESS, *options))
            wait_until_measuring(client)
            stop(client)  # SIGKILL
            rows = PERF.rows(*serving.client(*QUICK, "--sizes", "64"))
            require(all(not row.get("problem") for row in rows), rows)
        settle_at(serving.process, descriptors)
        after = memory_of(serving.process)
        require(after < before + 16 * 1024, "KiB of memory:", before, after)
        require(PERF.shared_memory() <= segments, PERF.shared_memory() - segments)
    require(serving.said.count("ended early: ") == 4, serving.said)


def a_server_that_dies_is_noticed_within_seconds():
    for options in (("--operation", "write"), ("--operation", "write", "--transport", "uc"),
                    ("--operation", "send", "--transport", "ud"), ("--operation", "send", "--check")):
        port = free_port()
        server = PERF.server(port)
        client = subprocess.Popen(PERF.command(HOST, "--port", str(port), *ENDLESS, *options),
                                  env=PERF.environment(), stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, start_new_session=True)
        try:
            wait_until_measuring(client)
            stop(server)
            said = client.communicate(timeout=100)[1]
        finally:
            client.kill()
        require(client.returncode == 1, options, client.returncode)
        one_line(said, "the server ended during a measurement")
    PERF.leaves_nothing_behind()


def interrupted(options, rows_before):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "run.json")
        client = PERF.start(*options, "--report", path)
        seen = ""
        while rows_before not in seen:  # of the row that has come before
            line = client.stdout.readline()
            require(line, "it has ended early:", seen)
            seen += line
        time.sleep(0.3)
        client.send_signal(signal.SIGINT)
        seen += client.communicate(timeout=100)[0]
        require(client.returncode == 1, client.returncode, seen)
        require("Interrupted: " in seen, seen)
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
        require(document["interrupted"] is True, document["interrupted"])
        rows = document["rows"]
        require(not rows[0].get("problem") and rows[0]["bandwidth_bytes_per_second"]["median"] > 0,
                rows[0])
        require(rows[-1]["problem"] == "interrupted", rows[-1])


# The first row ends, the second one does not.
TWO_ROWS = ("--memory", "host", "--measure", "bandwidth", "--sizes", "64,128", "--duration", "2s",
            "--warm-up", "0", "--repeats", "2")


def ctrl_c_keeps_the_rows_so_far_and_leaves_nothing():
    segments = PERF.shared_memory()
    interrupted(TWO_ROWS, "    64 B ")
    PERF.leaves_nothing_behind()
    with Serving() as serving:
        interrupted(serving.client(*TWO_ROWS), "    64 B ")
        require(serving.is_idle(), "the server has ended")
        PERF.rows(*serving.client(*QUICK, "--sizes", "64"))
    require(PERF.shared_memory() <= segments, PERF.shared_memory() - segments)


class Fake:
    """Accepts one connection and answers each message as `answer(kind, body)` says."""

    def __init__(self, answer):
        self._listening = socket.create_server((HOST, 0))
        self.port = self._listening.getsockname()[1]
        self._answer = answer
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    @staticmethod
    def framed(kind, body):
        return struct.pack(">IB", len(body), kind) + body

    def _serve(self):
        connection, _ = self._listening.accept()
        try:
            with connection:
                while head := connection.recv(5, socket.MSG_WAITALL):
                    length, kind = struct.unpack(">IB", head)
                    said = self._answer(kind, connection.recv(length, socket.MSG_WAITALL))
                    if said is None:
                        return
                    connection.sendall(said)
        except ConnectionResetError:
            pass  # the client has left with bytes unread

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listening.close()
        self._thread.join(timeout=100)


MAGIC, HELLO = 0x67647270, 2


def hello(protocol, version, magic=MAGIC):
    return Fake.framed(HELLO, struct.pack("<III", magic, protocol, len(version)) + version)


def ask(fake):
    return PERF.run(HOST, "--port", str(fake.port), "--memory", "host", seconds=200)


def names_both_versions_where_they_differ():
    mine = subprocess.run([PERF.gdr, "--version"], capture_output=True, text=True,
                          check=True).stdout.split()[1]
    with Fake(lambda kind, body: hello(99, b"7.8.9")) as fake:
        done = ask(fake)
    require(done.returncode == 1, done.returncode)
    one_line(done.stderr, "gdrkit 7.8.9 (protocol 99)", mine, "install the same version")


def says_in_one_line_what_else_is_there():
    cases = ((b"SSH-2.0-OpenSSH_9.2\r\n", "the other side answered, but it is not gdr perf"),
             (b"HTTP/1.1 400 Bad Request\r\n\r\n", "the other side answered, but it is not gdr perf"),
             (hello(1, b"1", magic=7), "the server answered, but it is not gdr perf"),
             (Fake.framed(HELLO, b"\1\2\3"), "malformed message"),
             (Fake.framed(0, struct.pack("<iI", 5, 12) + b"no\x1b[31m NIC\n"), "no [31m NIC"),
             (None, "the other side closed the connection"))
    for answer, phrase in cases:
        with Fake(lambda kind, body, said=answer: said) as fake:
            done = ask(fake)
        require(done.returncode == 1, answer, done.returncode)
        one_line(done.stderr, phrase)
        require("\x1b" not in done.stderr, "control characters:", done.stderr)


def nothing_there_says_what_to_type():
    port = free_port()
    done = PERF.run(HOST, "--port", str(port))
    require(done.returncode == 1, done.returncode)
    one_line(done.stderr, f"start one there: gdr perf --server --port {port}")
    done = PERF.run("no-such-host.invalid")
    require(done.returncode == 1, done.returncode)
    one_line(done.stderr, "unknown host 'no-such-host.invalid'")


def two_servers_on_one_port_are_one_too_many():
    with Serving() as serving:
        done = PERF.run("--server", "--port", str(serving.port), seconds=100)
        require(done.returncode == 1, done.returncode)
        one_line(done.stderr, f"port {serving.port} is in use", "--port PORT")


def a_client_that_says_nothing_does_not_end_the_server():
    with Serving() as serving:
        for said in (b"", b"GET / HTTP/1.1\r\n\r\n", Fake.framed(HELLO, b""), b"\0\0\0\5"):
            with socket.create_connection((HOST, serving.port)) as connection:
                connection.sendall(said)
        rows = PERF.rows(*serving.client(*QUICK, "--sizes", "64"))
        require(all(not row.get("problem") for row in rows), rows)


def a_message_that_comes_slowly_is_one():
    with Serving() as serving:
        with socket.create_connection((HOST, serving.port)) as connection:
            for byte in hello(1, b"x"):
                connection.sendall(bytes([byte]))
                time.sleep(0.06)  # in all, longer than the server waits at a time
            connection.settimeout(200)
            head = connection.recv(5, socket.MSG_WAITALL)
            require(len(head) == 5 and head[4] == HELLO, head)


if __name__ == "__main__":
    sys.exit(main([serves_three_clients_one_after_the_other,
                   goes_on_after_a_client_that_is_killed_in_the_middle,
                   a_server_that_dies_is_noticed_within_seconds,
                   ctrl_c_keeps_the_rows_so_far_and_leaves_nothing,
                   names_both_versions_where_they_differ, says_in_one_line_what_else_is_there,
                   nothing_there_says_what_to_type, two_servers_on_one_port_are_one_too_many,
                   a_client_that_says_nothing_does_not_end_the_server,
                   a_message_that_comes_slowly_is_one]))

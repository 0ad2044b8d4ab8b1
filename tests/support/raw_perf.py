"""A client of `gdr perf --server` that sends what it likes, byte by byte, and can be at a place of its own: a UDP socket that takes the RoCEv2 packets which come there.

    with Place() as place, Client(port) as client:
        client.begin()
        address = client.set_up(transport=UC, both_ways=True)
        client.probe(place.gid)                        # "" or what the server said against it
        client.answer(place.number())
        client.connect(address, place.gid)
"""
import contextlib
import ipaddress
import socket
import struct
import threading
import time

MAGIC, PROTOCOL = 0x67647270, 6
(FAILURE, NOTHING, HELLO, OPEN, OPENED, SET_UP, SET, CONNECT, START, FILL, MOVE, VERIFY, VERIFIED, FINISH,
 FINISHED, TEAR_DOWN, CHALLENGE, CHALLENGED, AUTHENTICATE, AUTHENTICATED, BEGIN, PROBE, ANSWER) = range(23)
WRITE, SEND = 0, 3
RC, UC, UD = 0, 1, 2
ROCE_PORT = 4791


def framed(kind, body=b""):
    return struct.pack(">IB", len(body), kind) + body


def load(operation=WRITE, transport=RC, both_ways=False, check=False, threads=1):
    return struct.pack("<BBBQBiBiBBBBBBBIIIIIIIIBB", operation, transport, 0, 0, 0, 0, 0, 0, 0, both_ways, 0, 0,
                       check, 0, 0, 1, threads, threads, 128, 1, 0, 0, 0, 0, 0)


def set_up(largest=1024, **more):
    return framed(SET_UP, load(**more) + struct.pack("<QB", largest, 3))


def start(seconds=0.05, slices=1, messages=0, size=1024):
    return framed(START, struct.pack("<QBIQQQIQ", size, 0, 1, 0, int(seconds * 1e9 / slices), messages, slices, 1))


def window(kind, station=0, first=0, count=1):
    return framed(kind, struct.pack("<IQI", station, first, count))


def finish(*sent):
    return framed(FINISH, struct.pack("<I", len(sent)) + struct.pack(f"<{len(sent)}Q", *sent))


HELLO_HERE = framed(HELLO, struct.pack("<III", MAGIC, PROTOCOL, 1) + b"x")


class Client:
    def __init__(self, port, patience=400):
        self._socket = socket.create_connection(("127.0.0.1", port))
        self._socket.settimeout(patience)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def fileno(self):
        return self._socket.fileno()

    def send(self, message):
        self._socket.sendall(message)

    def receive(self):
        """Kind and body; (None, b"") when the server has closed."""
        try:
            head = self._socket.recv(5, socket.MSG_WAITALL)
            if len(head) < 5:
                return None, b""
            length, kind = struct.unpack(">IB", head)
            return kind, self._socket.recv(length, socket.MSG_WAITALL) if length else b""
        except ConnectionError:
            return None, b""

    def ask(self, message):
        """What the server says against it, or "" and the body of its reply."""
        try:
            self.send(message)
        except ConnectionError:
            return "closed", b""
        kind, body = self.receive()
        if kind is None:
            return "closed", b""
        return (body[8:].decode(), b"") if kind == FAILURE else ("", body)

    def hello(self):
        return self.ask(HELLO_HERE)[0]

    @contextlib.contextmanager
    def flood(self, request):
        """Sends it without a pause, while another thread takes the answers. How many bytes of them there were."""
        taken = 0

        def send():
            with contextlib.suppress(OSError):
                while True:
                    self._socket.sendall(request * 10_000)

        def take():
            nonlocal taken
            with contextlib.suppress(OSError):
                while got := len(self._socket.recv(1 << 20)):
                    taken += got

        threads = [threading.Thread(target=work) for work in (send, take)]
        for thread in threads:
            thread.start()
        try:
            yield lambda: taken
        finally:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            for thread in threads:
                thread.join()

    def challenge(self):
        return self.ask(framed(CHALLENGE, bytes(33)))[0]

    def begin(self, seconds=0):
        return self.hello() or self.challenge() or self.ask(framed(BEGIN, struct.pack("<Q", int(seconds * 1e9))))[0]

    def set_up(self, **more):
        """The number of the server's queue pair."""
        wrong, body = self.ask(set_up(**more))
        return wrong, body

    def probe(self, gid, queue_pair=2):
        return self.ask(framed(PROBE, struct.pack("<HH", 0, 0) + gid + struct.pack("<BI", 1, queue_pair)))[0]

    def answer(self, *values):
        return self.ask(framed(ANSWER, struct.pack("<I", len(values)) + struct.pack(f"<{len(values)}I", *values)))[0]

    def connect(self, gid, queue_pair=2, threads=1):
        station = (struct.pack("<H", 0) + gid + struct.pack("<BHQI", 1, 0, 0x10000, 1) +
                   struct.pack("<IIIII", 1, queue_pair, queue_pair, 0, 0))
        return self.ask(framed(CONNECT, struct.pack("<I", threads) + station * threads))[0]


class Place:
    """An address of loopback, and what comes there."""

    def __init__(self, address="127.66.66.66"):
        self.gid = ipaddress.IPv6Address(f"::ffff:{address}").packed
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self._socket.bind((address, ROCE_PORT))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def take(self, least=0):
        """That many packets, and more until none has come for a while, as bytes from the base transport header
        on. Of a flood, what comes in ten seconds."""
        packets = []
        end = time.monotonic() + (100 if least else 10)
        while time.monotonic() < end:
            if len(packets) == least:
                end = time.monotonic() + 10
            self._socket.settimeout(0.3 if len(packets) >= least else 100)
            try:
                packets.append(self._socket.recv(65536))
            except TimeoutError:
                break
        return packets

    def number(self):
        """That of the last probe: the immediate behind base transport and datagram header."""
        packets = self.take(1)
        return struct.unpack(">I", packets[-1][20:24])[0] if packets else None

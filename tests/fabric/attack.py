#!/usr/bin/env python3
"""attack.py GDR CASE: gdr fabric under srun without PMIx, on hosts of namespaces with Slurm and MUNGE
(support/cluster.py), while somebody attacks it. stranger: another account of rank 0's host sits at the port where the
ranks look for it, and either invites them to a collector of its own or passes on what they and rank 0 say. liar: a
process of the job, which so has the run's token, says that it is another host."""
import ctypes
import hashlib
import hmac
import json
import os
import pathlib
import selectors
import socket
import struct
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import cluster  # noqa: E402
from gdr_program import expect  # noqa: E402

GDR, CASE = sys.argv[1:3]
QUICK = ("--proof-size", "256K", "--message-size", "64K", "--duration", "50ms", "--no-doctor", "--retests", "0")
COLLECTOR, IMPOSTOR = 18777, 18778
# Places of messages in fabric/messages.h.
FAILURE, WELCOME, KNOCK, BEGIN, READY, FINISH, ADMITTED, JOIN = 0, 2, 3, 4, 5, 13, 14, 15
NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")


def meeting_port(job, choice=0):
    """fabric/rendezvous/slurm.cc, step 0."""
    return 20000 + (job * 16 * 4 + choice) % 10000


# The stranger.

def pump(one, other, kept):
    """Carries bytes both ways, and keeps them."""
    with selectors.DefaultSelector() as selector:
        for source, to in ((one, other), (other, one)):
            selector.register(source, selectors.EVENT_READ, to)
        while True:
            for key, _ in selector.select():
                piece = key.fileobj.recv(65536)
                kept.write(piece)
                kept.flush()
                if not piece:
                    return
                key.data.sendall(piece)


def connect(port, seconds=200):
    end = time.monotonic() + seconds
    while True:
        try:
            return socket.create_connection(("n1", port), 1)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def be_stranger(what, kept):
    """One process for each connection."""
    places = {}
    for job in range(1, 5):
        places[socket.create_server(("n1", meeting_port(job)))] = job
    places[socket.create_server(("n1", IMPOSTOR))] = None
    print("sits there", flush=True)
    with selectors.DefaultSelector() as selector:
        for place in places:
            selector.register(place, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                visitor, _ = key.fileobj.accept()
                if os.fork() == 0:
                    job = places[key.fileobj]
                    for place in places:
                        place.close()
                    serve(visitor, job, what, kept)
                    os._exit(0)


def serve(visitor, job, what, path):
    with open(path, "ab") as kept:
        kept.write(b"<came>")
        kept.flush()
        if job is None:
            pump(visitor, connect(COLLECTOR), kept)
        elif what == "invites":
            visitor.sendall(f"gdr-meet {job}.0 plain gdrf1 {IMPOSTOR} - n1\n".encode())
        else:
            pump(visitor, connect(meeting_port(job, 1)), kept)


def case_stranger(hosts):
    hosts.start_slurm()
    secret = hosts.work / "secret"
    secret.write_text("a secret of the ranks alone\n", encoding="ascii")
    secret.chmod(0o600)
    kept = hosts.work / "kept"
    kept.mkdir(mode=0o777)
    kept.chmod(0o777)
    script = hosts.work / "stranger.py"  # where that account can read it
    script.write_bytes(pathlib.Path(__file__).read_bytes().replace(b"parents[1]", b"parents[0]"))
    support = pathlib.Path(__file__).resolve().parents[1] / "support"
    for module in ("cluster.py", "gdr_program.py"):
        (hosts.work / "support").mkdir(exist_ok=True)
        (hosts.work / "support" / module).write_bytes((support / module).read_bytes())
    for number, (what, options) in enumerate((("invites", ("--secret", secret)), ("relays", ("--secret", secret)),
                                              ("invites", ()))):
        one = kept / str(number)
        command = hosts.inside("n1", *NOBODY, "/usr/bin/python3", script, "-", "be_stranger", what, one)
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as stranger:
            try:
                expect(stranger.stdout.readline() == "sits there\n", "the stranger has no port")
                done = cluster.run("srun", "--nodes=3", GDR, "fabric", "--json", "--port", COLLECTOR, *QUICK, *options)
            finally:
                # Its children are of its group's namespace, and end with their connections.
                stranger.kill()
        nobody_is_misled(f"{what} {options}", done, one)


def nobody_is_misled(what, done, kept):
    expect(done.returncode in (0, 1), f"{what}: {done.returncode} {done.stderr}")
    report = json.loads(done.stdout)
    expect([host["state"] for host in report["hosts"]] == ["there"] * 3, f"{what}: {report['hosts']}{done.stderr}")
    said = kept.read_bytes()
    expect(said.count(b"<came>") >= 2, f"{what}: the ranks did not come to the stranger: {said}")
    # Names of rails come with their addresses and keys, that of a host when it joins, rank 0's address with its port.
    for word in (b"soft0", text(b"n2"), text(b"n3"), b"gdrf1", b"10.77.0.1"):
        expect(word not in said, f"{what}: the stranger was told {word}: {said}")


# The liar.

def text(value):
    return struct.pack("<I", len(value)) + value


SODIUM = ctypes.CDLL("libsodium.so.23")


def measured(value):
    """A length below 2**14, in seven bits to a byte, and then the bytes."""
    length = len(value)
    return (bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])) + value


class Cpace:
    """draft-irtf-cfrg-cpace over ristretto255, from the draft and not from gdrkit's own."""

    def __init__(self, secret):
        head = measured(b"CPaceRistretto255") + measured(secret)
        text_of_generator = head + measured(bytes(max(0, 127 - len(head)))) + measured(b"") + measured(b"")
        generator = ctypes.create_string_buffer(32)
        SODIUM.crypto_core_ristretto255_from_hash(generator, hashlib.sha512(text_of_generator).digest())
        self.scalar = ctypes.create_string_buffer(32)
        SODIUM.crypto_core_ristretto255_scalar_random(self.scalar)
        self.point = self.times(generator.raw)

    def times(self, point):
        product = ctypes.create_string_buffer(32)
        expect(SODIUM.crypto_scalarmult_ristretto255(product, self.scalar, point) == 0, "a point of the group")
        return product.raw

    def client_key(self, server, about):
        return hashlib.sha512(measured(b"CPaceRistretto255_ISK") + measured(b"") + measured(self.times(server)) +
                              measured(self.point) + measured(about) + measured(server) + measured(about)).digest()


class Member:
    """What a process of the job can do by hand: it has the token."""

    def __init__(self, token, rank, address, port):
        self.socket = connect(port)
        self.frames = [0, 0]
        self.keys = None
        kind, welcome = self.receive()
        expect(kind == WELCOME, kind)
        version = welcome[12:12 + struct.unpack("<I", welcome[8:12])[0]]
        own = Cpace(token)
        about = (b"gdr fabric 3 " + struct.pack(">I", rank) + b"\0" * 10 + b"\xff\xff" + socket.inet_aton(address) +
                 struct.pack(">H", port))
        agreed = own.client_key(welcome[-32:], about)
        self.send(KNOCK, welcome[:8] + text(version) + struct.pack("<I", rank) + own.point +
                  self.mac(agreed, b"proof\1"))
        kind, admitted = self.receive()
        expect(kind == ADMITTED and admitted == self.mac(agreed, b"proof\2"), (kind, admitted))
        self.keys = (self.mac(agreed, b"frame\1"), self.mac(agreed, b"frame\2"))

    @staticmethod
    def mac(key, said):
        return hmac.new(key, said, hashlib.sha256).digest()

    def mark(self, side, kind, body):
        self.frames[side] += 1
        return self.mac(self.keys[side], struct.pack(">QB", self.frames[side] - 1, kind) + body)

    def send(self, kind, body):
        sealed = body + (self.mark(0, kind, body) if self.keys else b"")
        self.socket.sendall(struct.pack(">IB", len(sealed), kind) + sealed)

    def receive(self):
        def whole(count):
            got = b""
            while len(got) < count:
                piece = self.socket.recv(count - len(got))
                if not piece:
                    raise ConnectionResetError
                got += piece
            return got
        self.socket.settimeout(200)
        length, kind = struct.unpack(">IB", whole(5))
        body = whole(length)
        if self.keys:
            body, mark = body[:-32], body[-32:]
            expect(mark == self.mark(1, kind, body), "the collector's seal is wrong")
        return kind, body


def token_of_run():
    """As any process of the job can learn it."""
    job = int(os.environ["SLURM_JOB_ID"])
    with connect(meeting_port(job)) as meeting:
        said = b"".join(iter(lambda: meeting.recv(65536), b""))
    _, step, how, credential = said.decode().split(" ", 3)
    expect(how == "munge" and step == f"{job}.0", said)
    opened = cluster.run("unmunge", "--metadata=/dev/null", input=credential).stdout
    _, _, port, token, _ = opened.split(" ", 4)
    return token.encode(), int(port)


def be_liar(lie, machine):
    token, port = token_of_run()
    rank = 1 if lie == "rank" else 2
    member = Member(token, rank, "10.77.0.1", port)
    member.send(JOIN, text(b"n3") + text(machine.encode() if lie == "machine" else b"of its own"))
    kinds = []
    try:
        while FINISH not in kinds:
            kinds.append(member.receive()[0])
    except (OSError, ConnectionResetError):
        pass
    print(f"liar: {kinds}", file=sys.stderr)


def case_liar(hosts):
    hosts.start_slurm()
    boot = pathlib.Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    inode = cluster.run(*hosts.inside("n2", "stat", "--dereference", "--format=%i", "/proc/self/ns/net")).stdout.strip()
    for lie, says in (("machine", "say that they are the same machine, and either may be wrong"),
                      ("rank", "two processes say that they are rank 1: one of them may lie")):
        script = hosts.work / f"lies-{lie}"
        script.write_text(f'#!/bin/sh\n[ "$(hostname)" = n3 ] && exec {sys.executable} {__file__} - be_liar {lie} '
                          f'"{boot} {inode}"\nexec {GDR} "$@"\n', encoding="ascii")
        script.chmod(0o755)
        done = cluster.run("srun", "--nodes=4", "--kill-on-bad-exit=0", script, "fabric", "--json", "--join-limit", "30s",
                           *QUICK)
        report = json.loads(done.stdout)
        states = {host["name"]: host["state"] for host in report["hosts"]}
        expect(states["n1"] == states["n4"] == "there", f"{lie}: {states}{done.stderr}")
        # It can keep a host out, but not have it called the bad one.
        expect(states["n2"] == "left out" and states["n3"] != "there", f"{lie}: {states}{done.stderr}")
        problem = next(host["problem"] for host in report["hosts"] if host["name"] == "n2")
        expect(says in problem, f"{lie}: {problem}{done.stderr}")
        expect("State=DRAIN" not in done.stdout, f"{lie}: a host is to be drained for it")
        expect("proved" in done.stdout, "n1 and n4 were not measured")


def main():
    if CASE in ("be_stranger", "be_liar"):
        return globals()[CASE](*sys.argv[3:])
    cluster.enter(*cluster.SLURM, "setpriv", "unmunge")
    with cluster.Cluster(3 if CASE == "stranger" else 4) as hosts:
        globals()[f"case_{CASE}"](hosts)


main()

#!/usr/bin/env python3
"""preload.py GDR WHOSE CASE SOCKET_CALLS: unmodified programs whose sockets are rsockets, by our
librspreload.so or by rdma-core's, over the software NIC, with what they carry compared.

They run in a network namespace, whose kernel counts TCP segments: it must count none but those that
a case allows. The last line of gdr run must tell of queue pairs on both sides."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(TESTS / "support")]
from two_hosts import Hosts, Skip, become_root  # noqa: E402
from two_programs import stop  # noqa: E402

RDMA_CORE = "/usr/lib/x86_64-linux-gnu/rsocket/librspreload.so"
LIMIT = 40  # seconds
PORT = "7707"
BY_NIC = re.compile(r"software NIC: opened soft0, \d+ queue pairs?, ([\d.]+) ([KMG]?i?B)")
SOCKPERF_REFUSED = "Can`t connect"
PACKAGES = {"nc": "netcat-openbsd", "redis-cli": "redis-tools", "tbench": "dbench",
            "NPtcp": "netpipe-tcp"}


class Failed(Exception):
    """What was wrong."""


def expect(condition, what):
    if not condition:
        raise Failed(what)


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            raise Skip(f"{program} is not installed (Debian: {PACKAGES.get(program, program)})")


class Place:
    """Programs in pairs on one host, or on two, and how they get the library."""

    def __init__(self, hosts, gdr, whose, folder):
        self.hosts, self.gdr, self.whose = hosts, gdr, whose
        self.folder = pathlib.Path(folder)
        self.address = hosts.address
        self.variables = {}
        self.running = []
        self.refused = 0
        self.client_side = 0

    def start(self, side, *words, library=None):
        library = library or self.whose
        run = [self.gdr, "run", "--soft-nic", "--no-soft-gpu"]
        command = {"ours": [*run, "--rsockets", "--", *words],
                   "rdma-core": [*run, "--", "env", f"LD_PRELOAD={RDMA_CORE}", *words],
                   "none": [*run, "--", *words]}[library]
        variables = [f"{name}={value}" for name, value in self.variables.items()]
        process = self.hosts.start(side, ["env", *variables, *map(str, command)])
        self.running.append(process)
        return process

    def serve(self, *words, **more):
        return self.start(0, *words, **more)

    def ask(self, *words, fails=False, refused=None, **more):
        """What a client says that ends well. Nothing shows that a server listens by RDMA, so a
        client that finds nobody is started again; `refused` is what it says then, where it ends
        with 0."""
        end = time.monotonic() + 10
        while True:
            client = self.start(self.client_side, *words, **more)
            said = client.communicate(timeout=LIMIT)[0]
            found = client.returncode == 0 and not (refused and refused in said)
            if fails or found or time.monotonic() > end:
                break
            self.refused += 1
            time.sleep(0.2)
        expect(fails or client.returncode == 0,
               f"{words}: exit status {client.returncode}: {said}")
        return said

    def end_of(self, server, patience=10):
        """What a server said that ends by itself."""
        said = server.communicate(timeout=patience)[0]
        expect(server.returncode == 0, f"the server ended with {server.returncode}: {said}")
        return said

    def close(self):
        for process in self.running:
            stop(process)

    def tell(self):
        """What those said that still run when a case has failed."""
        for process in self.running:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                print(f"--- {process.args}\n{process.stdout.read()}")

    def expect_by_nic(self, said, least=1):
        """`least` bytes at least, as gdr run counts them."""
        found = BY_NIC.search(said)
        expect(found, f"not over the NIC: {said}")
        unit = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}[found[2]]
        expect(float(found[1]) * unit * 1.1 >= least, f"not all by NIC, of {least}: {found[0]}")

    def expect_segments(self, most):
        """Beside those of clients that found nobody, and tried again by TCP."""
        most += 8 * self.refused
        for side in (0, 1):
            count = self.hosts.tcp_segments(side)
            expect(count <= most, f"{count} TCP segments, not {most} at most")

    def random_file(self, size):
        path = self.folder / "sent"
        path.write_bytes(os.urandom(size))
        return path


def same(first, second):
    expect(first.read_bytes() == second.read_bytes(), f"{second.name} is not what was sent")


def socket_calls(place, program):
    """The same checks over the kernel's TCP, then over RDMA, also where processes fork."""
    natively = place.ask(program, place.address, library="none")
    expect("every check held" in natively, natively)
    by_kernel = place.hosts.tcp_segments(0)
    expect(by_kernel > 100, f"the kernel counts {by_kernel} TCP segments only")
    for path in ("auto", "packets"):
        place.variables["GDR_SOFT_PATH"] = path
        said = place.ask(program, place.address)
        expect("every check held" in said, said)
        place.expect_by_nic(said, 1 << 20)
    # Connections that nobody takes, or who has no rsockets, are tried once more by TCP.
    by_tcp_each = 25
    place.expect_segments(by_kernel + 2 * by_tcp_each)
    place.variables["RDMAV_FORK_SAFE"] = "1"
    said = place.ask(program, place.address)
    expect("every check held" in said, said)
    place.expect_by_nic(said, 1 << 20)
    # Connecting takes some; the bytes would be more than these have room for.
    place.expect_segments(by_kernel + 3 * by_tcp_each + 14 * 12)


def netcat(place, _):
    """A server that waits by poll(), and half closes."""
    need("nc")
    sent, got = place.random_file(3_000_000), place.folder / "got"
    server = place.serve("sh", "-c", f"exec nc -l {place.address} {PORT} >{got}")
    said = place.ask("sh", "-c", f"exec nc -N {place.address} {PORT} <{sent}")
    heard = place.end_of(server)
    same(sent, got)
    place.expect_by_nic(said, sent.stat().st_size)
    place.expect_by_nic(heard)
    place.expect_segments(0)


def curl(place, _):
    """A server of threads, and a client that connects without waiting."""
    need("curl")
    sent, got = place.random_file(2_000_000), place.folder / "got"
    server = place.serve("/usr/bin/python3", "-m", "http.server", "-b", place.address, "-d",
                         place.folder, PORT)
    said = place.ask("curl", "-sS", "-o", got, f"http://{place.address}:{PORT}/{sent.name}")
    same(sent, got)
    place.expect_by_nic(said)
    expect(server.poll() is None, "the server ended")
    # A client without the library finds nobody.
    said = place.ask("curl", "-sS", f"http://{place.address}:{PORT}/", library="none", fails=True)
    expect("Failed to connect" in said, said)
    place.expect_segments(4)


def redis(place, _):
    """A server that waits by epoll, and clients that do."""
    need("redis-server", "redis-cli", "redis-benchmark")
    value = place.folder / "value"
    value.write_bytes(os.urandom(100_000).hex().encode())
    where = ("-h", place.address, "-p", PORT)
    server = place.serve("redis-server", "--bind", place.address, "--port", PORT, "--save", "",
                         "--appendonly", "no", "--protected-mode", "no", "--dir", place.folder)
    said = place.ask("sh", "-c", f"exec redis-cli {' '.join(where)} -x set big <{value}")
    expect("OK" in said, said)
    place.expect_by_nic(said, value.stat().st_size)
    said = place.ask("redis-cli", *where, "get", "big")
    expect(value.read_text() in said, "the value came back changed")
    said = place.ask("redis-benchmark", *where, "-q", "-n", "500", "-c", "20", "-t", "set,lpush")
    place.expect_by_nic(said)
    expect("LPUSH: " in said, said)
    expect(server.poll() is None, "the server ended")
    # redis-cli tries twice itself, and ends well if the server has come up in between: two segments
    # of the first attempt, by TCP, which was refused, too.
    place.expect_segments(2)


def iperf3(place, _):
    """A server that waits by select(). What -F sends iperf3 itself mixes up where a send takes a
    part (over TCP, too, with -w 20000), so it counts bytes here and others compare them."""
    need("iperf3")
    server = place.serve("iperf3", "-s", "-1", "-B", place.address, "-p", PORT, "-J")
    said = place.ask("iperf3", "-c", place.address, "-p", PORT, "-n", "20M", "-i", "0", "-P", "2")
    heard = place.end_of(server)
    received = json.loads(heard[heard.index("{"):heard.rindex("}") + 1])["end"]["sum_received"]
    # The client ends the test when it has sent all, read or not.
    expect(received["bytes"] > 19 << 20, f"{received} of 20 MiB")
    place.expect_by_nic(said, 20 << 20)
    place.expect_by_nic(heard)
    place.expect_segments(0)


def netpipe(place, _):
    """Blocking programs that compare every byte themselves."""
    need("NPtcp")
    words = ("NPtcp", "-i", "-u", "20000", "-n", "5", "-o", place.folder / "figures")
    server = place.serve(*words)
    said = place.ask(*words, "-h", place.address)
    expect("Integrity check passed" in said and "ailed" not in said, said)
    place.expect_by_nic(said, 100_000)
    place.expect_by_nic(place.end_of(server))
    place.expect_segments(0)


def expect_sockperf(said):
    """How many messages came back, each of them compared."""
    total = re.search(r"Total Run.*SentMessages=(\d+); ReceivedMessages=(\d+)", said)
    # Some thousands on an idle machine.
    expect(total and int(total[2]) > 5 and int(total[1]) - int(total[2]) < 10, said)
    expect("# dropped messages = 0; # duplicated messages = 0; # out-of-order messages = 0" in said,
           said)
    return int(total[2])


def sockperf(place, _):
    """Datagrams."""
    need("sockperf")
    where = ("-i", place.address, "-p", PORT)
    server = place.serve("sockperf", "sr", *where)
    said = place.ask("sockperf", "pp", *where, "-t", "1", "-m", "700", "--data-integrity",
                     refused=SOCKPERF_REFUSED)
    count = expect_sockperf(said)
    place.expect_by_nic(said, count * 700)
    expect(server.poll() is None, "the server ended")
    expect(place.hosts.udp_datagrams(0) < count / 2, "they went by the kernel's UDP")


def sockperf_streams(place, _):
    """Several connections, waited for by select, poll and epoll, which rdma-core 44 has none of."""
    need("sockperf")
    ports = place.folder / "ports"
    for number, way in enumerate("spe" if place.whose == "ours" else "sp"):
        ports.write_text("".join(f"T:{place.address}:{7800 + 10 * number + i}\n"
                                 for i in range(3)))
        server = place.serve("sockperf", "sr", "-f", ports, "-F", way)
        said = place.ask("sockperf", "pp", "-f", ports, "-F", way, "-t", "2", "-m", "7000",
                         "--data-integrity", refused=SOCKPERF_REFUSED)
        count = expect_sockperf(said)
        place.expect_by_nic(said, count * 7000)
        expect(server.poll() is None, "the server ended")
    place.expect_segments(0)


def forking_server(place, _):
    """A child for each connection, which is made by RDMA in the child."""
    place.variables["RDMAV_FORK_SAFE"] = "1"
    if place.whose == "rdma-core":
        return tbench(place)
    need("socat", "nc")
    sent = place.random_file(300_000)
    server = place.serve("socat", f"TCP4-LISTEN:{PORT},bind={place.address},fork,reuseaddr",
                         "EXEC:cat")
    wrong = place.hosts.wait_until_listens(int(PORT), server)
    expect(wrong is None, wrong)
    clients = [place.start(place.client_side, "sh", "-c",
                           f"exec nc -N {place.address} {PORT} <{sent} >{place.folder}/got{i}")
               for i in range(3)]
    for i, client in enumerate(clients):
        said = client.communicate(timeout=LIMIT)[0]
        expect(client.returncode == 0, said)
        same(sent, place.folder / f"got{i}")
        place.expect_by_nic(said, sent.stat().st_size)
    place.expect_segments(3 * 12)
    return None


def tbench(place):
    """Its server reads at once: rdma-core's library makes no connection while a server polls."""
    need("tbench")
    semaphore = pathlib.Path("/dev/shm/sem.rsocket_fork")
    if semaphore.exists():
        raise Skip(f"{semaphore} is there: another program's, or one's that was killed")
    try:
        server = place.serve("tbench_srv", place.address)
        wrong = place.hosts.wait_until_listens(7003, server)
        expect(wrong is None, wrong)
        said = place.ask("tbench", "-t", "1", "2", place.address)
        expect(re.search(r"Throughput [\d.]+ MB/sec  2 clients", said), said)
        place.expect_by_nic(said, 100_000)
        place.expect_segments(2 * 12)
    finally:
        semaphore.unlink(missing_ok=True)


def hosts(place, _):
    """Between two hosts, by packets."""
    place.client_side = 1
    iperf3(place, _)
    for side, counters in enumerate(place.hosts.take_counters(place.gdr)):
        expect(counters["packets_sent"] > 0, f"no packets have left side {side}")


def by_tcp(place, _):
    """What proves that the others go by RDMA fails where they go by TCP."""
    need("NPtcp")
    if place.whose == "ours":
        rules = place.folder / "rules"
        rules.write_text("another_program * * *\n")
        place.variables["GDR_RSPRELOAD_CONFIG"] = rules
    else:
        place.whose = "none"
    try:
        netpipe(place, _)
    except Failed as reason:
        expect("not over the NIC" in str(reason), str(reason))
    else:
        raise Failed("netpipe over TCP passed for one over RDMA")
    try:
        place.expect_segments(0)
    except Failed:
        return
    raise Failed("no TCP segment was counted")


def wrong_input(place, program):
    """Whatever configuration file and variables say, programs go on."""
    garbage = place.folder / "garbage"
    garbage.write_bytes(os.urandom(200_000) + b"\n\0 * * * *\n")
    fifo = place.folder / "fifo"
    os.mkfifo(fifo)
    for config in (garbage, fifo, place.folder, place.folder / "missing", ""):
        place.variables = {"GDR_RSPRELOAD_CONFIG": config, "RS_SQ_SIZE": "99999999999",
                           "RS_RQ_SIZE": "-7", "RS_INLINE": "many", "RDMAV_FORK_SAFE": "yes"}
        said = place.ask(program, place.address)
        expect("every check held" in said, f"{config}: {said}")


CASES = {case.__name__: case for case in (socket_calls, netcat, curl, redis, iperf3, netpipe,
                                          sockperf, sockperf_streams, forking_server, hosts, by_tcp,
                                          wrong_input)}


def main():
    gdr, whose, case, program = sys.argv[1:]
    if whose == "rdma-core" and not os.path.exists(RDMA_CORE):
        raise Skip("no librspreload.so of rdma-core's (Debian: librdmacm1)")
    become_root()
    with Hosts() as two, tempfile.TemporaryDirectory() as folder:
        place = Place(two, os.path.abspath(gdr), whose, folder)
        try:
            CASES[case](place, os.path.abspath(program))
        except (Failed, subprocess.TimeoutExpired) as wrong:
            print(f"FAILED: {case}, librspreload.so of {whose}: {wrong}")
            place.tell()
            return 1
        finally:
            place.close()
    print(f"{case}: as over TCP, librspreload.so of {whose}")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Skip as reason:
        print(f"skipped: {reason}")
        sys.exit(77)

"""attacks.py GDR: what a stranger at the port of `gdr perf --server` can have it do: send to an address that takes no part, measure for ever, keep others waiting; and who is let in."""
import atexit
import contextlib
import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import raw_perf  # noqa: E402
from perf_program import QUICK, Perf, main, processor_seconds, require  # noqa: E402
from raw_perf import Client, Place  # noqa: E402
from two_programs import free_port, stop  # noqa: E402

# A folder of its own: else the server meets whatever runs on the software NIC beside the test, and the
# addresses that it has grow and shrink with that.
os.environ["XDG_RUNTIME_DIR"] = tempfile.mkdtemp(prefix="gdr-attacks-")
atexit.register(shutil.rmtree, os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)
PERF = Perf(sys.argv[1])
LARGEST = (1 << 64) - 1
SOON = 20  # seconds
NO_PROOF = "this destination has not answered a probe"


@contextlib.contextmanager
def serving(*options):
    """Its port; it must end by itself when it is interrupted, before any of a session's own limits (20 s)."""
    port = free_port()
    server = PERF.server(port, *options)
    try:
        yield port, server
        server.send_signal(signal.SIGINT)
        began = time.monotonic()
        said = server.communicate(timeout=100)[0]
        require(server.returncode == 0 and time.monotonic() - began < SOON, "it did not end:", said)
    finally:
        stop(server)
    PERF.leaves_nothing_behind()


def serves(port, *options):
    """And in the time that a session's limits would take, if somebody else's were waited for."""
    began = time.monotonic()
    row, = PERF.rows("127.0.0.1", "--port", str(port), *QUICK, "--sizes", "64", "--measure", "bandwidth", *options)
    require(not row["problem"], row)
    require(time.monotonic() - began < SOON, "kept waiting")


def an_address_that_takes_no_part_gets_six_small_datagrams():
    with Place() as place, serving() as (port, _):
        for transport, operation in ((raw_perf.UC, raw_perf.WRITE), (raw_perf.UD, raw_perf.SEND),
                                     (raw_perf.RC, raw_perf.WRITE)):
            with Client(port) as client:
                require(client.begin() == "", "begin")
                wrong, _ = client.set_up(transport=transport, operation=operation, both_ways=True)
                require(wrong == "", wrong)
                require(client.connect(place.gid) == NO_PROOF, "connected")
                for _ in range(6):
                    require(client.probe(place.gid) == "", "probe")
                require(client.probe(place.gid) == "an earlier probe was not answered", "probe")
                require(client.connect(place.gid) == "closed", "still there")
            packets = place.take(6)
            require(len(packets) == 6 and max(map(len, packets)) <= 100, [len(packet) for packet in packets])
        with Client(port) as client:
            require(client.begin() == "" and client.set_up()[0] == "" and client.probe(place.gid) == "", "probe")
            require(client.answer(*range(1, 5)) == "wrong answer to the probe", "guessed")
            require(client.probe(place.gid) == "closed", "still there")
        require(len(place.take(1)) == 1, "more than one probe")
        serves(port)


def a_stranger_who_comes_again_and_again_gets_no_more():
    with Place() as place, serving() as (port, _):
        began = time.monotonic()
        for _ in range(14):
            with Client(port) as client:
                require(client.begin() == "" and client.set_up()[0] == "", "begin")
                require(client.probe(place.gid) == "", "probe")
        seconds = time.monotonic() - began
        require(len(place.take(14)) == 14, "probes")
        require(seconds > 4, "14 probes nobody answered within", seconds)
        serves(port)


def who_is_there_gets_its_load():
    """And so the tests before would see one."""
    with Place() as place, serving() as (port, _):
        with Client(port) as client:
            require(client.begin() == "", "begin")
            wrong, _ = client.set_up(transport=raw_perf.UC, both_ways=True)
            require(wrong == "" and client.probe(place.gid) == "", wrong)
            require(client.answer(place.number()) == "", "the right answer")
            require(client.connect(place.gid) == "", "connect")
            require(client.connect(place.gid) != "", "connected twice")
            require(client.ask(raw_perf.start())[0] == "", "start")
            require(len(place.take(101)) > 100, "no load")
            require(client.ask(raw_perf.finish(0))[0] == "", "finish")
            # Proved for that place alone.
            require(client.set_up()[0] == "", "set up")
            elsewhere = place.gid[:-1] + b"\x43"
            require(client.connect(elsewhere) == NO_PROOF, "connected elsewhere")
        place.take()


def started(client, place, **more):
    require(client.begin() == "", "begin")
    wrong, _ = client.set_up(operation=raw_perf.SEND, **more)
    require(wrong == "" and client.probe(place.gid) == "", wrong)
    require(client.answer(place.number()) == "", "answer")
    require(client.connect(place.gid) == "", "connect")
    require(client.ask(raw_perf.start(seconds=600))[0] == "", "start")


def no_number_of_a_finish_holds_the_server():
    with Place() as place, serving() as (port, server):
        with Client(port) as client:
            started(client, place)
            wrong, _ = client.ask(raw_perf.finish(LARGEST))
            require(wrong == "the other side reports an impossible number of messages", wrong)
            wrong, _ = client.ask(raw_perf.finish())
            require(wrong == "the other side used a different number of queue pairs", wrong)
            client.send(raw_perf.finish(1 << 40))  # it waits for them, and sees that nobody is there
            time.sleep(0.3)
        serves(port)
        before = processor_seconds(server)
        time.sleep(1)
        require(processor_seconds(server) - before < 0.3, "busy with nothing")
        with Client(port) as client:  # interrupted in the middle of it
            started(client, place)
            client.send(raw_perf.finish(1 << 40))
            time.sleep(0.3)
            server.send_signal(signal.SIGINT)
            server.wait(timeout=SOON)


def a_plan_of_years_is_refused():
    with Place() as place, serving() as (port, _):
        with Client(port) as client:
            wrong = client.begin(seconds=10_000 * 24 * 3600)
            require("240000 h" in wrong and "ends a session after 1 h" in wrong, wrong)
        with Client(port) as client:
            started(client, place)
            require(client.ask(raw_perf.finish(0))[0] == "", "finish")
            for seconds, slices, wanted in ((24 * 3600 * 10_000, 10_000, "--duration must be at most a day"),
                                            (7200, 10, "a measurement of 2 h does not fit into a session of 1 h")):
                wrong, _ = client.ask(raw_perf.start(seconds=seconds, slices=slices))
                require(wanted in wrong, wrong)
    with serving("--session-limit", "1s") as (port, _):
        done = PERF.run("127.0.0.1", "--port", str(port), "--memory", "host", "--sizes", "64", "--duration", "5s")
        require(done.returncode == 1 and "the plan takes at least 10 s" in done.stderr, done.stderr)
        done = PERF.run("127.0.0.1", "--port", str(port), "--memory", "host", "--sizes", "64", "--iterations",
                        "4000000000", seconds=200)
        require(done.returncode == 1, done.returncode, done.stdout)
        require("this server ends a session after 1 s" in done.stderr, done.stderr)
        serves(port)


def who_says_nothing_keeps_nobody_waiting():
    with serving() as (port, _):
        with contextlib.ExitStack() as stack:
            for index in range(20):
                client = stack.enter_context(Client(port))
                if index % 3 > 0:
                    require(client.hello() == "", "hello")
                if index % 3 > 1:
                    require(client.challenge() == "", "challenge")
            serves(port)


def who_never_pauses_does_not_keep_the_server():
    for request, begun in ((raw_perf.framed(raw_perf.TEAR_DOWN), True), (raw_perf.HELLO_HERE, False)):
        with serving() as (port, server), Client(port) as client:
            require(not begun or client.begin() == "", "begin")
            with client.flood(request) as answered:
                end = time.monotonic() + 200
                while answered() < 50_000:  # bytes; of a message that waits to be read there are a few
                    require(time.monotonic() < end, "hardly a flood:", answered())
                    time.sleep(0.1)
                server.send_signal(signal.SIGINT)
                server.wait(timeout=SOON)


def who_measures_is_waited_for_and_then_told():
    with serving() as (port, _):
        with Client(port) as client:
            require(client.begin() == "", "begin")
            done = PERF.run("127.0.0.1", "--port", str(port), "--memory", "host", "--sizes", "64")
            require(done.returncode == 1, done.returncode, done.stdout)
            require("this server is measuring for another client; try again later" in done.stderr, done.stderr)
        serves(port)


def more_clients_than_there_is_room_for_are_told_so():
    with serving() as (port, _):
        with contextlib.ExitStack() as stack:
            crowd = [stack.enter_context(Client(port)) for _ in range(40)]
            kind, body = crowd[-1].receive()
            require(kind == raw_perf.FAILURE and b"already has 32 clients" in body, kind, body)
            end = time.monotonic() + 200
            while crowd[0].receive()[0] is not None:  # each is given ten seconds to say something
                require(time.monotonic() < end, "nobody is sent away")
        serves(port)


def others_hosts_are_let_in_by_name_only():
    def listens_on(server):
        found = set()
        for table in ("tcp", "tcp6"):
            with open(f"/proc/{server.pid}/net/{table}", encoding="ascii") as lines:
                found |= {line.split()[1].split(":")[0] for line in lines if f":{port:04X} " in line and " 0A " in line}
        return found

    local = {"0100007F", "00000000000000000000000001000000"}
    with serving() as (port, server):
        require(listens_on(server) and listens_on(server) <= local, listens_on(server))
    with serving("--listen", "127.0.0.2") as (port, server):
        require(listens_on(server) == {"0200007F"}, listens_on(server))
    with serving("--listen", "any") as (port, server):
        require(listens_on(server) <= {"0" * 8, "0" * 32}, listens_on(server))
        serves(port)


def a_secret_is_asked_for_and_never_said():
    with tempfile.TemporaryDirectory() as folder:
        paths = {name: os.path.join(folder, name) for name in ("right", "same", "wrong", "open")}
        for name, path in paths.items():
            with open(path, "w", encoding="ascii", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
                file.write("another long secret" if name == "wrong" else "a secret of some length\n")
        os.chmod(paths["open"], 0o644)
        with serving("--secret", paths["right"]) as (port, _):
            here = ("127.0.0.1", "--port", str(port), "--memory", "host", "--sizes", "64")
            serves(port, "--secret", paths["same"])
            for options, said in (((), "the server asks for a secret; give --secret FILE"),
                                  (("--secret", paths["wrong"]), "client and server have different secrets"),
                                  (("--secret", paths["open"]), "type: chmod 600")):
                done = PERF.run(*here, *options)
                require(done.returncode != 0 and said in done.stderr, options, done.stderr)
            with Client(port) as client:
                require(client.begin() == "begin came too early", "let in")
        with serving() as (port, _):
            done = PERF.run("127.0.0.1", "--port", str(port), "--secret", paths["right"])
            require("the server has no secret" in done.stderr, done.stderr)
        done = PERF.run("--server", "--secret", paths["open"], seconds=100)
        require(done.returncode == 1 and "type: chmod 600" in done.stderr, done.returncode, done.stderr)


def address_space(server):
    with open(f"/proc/{server.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def wait_until_at_rest(server):
    """Until neither threads nor memory come and go: what it may have besides is then what a test leaves it."""
    end = time.monotonic() + 200
    seen = []
    while len(seen) < 5 or len(set(seen[-5:])) > 1:
        require(time.monotonic() < end, "threads and bytes:", seen)
        seen.append((len(os.listdir(f"/proc/{server.pid}/task")), address_space(server)))
        time.sleep(0.2)


@contextlib.contextmanager
def short_of_memory(server, left):
    """Its address space may grow by so many bytes only."""
    used = address_space(server)
    before = resource.prlimit(server.pid, resource.RLIMIT_AS)
    resource.prlimit(server.pid, resource.RLIMIT_AS, (used + left, before[1]))
    try:
        yield
    finally:
        resource.prlimit(server.pid, resource.RLIMIT_AS, before)


def who_gets_no_thread_is_told_and_the_next_is_served():
    with serving() as (port, server):
        serves(port)
        wait_until_at_rest(server)
        with contextlib.ExitStack() as stack, short_of_memory(server, 1 << 20):
            # Stacks of threads that have ended are kept for the next, up to 40 MiB of them. All come at
            # once: who says nothing is let go after a while, and its thread is the next one's.
            clients = [stack.enter_context(Client(port)) for _ in range(24)]
            answers = [client.receive() for client in select.select(clients, [], [], 20)[0]]
        require(all(kind == raw_perf.FAILURE for kind, _ in answers), "the server is gone", answers)
        told = [body[8:].decode() for _, body in answers]
        require(any(line.startswith("a thread cannot be started") for line in told), told)
        serves(port)


HUGE = 64 << 20  # larger than what malloc() keeps
NO_MEMORY = "memory that is needed cannot be had"


def who_needs_more_memory_than_there_is_is_told_and_the_next_is_served():
    """With --check: before a row begins, and in the middle of it."""
    with Place() as place, serving() as (port, server):
        with Client(port) as client:
            require(client.begin() == "", "begin")
            for request, before in ((raw_perf.start(size=HUGE), None),
                                    (raw_perf.window(raw_perf.FILL), raw_perf.start(seconds=600, size=HUGE))):
                wrong, _ = client.set_up(operation=raw_perf.SEND, check=True, largest=HUGE)
                require(wrong == "" and client.probe(place.gid) == "", wrong)
                require(client.answer(place.number()) == "" and client.connect(place.gid) == "", "connect")
                require(before is None or client.ask(before)[0] == "", "start")
                with short_of_memory(server, 32 << 20):
                    wrong, _ = client.ask(request)
                require(wrong.startswith(NO_MEMORY), wrong)
            require(client.ask(raw_perf.finish(0))[0] == "finish came too early", "the row goes on")
        serves(port)


def row_of_two_threads_with_memory_for_one():
    """What the server says at its end."""
    with Place() as place, serving() as (port, server):
        with Client(port) as client:
            require(client.begin() == "", "begin")
            wrong, _ = client.set_up(operation=raw_perf.SEND, check=True, largest=HUGE, threads=2)
            require(wrong == "" and client.probe(place.gid) == "", wrong)
            require(client.answer(place.number()) == "" and client.connect(place.gid, threads=2) == "", "connect")
            wait_until_at_rest(server)
            with short_of_memory(server, (2 * HUGE) * 3 // 2):  # what one of both takes
                require(client.ask(raw_perf.start(seconds=600, size=HUGE))[0] == "", "start")
                wait_until_at_rest(server)
                wrong, said = client.ask(raw_perf.finish(0, 0))
            require(wrong == "", wrong)
        serves(port)
    return said


def a_thread_that_gets_no_memory_ends_its_row_alone():
    """On a busy machine one may have ended, and given back, before the other begins: then once more."""
    for _ in range(4):
        said = row_of_two_threads_with_memory_for_one()
        if NO_MEMORY.encode() in said:
            return
    require(False, said[-200:])


def is_sanitized():
    """Sanitizers reserve address space of their own, and end a process that gets no memory."""
    with open(PERF.gdr, "rb") as file:
        program = file.read()
    return b"__asan_init" in program or b"__tsan_init" in program


def a_client_can_be_interrupted_whatever_the_server_does():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = subprocess.Popen(PERF.command("127.0.0.1", "--port", str(silent.getsockname()[1])),
                                  env=PERF.environment(), stderr=subprocess.PIPE, text=True)
        try:
            connection, _ = silent.accept()
            with connection:
                time.sleep(0.3)
                client.send_signal(signal.SIGINT)
                said = client.communicate(timeout=100)[1]
        finally:
            client.kill()
            client.wait()
    require(client.returncode == 1 and said == "gdr perf: interrupted\n", client.returncode, said)


TESTS = [an_address_that_takes_no_part_gets_six_small_datagrams, a_stranger_who_comes_again_and_again_gets_no_more,
         who_is_there_gets_its_load, no_number_of_a_finish_holds_the_server, a_plan_of_years_is_refused,
         who_says_nothing_keeps_nobody_waiting, who_never_pauses_does_not_keep_the_server,
         who_measures_is_waited_for_and_then_told, more_clients_than_there_is_room_for_are_told_so,
         others_hosts_are_let_in_by_name_only, a_secret_is_asked_for_and_never_said,
         a_client_can_be_interrupted_whatever_the_server_does]
WITH_LITTLE_MEMORY = [who_gets_no_thread_is_told_and_the_next_is_served,
                      who_needs_more_memory_than_there_is_is_told_and_the_next_is_served,
                      a_thread_that_gets_no_memory_ends_its_row_alone]

if __name__ == "__main__":
    if is_sanitized():
        print("skipped with a sanitizer, which cannot live with bounded address space:",
              *(test.__name__ for test in WITH_LITTLE_MEMORY))
        sys.exit(main(TESTS))
    sys.exit(main(TESTS + WITH_LITTLE_MEMORY))

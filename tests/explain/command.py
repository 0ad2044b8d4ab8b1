#!/usr/bin/env python3
"""command.py GDR: what `gdr explain` reads, prints and refuses."""
import json
import os
import pty
import random
import select
import subprocess
import sys
import tempfile
import time

GDR = sys.argv[1]
REFUSED = b"Couldn't allocate MR with error=14\n"
SITE = """title: The switch said no
sure: certain
texts
  our switch said no
cause
  It is ours.
leads to
  Nothing.
fix now
  - ask us
sources
  https://example.org/ours (cause and fix)
"""


def explain(*arguments, text=b"", **options):
    return subprocess.run([GDR, "explain", *arguments], input=text, timeout=60, capture_output=True,
                          check=False, **options)


def expect(done, status, *words, error=None):
    assert done.returncode == status, (done.returncode, done.stdout[:2000], done.stderr[:2000])
    for word in words:
        assert word.encode() in done.stdout, (word, done.stdout[:4000])
    lines = done.stderr.decode().splitlines()
    assert len(lines) == (0 if error is None else 1), lines
    if error is not None:
        assert error in lines[0], lines


def reads_a_file_and_standard_input(folder):
    path = os.path.join(folder, "run.log")
    with open(path, "wb") as log:
        log.write(b"first\n" + REFUSED)
    expect(explain("--no-check", path), 0, f"{path}: 1 symptom in 2 lines\n", "line 2: Couldn't",
           "sudo modprobe nvidia-peermem", "gdr doctor --explain ")
    expect(explain("--no-check", text=REFUSED), 0, "standard input: 1 symptom in 1 line\n")
    expect(explain("--no-check", "-", text=REFUSED), 0, "standard input: 1 symptom")


def says_what_an_unknown_text_is(folder):
    expect(explain(text=b"all is well\n"), 1,
           "standard input: no known error in 1 line. To check this host: gdr doctor\n")
    expect(explain(text=b""), 1, "no known error in 0 lines")
    path = os.path.join(folder, "nccl.log")
    with open(path, "wb") as log:
        log.write(b"node1:5:5 [0] NCCL INFO Connected all rings\n")
    expect(explain(path), 1, f"'gdr nccl check {path}' judges each connection")


def leads_to_the_examination_of_mpi():
    line = "'gdr mpi check' tells what each MPI of this host does with GPU memory"
    expect(explain("--no-check", "selected pml ucx, but peer [[1,1],0] on n1 selected pml ob1"), 0,
           "mpi-transports-differ", "gdr mpi check")
    expect(explain("--no-check", "UCX ERROR: could not find a lane to send CONN"), 0,
           "ucx-unreachable", line)
    assert b"gdr mpi check" not in explain("--no-check", REFUSED.decode()).stdout


def takes_a_text_that_is_no_file(folder):
    expect(explain("--no-check", REFUSED.decode()), 0, "the text given: 1 symptom in 1 line\n",
           "mr-bad-address")
    expect(explain("--no-check", "NIXL_ERR_BACKEND"), 0, "nixl-error")
    expect(explain("--no-check", "first line\nibv_reg_mr failed"), 0, "line 2: ibv_reg_mr failed")
    # Longer than any file's name, and with what a path could have.
    expect(explain("--no-check", "see /a/b: " * 1000 + REFUSED.decode()), 0, "mr-bad-address")
    expect(explain("all is well"), 1, "the text given: no known error in 1 line")
    path = os.path.join(folder, "a file with spaces")
    with open(path, "wb") as log:
        log.write(REFUSED)
    expect(explain("--no-check", path), 0, f"{path}: 1 symptom in 1 line\n")


def says_what_the_connections_of_an_nccl_log_say():
    text = (b"n:5:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0\n"
            b"n:5:9 [0] NCCL INFO Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0\n")
    expect(explain("--no-check", text=text), 1, "NO GDRDMA: 0 of 2 network connections", "  why  ")
    document = json.loads(explain("--no-check", "--json", text=text).stdout)
    assert document["connections"]["network"] == 2 and document["symptoms"] == [], document
    assert json.loads(explain("--no-check", "--json", text=REFUSED).stdout)["connections"] is None


def names_another_topic_as_such():
    text = b"[ 94.5] NVRM: Xid (PCI:0000:08:00): 31, Ch 00000001\n"
    expect(explain("--no-check", text=text), 0, "gpu-program-fault", "this is not GPUDirect RDMA")
    assert json.loads(explain("--no-check", "--json", text=text).stdout)["symptoms"][0]["other_topic"]


def gives_commands_unbroken_in_a_terminal():
    leader, follower = pty.openpty()
    done = subprocess.Popen([GDR, "explain", "--no-check", "ibv_create_qp failed"], stdout=follower,
                            env={**os.environ, "COLUMNS": "40"})
    os.close(follower)
    shown = b""
    try:
        while piece := os.read(leader, 65536):
            shown += piece
    except OSError:  # the other end is closed
        pass
    done.wait(timeout=30)
    os.close(leader)
    listed = json.loads(explain("--symptom", "qp-not-created", "--json").stdout)
    lines = [line.strip() for line in shown.decode().splitlines()]
    for command in listed["symptoms"][0]["fix"]["commands_now"]:
        assert command in lines, (command, lines)


def points_to_the_deeper_answer_for_nccl():
    text = b"node1:5:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n"
    expect(explain("--no-check", text=text), 0, "nccl-no-peer-memory", "gdr nccl check FILE")


def confirms_it_on_a_machine(folder):
    limits = os.path.join(folder, "proc", "self")
    os.makedirs(limits)
    with open(os.path.join(limits, "limits"), "w", encoding="ascii") as file:
        file.write("Max locked memory         65536                65536                bytes\n")
    text = b"Couldn't allocate MR with error=12\n"
    done = explain("--root", folder, text=text)
    expect(done, 0, "'here' shows what gdr doctor found on the captured machine " + folder,
           "here       fail     locked-memory: this process: locked memory: 64 KiB")
    assert b"gdr doctor --explain" not in done.stdout
    document = json.loads(explain("--root", folder, "--json", text=text).stdout)
    checks = {check["id"]: check["outcome"] for check in document["symptoms"][0]["checks"]}
    assert checks == {"locked-memory": "fail", "gpu-bar1": None}, checks
    assert json.loads(explain("--no-check", "--json", text=text).stdout)["symptoms"][0]["checks"] == []
    # This machine, whatever it is.
    expect(explain(text=text), 0, "'here' shows what gdr doctor found on ", "here   ")


def writes_json():
    done = explain("--no-check", "--json", text=REFUSED)
    expect(done, 0)
    document = json.loads(done.stdout)
    assert document["schema"] == "gdr.explain/1" and document["symptoms"][0]["id"] == "mr-bad-address", document
    done = explain("--json", text=b"nothing\n")
    expect(done, 1)
    assert json.loads(done.stdout)["symptoms"] == []


class Slowly:
    """A program that reads what comes slowly, and what it writes meanwhile to a terminal, or to a pipe."""

    def __init__(self, *words, terminal):
        self.leader, follower = pty.openpty() if terminal else os.pipe()
        self.shown = b""
        self.program = subprocess.Popen([GDR, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                        stderr=follower, env={**os.environ, "TERM": "xterm"})
        os.close(follower)

    def feed(self, text):
        self.program.stdin.write(text)
        self.program.stdin.flush()
        while self.leader is not None and select.select([self.leader], [], [], 0)[0]:
            self.shown += os.read(self.leader, 65536)

    def lose_terminal(self):
        os.close(self.leader)
        self.leader = None

    def end_without_terminal(self):
        self.program.stdin.close()
        return self.program.wait(timeout=60)

    def end(self):
        self.program.stdin.close()
        try:
            while piece := os.read(self.leader, 65536):
                self.shown += piece
        except OSError:  # the other end is closed
            pass
        os.close(self.leader)
        assert self.program.wait(timeout=60) == 1, self.program.returncode
        return self.shown


def says_on_a_terminal_how_far_it_is():
    checks = Slowly("nccl", "check", "-", terminal=True)
    explains = Slowly("explain", "--no-check", terminal=True)
    is_silent = Slowly("explain", "--no-check", terminal=False)
    latest = time.monotonic() + 60
    while not (checks.shown and explains.shown) and time.monotonic() < latest:
        for program in (is_silent, checks, explains):
            program.feed(b"n:5:9 [0] NCCL INFO Connected all rings\n")
        time.sleep(0.05)
    for program, name in ((checks, b"nccl check"), (explains, b"explain")):
        shown = program.end()
        assert shown.startswith(b"\r\x1b[Kgdr " + name + b": read "), shown
        assert shown.endswith(b"\r\x1b[K"), shown
    assert is_silent.end() == b""


def goes_on_without_its_terminal():
    explains = Slowly("explain", "--no-check", terminal=True)
    latest = time.monotonic() + 60
    while not explains.shown and time.monotonic() < latest:
        explains.feed(b"nothing\n")
        time.sleep(0.05)
    assert explains.shown
    explains.lose_terminal()
    last = time.monotonic() + 1.5  # time for the line to be written once more
    while time.monotonic() < last:
        explains.feed(b"nothing\n")
        time.sleep(0.05)
    assert explains.end_without_terminal() == 1  # no known error


def shows_one_symptom_and_all():
    expect(explain("--symptom", "acs-redirect"), 0, "Access Control Services", "possible",
           "https://docs.nvidia.com/")
    expect(explain("--list"), 0, "mr-bad-address", "NCCL\n", "containers, Kubernetes\n")
    document = json.loads(explain("--symptom", "acs-redirect", "--json").stdout)
    assert [symptom["id"] for symptom in document["symptoms"]] == ["acs-redirect"]


def searches_by_words():
    expect(explain("--search", "locked memory limits"), 0, "Nearest by their words", "locked-memory")
    expect(explain("--search", "xyzzy plugh"), 1, "No symptom has these words.")
    document = json.loads(explain("--search", "locked memory limits", "--json").stdout)
    assert "locked-memory" in [symptom["id"] for symptom in document["symptoms"]], document
    expect(explain("--no-check", text=b"memory cannot be locked, limit too low here"), 1,
           "no known error in 1 line", "Guesses, by its words alone", "locked-memory")


def knows_symptoms_of_a_site():
    with tempfile.TemporaryDirectory() as site:
        os.mkdir(os.path.join(site, "nccl"))
        with open(os.path.join(site, "nccl", "our-switch.txt"), "w", encoding="utf-8") as file:
            file.write(SITE)
        expect(explain("--check-symptoms", site), 0, "1 symptom, and nothing is wrong with them")
        expect(explain("--symptoms", site, "--no-check", text=b"our switch said no\n"), 0,
               "The switch said no", site, "ask us")
        expect(explain("--symptoms", site, "--no-check", text=b"soft RLIMIT_MEMLOCK is 1\n"), 0,
               "locked-memory")
        os.mkfifo(os.path.join(site, "nccl", "pipe.txt"))
        os.symlink("/dev/zero", os.path.join(site, "nccl", "zero.txt"))
        expect(explain("--check-symptoms", site), 1, "nccl/pipe.txt", "nccl/zero.txt")


def refuses_wrong_use(folder):
    expect(explain("--symptom", "nonsense"), 2, error="unknown symptom 'nonsense'; 'gdr explain --list'")
    expect(explain(os.path.join(folder, "absent")), 2, error="No such file or directory")
    expect(explain(folder), 2, error="Is a directory")
    expect(explain("--list", "--symptom", "acs-redirect"), 2, error="--symptom")
    expect(explain("--list", "a.log"), 2, error="FILE does not work with --list, --symptom, ")
    expect(explain("--check-symptoms", folder), 1, "not CHAPTER/ID.txt")
    expect(explain("--symptoms", folder, "--list"), 2, error="--check-symptoms")
    expect(explain("--frobnicate"), 2, error="--frobnicate")
    expect(explain("a", "b"), 2, error="b")
    expect(explain("train.log"), 2, error="train.log: No such file or directory")
    leader, follower = pty.openpty()
    done = subprocess.run([GDR, "explain"], stdin=follower, capture_output=True, timeout=30,
                          check=False)
    os.close(leader)
    os.close(follower)
    expect(done, 2, error="nothing to read; give a FILE or a TEXT")


def says_so_when_nothing_can_be_written():
    with open("/dev/full", "wb") as full:
        done = subprocess.run([GDR, "explain", "--no-check"], input=REFUSED, stdout=full, timeout=30,
                              stderr=subprocess.PIPE, check=False)
    assert done.returncode == 1 and b"cannot write to standard output" in done.stderr, done


def takes_any_bytes_and_prints_none_of_them_raw():
    random.seed(1)
    garbage = random.randbytes(3_000_000)
    done = explain("--no-check", text=garbage)
    assert done.returncode in (0, 1), done
    hostile = b"\x1b]0;title\x07\x9b31m Port number 1 state is Down \x1b[2J\xff\xfe\n"
    done = explain("--no-check", text=garbage + b"\n" + hostile)
    expect(done, 0, "port-not-active")
    assert b"\x1b" not in done.stdout and b"\x07" not in done.stdout and b"\xff" not in done.stdout
    json.loads(explain("--no-check", "--json", text=garbage + b"\n" + hostile).stdout)


# Processor time, since a machine that runs other tests meanwhile makes only the clock slower. Alone
# it takes half a second.
MOST_SECONDS = 15
MOST_MEMORY = 16 << 20  # more than a short text takes


# Looks like the beginning of one of NCCL's messages wherever one looks.
REPEATED = b"node1:5:9 [0] NCCL INFO " + b"NET/IBGot GGGG" * 1150 + b"\n"


def used_by(*arguments):
    """Seconds of processor time, and bytes of memory at most, of one run that finds a fault."""
    with subprocess.Popen([GDR, "explain", "--no-check", *arguments], stdout=subprocess.PIPE) as program:
        said = program.stdout.read()
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
    assert program.returncode == 0 and b"mr-bad-address" in said, (program.returncode, said[:2000])
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024


def reads_much_in_little_memory_and_time(folder):
    line = b"node1:5:9 [0] NCCL INFO Channel 00/0 : 0[0] -> 8[0] [send] via NET/IB/0/GDRDMA\n"
    path = os.path.join(folder, "long.log")
    with open(path, "wb") as log:
        for _ in range(50):
            log.write(line * ((1 << 20) // len(line)))
        log.write(REPEATED * ((20 << 20) // len(REPEATED)))
        log.write(b"x" * (5 << 20) + b"\n" + REFUSED)
    seconds, memory = used_by(path)
    assert 0 < seconds < MOST_SECONDS, seconds
    _, least = used_by(REFUSED.decode())
    assert memory < least + MOST_MEMORY, (memory, least)
    print(f"75 MB in {seconds:.2f} s of processor time, {memory >> 20} MB of memory")


with tempfile.TemporaryDirectory() as folder:
    reads_a_file_and_standard_input(folder)
    says_what_an_unknown_text_is(folder)
    takes_a_text_that_is_no_file(folder)
    says_what_the_connections_of_an_nccl_log_say()
    names_another_topic_as_such()
    gives_commands_unbroken_in_a_terminal()
    points_to_the_deeper_answer_for_nccl()
    leads_to_the_examination_of_mpi()
    confirms_it_on_a_machine(folder)
    writes_json()
    says_on_a_terminal_how_far_it_is()
    goes_on_without_its_terminal()
    shows_one_symptom_and_all()
    searches_by_words()
    knows_symptoms_of_a_site()
    refuses_wrong_use(folder)
    says_so_when_nothing_can_be_written()
    takes_any_bytes_and_prints_none_of_them_raw()
    reads_much_in_little_memory_and_time(folder)
print("ok")

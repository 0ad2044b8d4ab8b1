#!/usr/bin/env python3
"""check.py GDR LOGS: gdr nccl check, its exit status, its JSON document and hostile input."""

import json
import pathlib
import re
import resource
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gdr_program import expect, expect_refused, expect_told_of_full_disk, run

logs = pathlib.Path(sys.argv[2])


def check(*words, data=None, **more):
    return run("nccl", "check", *words, text=False, input=data, timeout=600, **more)


def processor_time():
    """Of programs that have ended: their own, however busy the machine is."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def refused(words, part, **more):
    expect_refused(["nccl", "check", *words], part, **more)


def exit_statuses():
    for name, gdrdma, local, any_ in [
        ("v2_28_gdrdma", 0, 1, 0),
        ("v2_27_read", 1, 1, 0),
        ("v2_18_ib_disabled", 1, 1, 0),
        ("v2_28_inside_host", 1, 0, 0),
        ("v2_28_lazy", 1, 1, 1),
    ]:
        log = logs / f"{name}.log"
        for expectation, status in [("gdrdma", gdrdma), ("local", local), ("any", any_)]:
            found = check("--expect", expectation, log).returncode
            expect(found == status, f"{name} --expect {expectation}: {found}, not {status}")


def standard_input():
    log = logs / "v2_28_gdrdma.log"
    expect(check("-", data=log.read_bytes()).stdout == check(log).stdout, "- differs from the file")
    refused(["-"], "standard input: no NCCL output found in 0 lines", input="")


def refusals(work):
    text = work / "other.txt"
    text.write_text("epoch 1\nloss 0.5\nexport NCCL_DEBUG=INFO\n")
    refused([text], f"{text}: no NCCL output found in 3 lines; run the program with NCCL_DEBUG=")
    refused([work / "missing"], "missing: No such file or directory")
    refused([work], "Is a directory")
    refused([], "FILE is required")
    refused(["--expect", "luck", text], "unknown expectation 'luck'; allowed: gdrdma, local")
    refused(["--expect", "", text], "--expect: the value is empty")
    refused(["--jsn", text], "unknown option '--jsn'; did you mean '--json'?")


# The fields of docs/nccl.md, and no others.
FIELDS = {
    "": "schema tool version commit host date verdict expected met exit_status counts causes also log connections "
    "connections_left_out",
    "counts": "connections network gdrdma plain uncertain p2p shared_memory other",
    "log": "lines messages warnings version ranks hosts processes networks settings devices",
    "cause": "id what evidence next note",
    "evidence": "line text times",
    "device": "host plugin name gdr evidence",
    "connection": "channel index from to direction transport kind device gdrdma times",
}


def expect_fields(entry, kind, name):
    expect(list(entry) == FIELDS[kind].split(), f"{name}: {kind or 'document'} has {list(entry)}")


def json_documents():
    for log in sorted(logs.glob("*.log")):
        done = check("--json", log)
        document = json.loads(done.stdout)
        expect(document["exit_status"] == done.returncode, f"{log.name}: exit_status")
        expect(document["met"] == (done.returncode == 0), f"{log.name}: met")
        expect_fields(document, "", log.name)
        expect_fields(document["counts"], "counts", log.name)
        expect_fields(document["log"], "log", log.name)
        lines = log.read_bytes().count(b"\n") + (not log.read_bytes().endswith(b"\n"))
        expect(document["log"]["lines"] == lines, f"{log.name}: {document['log']['lines']} lines")
        for cause in document["causes"] + document["also"]:
            expect_fields(cause, "cause", log.name)
            expect(cause["next"], f"{log.name}: nothing to type for {cause['id']}")
            if cause["evidence"]:
                expect_fields(cause["evidence"], "evidence", log.name)
                line = log.read_text().split("\n")[cause["evidence"]["line"] - 1]
                expect(cause["evidence"]["text"] in line, f"{log.name}: not in its line: {cause}")
        for device in document["log"]["devices"]:
            expect_fields(device, "device", log.name)
        for connection in document["connections"]:
            expect_fields(connection, "connection", log.name)
        counts = document["counts"]
        kinds = [counts[kind] for kind in ("network", "p2p", "shared_memory", "other")]
        expect(sum(kinds) == counts["connections"] == len(document["connections"]), log.name)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))


# 100 MB each, within 160 MB of address space and in time that grows as they do.
def hostile_input(work):
    message = b"h:1:2 [0] NCCL INFO "
    size = 100 << 20
    many = b"".join(
        b"h%d:%d:1 [0] NCCL INFO Channel 00/0 : %d[0] -> 0[0] [send] via NET/IB/0\n" % (i, i, i)
        for i in range(400_000)
    )
    for name, data in [
        ("one line", message + b"x" * size),
        ("only zeros", message + b"\n" + bytes(size)),
        ("levels only", b"NCCL INFO " * (size // 10)),
        ("escapes only", message + b"\n" + b"\x1b[" * (size // 2)),
        ("returns only", message + b"\r" * size),
        ("empty lines", message + b"\n" * size),
        ("colons only", message + b":" * size),
        ("another connection each", many * 4),
    ]:
        file = work / "hostile.log"
        took = []
        for part in (data[:len(data) // 10], data):
            file.write_bytes(part)
            begin = processor_time()
            done = check(file, preexec_fn=limited)
            took.append(processor_time() - begin)
        expect(done.returncode == 1, f"{name}: exit status {done.returncode}: {done.stderr}")
        expect(took[1] < 40 * took[0], f"{name}: took {took[1]:.1f} s, and a tenth of it {took[0]:.1f} s")
        expect(len(done.stdout) < 20_000, f"{name}: printed {len(done.stdout)} bytes")
        file.unlink()


def output_that_cannot_be_written():
    for words in (["--json"], []):
        expect_told_of_full_disk("nccl", "check", *words, logs / "v2_28_gdrdma.log")


# What docs/nccl.md promises: every reason by its name, and a transcript that is one.
def documentation():
    root = logs.parent.parent.parent
    text = (root / "docs" / "nccl.md").read_text()
    source = "".join(file.read_text() for file in (root / "src" / "tools" / "nccl").glob("causes*.cc"))
    names = set(re.findall(r'(?:return \{?\{|Cause(?: cause)?\{|cause\.id = )\s*"(\w+)"', source))
    expect(len(names) > 25, f"not all names are found: {names}")
    for name in names:
        expect(f"`{name}`" in text, f"docs/nccl.md does not tell of {name}")
    golden = (logs / "v2_29_distance.txt").read_text().rpartition("exit status")[0]
    expect(golden in text, "the transcript in docs/nccl.md is not what is printed")


with tempfile.TemporaryDirectory() as folder:
    documentation()
    exit_statuses()
    standard_input()
    refusals(pathlib.Path(folder))
    json_documents()
    hostile_input(pathlib.Path(folder))
    output_that_cannot_be_written()

#!/usr/bin/env python3
"""run.py GDR LOGS: gdr nccl run, over a program that logs as NCCL does."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import gdr_program
from gdr_program import expect, gdr

logs = pathlib.Path(sys.argv[2])

# Plays NCCL: each log named on its command line goes where NCCL_DEBUG_FILE says, with %h and %p.
PROGRAM = """
import os, sys
def where(pid):
    pattern = os.environ.get("NCCL_DEBUG_FILE", "/dev/stdout")
    return pattern.replace("%%", "\\0").replace("%h", "host").replace("%p", str(pid)).replace("\\0", "%")
print("out", os.environ["NCCL_DEBUG"], os.environ["NCCL_DEBUG_SUBSYS"], flush=True)
print("err", file=sys.stderr, flush=True)
for number, log in enumerate(sys.argv[2:]):
    file = where(os.getpid() + number)
    print("file", file, oct(os.stat(os.path.dirname(file)).st_mode & 0o777), flush=True)
    with open(file, "w" if os.path.isdir(os.path.dirname(file)) and not file.startswith("/dev") else "a") as out:
        out.write(open(log).read())
sys.exit(int(sys.argv[1]))
"""


def environment(**more):
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("NCCL_", "GDR_SOFT"))}
    clean.pop("LD_LIBRARY_PATH", None)
    clean.pop("LD_PRELOAD", None)
    return {**clean, "TMPDIR": str(work / "tmp"), **more}


def run(*words, command=(), **more):
    return gdr_program.run("nccl", "run", *words, "--", *command, timeout=600,
                           env=environment(**more))


def program(status, *names):
    return [sys.executable, work / "program.py", status, *(logs / f"{name}.log" for name in names)]


def passes_output_and_status_through():
    for status in (0, 3):
        done = run(command=program(status, "v2_28_gdrdma"))
        expect(done.returncode == status, f"exit status {done.returncode}, not {status}")
        expect(done.stdout.startswith("out INFO INIT,NET,ENV,GRAPH\nfile "), done.stdout)
        lines = done.stderr.split("\n")
        expect(lines[0].startswith("gdr nccl run: set NCCL_DEBUG=INFO, NCCL_DEBUG_SUBSYS=INIT,NET,"
                                   "ENV,GRAPH, NCCL_DEBUG_FILE="), lines[0])
        expect(lines[1] == "err" and lines[2].startswith("NCCL 2.28.9"), done.stderr)
        expect("GDRDMA  on 8 of 8" in done.stderr, done.stderr)


def leaves_nothing_behind():
    done = run(command=program(0, "v2_28_gdrdma"))
    file, mode = done.stdout.split("\n")[1].split()[1:]
    expect(file.startswith(str(work / "tmp" / "gdr-nccl-")), f"the log went to {file}")
    expect(mode == "0o700", f"the folder's mode is {mode}")
    expect(not list((work / "tmp").iterdir()), "files are left")


def keeps_what_the_user_set():
    done = run(command=program(0, "v2_28_gdrdma"), NCCL_DEBUG="WARN", NCCL_DEBUG_SUBSYS="ALL")
    expect(done.stdout.startswith("out WARN ALL\n"), done.stdout)
    expect("kept your NCCL_DEBUG=WARN, NCCL_DEBUG_SUBSYS=ALL" in done.stderr, done.stderr)
    for name in ("mine.%h.%p", "mine[1].log"):
        (work / "mine.host.1").write_text((logs / "v2_4_no_module.log").read_text())
        os.utime(work / "mine.host.1", (1, 1))  # of an earlier run
        done = run(command=program(0, "v2_28_gdrdma"), NCCL_DEBUG_FILE=str(work / name))
        expect(f"kept your NCCL_DEBUG_FILE={work / name}" in done.stderr, done.stderr)
        expect("GDRDMA  on 8 of 8" in done.stderr, f"{name}: {done.stderr}")
    expect(len(list(work.glob("mine*"))) == 3, "the user's files are gone")


def reads_every_process():
    done = run(command=program(0, "v2_21_plugin_gdrdma", "v2_28_gdrdma"))
    expect("GDRDMA  on 10 of 10" in done.stderr, done.stderr)


def catches_the_output_where_asked_to():
    log = (logs / "v2_28_gdrdma.log").read_text()
    shell = f"cat '{logs}/v2_28_gdrdma.log'; printf 'no end'; printf 'e\\0\\377' >&2; exit 5"
    words = [gdr, "nccl", "run", "--tee", "--", "sh", "-c", shell]
    done = subprocess.run(words, capture_output=True, timeout=600, env=environment())
    expect(done.returncode == 5, f"exit status {done.returncode}")
    expect(done.stdout.decode() == log + "no end", f"not what it printed: {done.stdout}")
    expect(b"\ne\0\xff" in done.stderr, f"not what it printed: {done.stderr}")
    expect(b"GDRDMA  on 8 of 8" in done.stderr and b"NCCL_DEBUG_FILE" not in done.stderr, "--tee")
    own = run(command=["cat", logs / "v2_28_gdrdma.log"], NCCL_DEBUG_FILE="/dev/stdout")
    expect(own.stdout == log and "GDRDMA  on 8 of 8" in own.stderr, own.stderr)


def waits_for_nothing_that_the_program_left_behind():
    done = run("--tee", command=["sh", "-c", "sleep 600 & echo $!"])
    os.kill(int(done.stdout), signal.SIGKILL)  # it is still there


def ends_with_a_reader_that_goes_away():
    shell = f"'{gdr}' nccl run --tee -- yes | head -n 1"
    done = subprocess.run(shell, shell=True, capture_output=True, timeout=600, env=environment())
    expect(done.stdout == b"y\n", done.stdout)


def keeps_log_and_json():
    done = run("--log", work / "kept.log", "--report", work / "kept.json",
               command=program(0, "mixed_up", "v2_28_gdrdma"))
    document = json.loads((work / "kept.json").read_text())
    expect(document["verdict"] == "GDRDMA" and document["exit_status"] == 0, document)
    again = subprocess.run([gdr, "nccl", "check", "--json", work / "kept.log"], capture_output=True,
                           timeout=600)
    envelope = ("schema", "tool", "version", "commit", "host", "date")
    said = {name: value for name, value in json.loads(again.stdout).items() if name not in envelope}
    expect(said == {name: value for name, value in document.items() if name not in envelope},
           "the log that was kept says something else")
    expect(done.returncode == 0, done.stderr)
    full = work / "full.json"
    full.symlink_to("/dev/full")
    for words, part in ((["--log", "/dev/full"], "/dev/full: cannot write all"),
                        (["--report", full], "No space left on device")):
        done = run(*words, command=program(0, "v2_28_gdrdma"))
        expect(done.returncode == 1 and part in done.stderr, f"{words}: {done.stderr}")
    run("--report", work / "none.json", command=["true"])
    document = json.loads((work / "none.json").read_text())
    expect(document["verdict"] == "NO CONNECTIONS" and not document["met"], document)
    expect(run("--log", "/nowhere/x", command=["true"]).returncode == 2, "--log /nowhere/x")
    expect(run("--report", "/nowhere/x.json", command=["true"]).returncode == 2, "--report /nowhere/x.json")


def has_standard_output_for_the_document_alone():
    for more in ([], ["--tee"]):
        done = run(*more, "--json", command=["sh", "-c", "echo out; echo err >&2"])
        document = json.loads(done.stdout)
        expect(document["tool"] == "gdr nccl run" and document["verdict"] == "NO CONNECTIONS", document)
        expect("out\n" in done.stderr and "err\n" in done.stderr, done.stderr)


def fails_where_asked_to():
    for words, name, status, expected in [
        (["--fail"], "v2_28_gdrdma", 0, 0),
        (["--fail"], "v2_4_no_module", 0, 1),
        (["--fail"], "v2_4_no_module", 4, 4),
        (["--fail", "--expect", "local"], "v2_28_inside_host", 0, 0),
        ([], "v2_4_no_module", 0, 0),
    ]:
        done = run(*words, command=program(status, name))
        expect(done.returncode == expected, f"{words} {name}: {done.returncode}, not {expected}")
    done = run("--fail", command=["true"])
    expect(done.returncode == 1 and "no NCCL output found" in done.stderr, done.stderr)
    expect(run(command=["true"]).returncode == 0, "a program without NCCL")


def passes_signals_on():
    for number in (signal.SIGTERM, signal.SIGINT):
        with subprocess.Popen([gdr, "nccl", "run", "--", "sh", "-c", "echo up; exec sleep 600"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=environment()) as child:
            expect(child.stdout.readline() == b"up\n", "not started")
            child.send_signal(number)
            child.communicate(timeout=200)
            expect(child.returncode == 128 + number, f"{number}: {child.returncode}")
    expect(run(command=["sh", "-c", "kill -9 $$"]).returncode == 137, "kill -9")
    expect(not list((work / "tmp").iterdir()), "files are left")


def refuses():
    for command, status, part in [
        (["no-such-program"], 127, "gdr nccl run: no-such-program: not found"),
        (["/etc/passwd"], 126, "gdr nccl run: /etc/passwd: not an executable file"),
        ([], 2, "gdr nccl run: no PROGRAM given"),
    ]:
        done = run(command=command)
        expect(done.returncode == status and part in done.stderr, f"{command}: {done.stderr}")
    done = run(command=["true"], TMPDIR="/nowhere")
    expect(done.returncode == 2 and "set TMPDIR" in done.stderr, done.stderr)
    done = run(command=["--help"])
    expect(done.returncode == 127, "an option of the program was taken for one of ours")


def keeps_a_percent_sign_of_the_folder():
    (work / "tmp" / "100%h").mkdir()
    done = run(command=program(0, "v2_28_gdrdma"), TMPDIR=str(work / "tmp" / "100%h"))
    expect("GDRDMA  on 8 of 8" in done.stderr, done.stderr)
    (work / "tmp" / "100%h").rmdir()


def composes_with_gdr_run():
    soft = [gdr, "run", "--soft-nic", "--no-soft-gpu", "--"]
    script = ["sh", "-c", f"cat '{logs}/v2_28_gdrdma.log' >\"$NCCL_DEBUG_FILE\"; "
              "echo $LD_LIBRARY_PATH $NCCL_NET_GDR_LEVEL"]
    for words in ([*soft, gdr, "nccl", "run", "--", *script],
                  [gdr, "nccl", "run", "--", *soft, *script]):
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, env=environment())
        expect(done.returncode == 0, done.stderr)
        expect("/soft-nic SYS\n" in done.stdout, f"{words}: {done.stdout}")
        expect("GDRDMA  on 8 of 8" in done.stderr, f"{words}: {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    work = pathlib.Path(folder)
    (work / "tmp").mkdir()
    (work / "program.py").write_text(PROGRAM)
    passes_output_and_status_through()
    leaves_nothing_behind()
    keeps_what_the_user_set()
    reads_every_process()
    catches_the_output_where_asked_to()
    waits_for_nothing_that_the_program_left_behind()
    ends_with_a_reader_that_goes_away()
    keeps_log_and_json()
    has_standard_output_for_the_document_alone()
    fails_where_asked_to()
    passes_signals_on()
    refuses()
    keeps_a_percent_sign_of_the_folder()
    composes_with_gdr_run()

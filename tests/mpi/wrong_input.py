#!/usr/bin/env python3
"""wrong_input.py GDR: no MPI, no launcher, launchers that are none, programs that hang, crash or print
what nobody understands: one line or an honest report, in bounded time, and no process is left."""
import json
import os
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../support"))
from gdr_program import expect, expect_refused, expect_told_of_full_disk, run  # noqa: E402

LIMIT = 5  # seconds that a program may take
MOST = 150  # seconds: half of what the programs take that hang


def script(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)


def processes_with(word):
    """By a word in their environment, which whatever they start inherits."""
    found = []
    for place in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if word.encode() in (place / "environ").read_bytes():
                state = (place / "stat").read_text().rsplit(")", 1)[1].split()[0]
                if int(place.name) != os.getpid() and state != "Z":
                    found.append(place.name)
        except OSError:
            continue
    return found


def expect_none_left(word):
    """Soon: who was killed is there until it has been waited for."""
    end = time.monotonic() + 100
    while (left := processes_with(word)) and time.monotonic() < end:
        time.sleep(0.05)
    expect(not left, f"left behind: {left}")


def check_refusals(scratch):
    empty = scratch / "empty"
    empty.mkdir()
    expect_refused(["mpi", "check", "--root", empty], "no MPI found in PATH")
    expect_refused(["mpi", "check", scratch / "nowhere"], "no such file")
    expect_refused(["mpi", "check", "no-such-mpirun"], "not found in PATH")
    expect_refused(["mpi", "check", empty], "a folder; give the mpirun in it")
    expect_refused(["mpi", "check", "/bin/true"], "not the launcher of an MPI")
    expect_refused(["mpi", "check", "--root", scratch / "nowhere"], "no folder")
    expect_refused(["mpi", "check", "--timeout", "0"], "--timeout must be a number of seconds")
    expect_refused(["mpi", "check", "--timeout", "soon"], "--timeout must be a number of seconds")
    expect_refused(["mpi", "check", "a", "b"], "gdr mpi check")
    expect_refused(["mpi"], "no subcommand given")
    # What calls itself an MPI and cannot be started.
    plain = scratch / "plain/bin/mpirun"
    plain.parent.mkdir(parents=True)
    plain.write_text("not a program")
    expect_refused(["mpi", "check", plain], "not the launcher of an MPI")
    # This one only lies beside an MPI's programs, as /bin/true does beside those of a distribution.
    beside = scratch / "beside/bin/true"
    script(beside.with_name("ompi_info"), "echo ompi:version:full:4.1.6\n")
    script(beside, "exit 0\n")
    expect_refused(["mpi", "check", beside], "not the launcher of an MPI")


def check_hanging_info(scratch):
    """ompi_info hangs, and so does what it started: one line; among all MPIs, a line of the report."""
    prefix = scratch / "hanging"
    word = f"GDR_TEST_HANGS={os.getpid()}"
    script(prefix / "bin/ompi_info", "trap '' TERM INT\nsleep 300 &\nsleep 300\n")
    for name in ("mpirun", "mpiexec", "mpicc"):  # all of one MPI
        script(prefix / "bin" / name, "sleep 300\n")
    environment = {**os.environ, **dict([word.split("=")])}
    begin = time.monotonic()
    expect_refused(["mpi", "check", "--timeout", LIMIT, prefix / "bin/mpirun"],
                   "ompi_info did not answer in time and was stopped", env=environment)
    expect(time.monotonic() - begin < MOST, f"took {time.monotonic() - begin:.1f} s")
    expect_none_left(word)
    environment["PATH"] = f"{prefix}/bin:/bin"
    done = run("mpi", "check", "--timeout", LIMIT, env=environment)
    expect(time.monotonic() - begin < 2 * MOST, f"took {time.monotonic() - begin:.1f} s")
    words = " ".join(done.stdout.split())
    expect("UNKNOWN" in words and "ompi_info did not answer in time and was stopped" in words, words)
    expect(done.returncode == 3 and done.stderr == "", f"{done.returncode}: {done.stderr}")
    expect_none_left(word)


def check_hanging_ucx(scratch):
    """ucx_info of a UCX without modules on disk hangs: nothing else tells of its CUDA."""
    prefix = scratch / "slow-ucx"
    word = f"GDR_TEST_SLOW_UCX={os.getpid()}"
    script(prefix / "bin/ucx_info", "sleep 300 | sleep 300\n")
    script(prefix / "bin/ompi_info", "cat <<END\nompi:version:full:4.1.6\nmca:pml:ucx:version:x\n"
           "mca:mpi:base:param:mpi_built_with_cuda_support:value:true\nEND\n")
    script(prefix / "bin/mpirun", "exit 1\n")
    environment = {**os.environ, **dict([word.split("=")])}
    expect_refused(["mpi", "check", "--timeout", LIMIT, prefix / "bin/mpirun"],
                   "ucx_info did not answer in time and was stopped", env=environment)
    expect_none_left(word)


def check_hanging_launcher(scratch):
    """Nothing tells what it is but its --version, and that hangs: one line."""
    launcher = scratch / "unknown/bin/mpirun"
    word = f"GDR_TEST_HANGS_TOO={os.getpid()}"
    script(launcher, "sleep 300 &\nwait\n")
    environment = {**os.environ, **dict([word.split("=")])}
    begin = time.monotonic()
    expect_refused(["mpi", "check", "--timeout", LIMIT, launcher], "did not answer in time",
                   env=environment)
    expect(time.monotonic() - begin < MOST, f"took {time.monotonic() - begin:.1f} s")
    expect_none_left(word)


def check_left_behind(scratch):
    """A program that ends at once, but leaves another one behind."""
    prefix = scratch / "leaving"
    word = f"GDR_TEST_LEAVES={os.getpid()}"
    script(prefix / "bin/ompi_info", "sleep 300 &\necho ompi:version:full:4.1.6\n")
    script(prefix / "bin/mpirun", "exit 0\n")
    environment = {**os.environ, **dict([word.split("=")])}
    done = run("mpi", "check", "--json", prefix / "bin/mpirun", env=environment)
    expect(json.loads(done.stdout)["mpis"][0]["version"] == "4.1.6", done.stdout)
    time.sleep(0.2)
    expect_none_left(word)


def check_nonsense(scratch):
    for name, text in (("crash", "kill -SEGV $$\n"), ("silent", "exit 0\n"),
                       ("bytes", "head -c 3000000 /dev/urandom\n"),
                       ("numbers", "echo ompi:version:full:99999999999999999999.9\n"),
                       ("halves", "echo 'mca:btl:openib:param:'; echo 'mca:'; echo '  MCA \"'\n")):
        prefix = scratch / name
        script(prefix / "bin/ompi_info", text)
        script(prefix / "bin/mpirun", "exit 1\n")
        done = run("mpi", "check", "--json", prefix / "bin/mpirun")
        expect(done.returncode in (0, 1, 3) and done.stderr == "", f"{name}: {done.returncode}")
        expect(len(json.loads(done.stdout)["mpis"]) == 1, f"{name}: {done.stdout}")


def check_mixed(scratch):
    """mpicc of one MPI in front of the mpirun of another."""
    one, other = scratch / "mixed-a", scratch / "mixed-b"
    script(one / "bin/mpicc", "")
    script(one / "bin/mpichversion", "echo 'MPICH Version: 4.2.2'\n")
    script(other / "bin/mpirun", "exit 1\n")
    script(other / "bin/ompi_info",
           "echo ompi:version:full:5.0.3\necho 'mca:accelerator:cuda:version:x'\n")
    path = f"{one}/bin:{other}/bin:/usr/bin:/bin"
    done = run("mpi", "check", env={**os.environ, "PATH": path})
    words = " ".join(done.stdout.split())
    expect(done.returncode == 1, f"exit status {done.returncode}")
    expect(f"mpicc is MPICH's ({one}), mpirun is Open MPI's ({other})" in words, words)
    # Each with its own is no mixture.
    done = run("mpi", "check", env={**os.environ, "PATH": f"{other}/bin:/usr/bin:/bin",
                                    "OPAL_PREFIX": str(one)})
    expect("OPAL_PREFIX is" in done.stdout, done.stdout)


def main():
    with tempfile.TemporaryDirectory(prefix="gdr-mpi-") as folder:
        scratch = pathlib.Path(folder).resolve()
        check_refusals(scratch)
        check_hanging_info(scratch)
        check_hanging_ucx(scratch)
        check_hanging_launcher(scratch)
        check_left_behind(scratch)
        check_nonsense(scratch)
        check_mixed(scratch)
        script(scratch / "full/bin/ompi_info", "echo ompi:version:full:4.1.6\n")
        script(scratch / "full/bin/mpirun", "exit 0\n")
        expect_told_of_full_disk("mpi", "check", scratch / "full/bin/mpirun")


main()

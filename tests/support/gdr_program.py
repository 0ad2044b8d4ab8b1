"""The program under test, whose file is the first word of the test's command line: run, and what it
answers judged."""
import subprocess
import sys

gdr = sys.argv[1]


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words, **more):
    """Its output is text, but where `text=False` says that it is bytes."""
    return subprocess.run([gdr, *map(str, words)],
                          **{"capture_output": True, "text": True, "timeout": 1200, **more})


def output_of(*words):
    """What it prints where all is well and nothing else is said."""
    done = run(*words)
    expect(done.returncode == 0, f"{words}: exit status {done.returncode}: {done.stderr}")
    expect(done.stderr == "", f"{words}: {done.stderr}")
    return done.stdout


def expect_refused(words, part, status=2, **more):
    """It prints nothing, and one line with `part` says why."""
    done = run(*words, **more)
    expect(done.returncode == status, f"{words}: exit status {done.returncode}, not {status}")
    expect(done.stdout == "", f"{words}: printed {done.stdout}")
    expect(done.stderr.count("\n") == 1 and part in done.stderr,
           f"{words}: no one line with '{part}': {done.stderr}")


def expect_told_of_full_disk(*words):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run(*words, capture_output=False, stdout=full, stderr=subprocess.PIPE)
    expect(done.returncode == 1, f"{words} to a full disk: {done.returncode}")
    expect("cannot write" in done.stderr, f"{words} to a full disk: {done.stderr}")

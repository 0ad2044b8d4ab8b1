#!/usr/bin/env python3
"""colours.py GDR: --color before and behind every subcommand, and NO_COLOR."""
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gdr_program import expect, expect_refused, gdr

ESCAPE = b"\x1b["


def piped(*words, **variables):
    done = subprocess.run([gdr, *words], capture_output=True, timeout=1200, env={**os.environ, **variables})
    return done.stdout


def on_terminal(*words, **variables):
    ours, its = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", **variables}
    with subprocess.Popen([gdr, *words], stdin=its, stdout=its, stderr=subprocess.DEVNULL, env=environment) as child:
        os.close(its)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:
                break
            if not part:
                break
            text += part
        child.wait(timeout=1200)
    os.close(ours)
    return text


def main():
    os.environ.pop("NO_COLOR", None)
    with tempfile.TemporaryDirectory() as root:
        pathlib.Path(root, "sys/class/infiniband/mlx5_0").mkdir(parents=True)
        doctor = ["doctor", "--root", root]
        expect(ESCAPE in on_terminal(*doctor), "no colours in a terminal")
        expect(ESCAPE not in on_terminal(*doctor, NO_COLOR="1"), "colours in spite of NO_COLOR")
        expect(ESCAPE in on_terminal(*doctor, NO_COLOR=""), "an empty NO_COLOR counts")
        expect(ESCAPE not in on_terminal(*doctor, "--color", "never"), "colours with --color never")
        expect(ESCAPE not in on_terminal("--color=never", *doctor), "colours with --color=never in front")
        expect(ESCAPE in on_terminal(*doctor, "--color", "always", NO_COLOR="1"), "--color does not win")
        expect(ESCAPE not in on_terminal(*doctor, TERM="dumb"), "colours in a dumb terminal")
        expect(ESCAPE not in piped(*doctor), "colours in a pipe")
        expect(ESCAPE not in piped(*doctor, "--color=auto"), "colours in a pipe with auto")
        expect(ESCAPE in piped(*doctor, "--color", "always"), "no colours in a pipe with always")
        expect(ESCAPE in piped("--color", "always", *doctor), "no colours with --color in front")
    for words in (["prove"], ["topo"], ["nccl", "check", "-"], ["run"], ["watch"], ["peermem", "remove"], []):
        expect_refused([*words, "--color", "red"], "unknown --color 'red'; allowed: auto, always, never")
    # The program's own arguments are its own.
    done = subprocess.run([gdr, "--color", "never", "run", "-q", "--color=auto", "--no-soft-nic", "--no-soft-gpu",
                           "--", "echo", "--color", "x"], capture_output=True, text=True, timeout=600)
    expect(done.stdout == "--color x\n", f"{done.stdout} {done.stderr}")
    print("colours")


if __name__ == "__main__":
    main()

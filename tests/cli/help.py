#!/usr/bin/env python3
"""help.py GDR: gdr help and gdr version, and --help in terminals of several widths."""
import fcntl
import os
import pathlib
import pty
import struct
import subprocess
import sys
import termios

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gdr_program import expect, expect_refused, gdr, output_of


def on_terminal(columns, *words):
    """What it prints to a terminal of that width."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    with subprocess.Popen([gdr, *words], stdin=its, stdout=its, stderr=its) as child:
        os.close(its)
        text = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the terminal's other end is closed
                break
            if not part:
                break
            text += part
        expect(child.wait(timeout=600) == 0, f"{words}: {text}")
    os.close(ours)
    return text.decode().replace("\r\n", "\n")


def main():
    for words in ([], ["prove"], ["doctor", "capture"], ["help"], ["nccl"]):
        expect(output_of("help", *words) == output_of(*words, "--help"), f"gdr help {words}")
    expect(output_of("version") == output_of("--version"), "gdr version")
    for words, part in ((["help", "prov"], "gdr: unknown subcommand 'prov'; did you mean 'gdr prove'?"),
                        (["prov", "--help"], "did you mean 'gdr prove'?"),
                        (["nccl", "chek", "--help"], "did you mean 'gdr nccl check'?"),
                        (["help", "--frobnicate"], "gdr help: unknown option '--frobnicate'"),
                        (["capture"], "did you mean 'gdr doctor capture'?"),
                        (["version", "x"], "gdr version: unexpected argument 'x'")):
        expect_refused(words, part)
    for command in ([], ["prove"], ["perf"], ["run"], ["nccl", "run"]):
        wide = output_of(*command, "--help")
        expect(on_terminal(80, *command, "--help") == wide, f"{command}: 80 columns are not as a pipe")
        expect(on_terminal(200, *command, "--help") == wide, f"{command}: 200 columns are not 80")
        narrow = on_terminal(60, *command, "--help")
        # Commands are not broken, so that they can be pasted.
        examples = narrow.index("\nExamples:\n")
        for line in narrow[:examples].splitlines():
            expect(len(line) <= 60, f"{command}: {line}")
        expect(" ".join(narrow.split()) == " ".join(wide.split()), f"{command}: other words in 60 columns")
    print("help and version")


if __name__ == "__main__":
    main()

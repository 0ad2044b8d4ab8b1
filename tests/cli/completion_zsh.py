#!/usr/bin/env python3
"""completion_zsh.py GDR SOURCE: what a zsh on a terminal makes of a line when Tab is pressed."""
import os
import pathlib
import pty
import re
import select
import shutil
import sys
import tempfile
import time

gdr, source = map(os.path.realpath, sys.argv[1:3])
FUNCTIONS = pathlib.Path(source) / "src/tools/cli/completions"
LIMIT_S = 600


class Zsh:
    """A zsh with our function and nobody's settings; a widget of ours shows its line."""

    def __init__(self, folder):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.environ.update(PATH=f"{pathlib.Path(gdr).parent}:{os.environ['PATH']}", HOME=folder, TERM="xterm",
                              PS1="", ZDOTDIR=folder)
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.pid = pid
        self.seen = ""
        self.type(f"fpath=({FUNCTIONS} $fpath); autoload -Uz compinit; compinit -u -D\n")
        self.type("LISTMAX=1000; setopt no_list_ambiguous list_packed; unsetopt auto_menu\n")
        self.type("zstyle ':completion:*' verbose no\n")
        self.type("show() { print -r -- \"<<$BUFFER>>\" > line; zle kill-whole-line }; zle -N show\n")
        self.type("bindkey '^X^O' show; print -r re\"\"ady\n")
        self.until(r"\bready\b")

    def type(self, text):
        os.write(self.terminal, text.encode())

    def until(self, pattern):
        end = time.monotonic() + LIMIT_S
        while not re.search(pattern, self.seen):
            if time.monotonic() > end:
                raise TimeoutError(f"no {pattern} in {self.seen!r}")
            if select.select([self.terminal], [], [], 0.2)[0]:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")

    def completed(self, line, folder):
        """The line after Tab."""
        answer = pathlib.Path(folder, "line")
        answer.unlink(missing_ok=True)
        self.type(line + "\t\x18\x0f")
        end = time.monotonic() + LIMIT_S
        while not answer.exists() or not answer.read_text(encoding="utf-8").endswith(">>\n"):
            if time.monotonic() > end:
                raise TimeoutError(f"{line!r}: no answer: {self.seen!r}")
            if select.select([self.terminal], [], [], 0.05)[0]:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")
        return answer.read_text(encoding="utf-8")[2:-3]

    def end(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def main():
    if shutil.which("zsh") is None:
        print("skipped: no zsh (package zsh)")
        return 77
    # Names of devices that a shell would carry out, or that our function would take for its own words.
    os.environ["GDR_SOFT_DEVICES"] = ("soft0,soft1,so$(touch pwned),so`touch pwned`,so b,:files,so;touch pwned\n"
                                      "touch pwned,:program x[$(touch pwned)]")
    os.environ.pop("GDR_SOFT_GPUS", None)
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "train.log").touch()
        pathlib.Path(folder, "below").mkdir()
        zsh = Zsh(folder)
        for line, expected in (
                ("gdr doct", "gdr doctor "),
                ("gdr peermem inst", "gdr peermem install "),
                ("gdr prove --so", "gdr prove --soft "),
                ("gdr prove --memory v", "gdr prove --memory vmm "),
                ("gdr prove --memory=v", "gdr prove --memory=vmm "),
                ("gdr prove --modes write,re", "gdr prove --modes write,read "),
                ("gdr perf --nic so", "gdr perf --nic soft"),
                ("gdr perf --nic soft1", "gdr perf --nic soft1 "),
                ("gdr nowhere x", "gdr nowhere x"),
                ("gdr explain tr", "gdr explain train.log "),
                ("gdr topo --report=tr", "gdr topo --report=train.log "),
                ("gdr fix --journal be", "gdr fix --journal below/"),
                ("gdr run -- cat tr", "gdr run -- cat train.log "),
                ("gdr run -- zsh --vers", "gdr run -- zsh --version ")):
            found = zsh.completed(line, folder)
            # A slash or space that zsh may take back when the line goes on is part of it.
            if found != expected:
                failures.append(f"{line!r} became {found!r}, not {expected!r}")
        zsh.end()
        if pathlib.Path(folder, "pwned").exists():
            failures.append("a device's name was carried out")
    print("\n".join(failures) or "zsh completes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

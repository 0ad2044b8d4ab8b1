"""An installed tree whose gdr judges a made-up machine, as the scripts for clusters meet it: they start it
by its place, with no environment that a test could set."""
import os
import pathlib
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
tests = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(tests / "support"), str(tests / "doctor")]
from machine import Machine

# `gdr doctor` examines the folder `machine` beside it; `gdr prove --require-hardware`, whose options
# are still parsed, proves the stand-ins if the file `hardware` is there.
WRAPPER = """#!/bin/bash
here=$(dirname "$(readlink -f "$0")")
echo "$*" >>"$here/calls"
[ ! -e "$here/broken" ] || exit "$(cat "$here/broken")"
if [ "$1" = doctor ]; then exec "$here/gdr-itself" "$@" --root "$here/machine"; fi
if [ "$1" = prove ] && [ -e "$here/hardware" ]; then set -- "${@/--require-hardware/--soft}"; fi
exec "$here/gdr-itself" "$@"
"""


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def run(*words, **more):
    return subprocess.run([*map(str, words)], **{"capture_output": True, "text": True, "timeout": 1200, **more})


class Installation:
    def __init__(self, tree, scratch):
        """Its scripts are copies and its gdr is a wrapper, since each test decides what gdr answers."""
        self.prefix = pathlib.Path(scratch) / "usr"
        self.clusters = self.prefix / "share/gdrkit/clusters"
        shutil.copytree(pathlib.Path(tree) / "share/gdrkit/clusters", self.clusters)
        self.bin = self.prefix / "bin"
        self.bin.mkdir()
        (self.bin / "gdr-itself").symlink_to(pathlib.Path(tree) / "bin/gdr")
        wrapper = self.bin / "gdr"
        wrapper.write_text(WRAPPER, encoding="ascii")
        wrapper.chmod(0o755)
        scratch = pathlib.Path(scratch)
        (scratch / "empty").mkdir()
        Machine(scratch / "good").host(gpus=1)
        for name in ("bad", "warns"):
            # Two thousand files: links of the same ones.
            shutil.copytree(scratch / "good", scratch / name, symlinks=True, copy_function=os.link)
        (scratch / "bad/dev/nvidiactl").unlink()
        limits = scratch / "warns/proc/self/limits"
        limits.unlink()
        limits.write_text(f"Max locked memory         {1 << 30}            {1 << 30}\n", encoding="ascii")
        self.show("good")

    def show(self, name):
        """What gdr doctor examines from now on: good, bad, warns or empty."""
        link = self.bin / "machine"
        link.unlink(missing_ok=True)
        link.symlink_to(self.prefix.parent / name)

    def break_gdr(self, status):
        """From now on gdr ends with this status at once; None: it works again."""
        (self.bin / "broken").unlink(missing_ok=True)
        if status is not None:
            (self.bin / "broken").write_text(str(status), encoding="ascii")

    def have_hardware(self, there):
        (self.bin / "hardware").unlink(missing_ok=True)
        if there:
            (self.bin / "hardware").touch()

    def calls(self):
        """What gdr was started with since the last time."""
        file = self.bin / "calls"
        lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else []
        file.unlink(missing_ok=True)
        return lines

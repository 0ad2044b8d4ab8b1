#!/usr/bin/env python3
"""shell.py BUILD: a shell in the guest, with this build's gdr. `exit` powers it off, as does Ctrl-A X.
/lab/veth_pair.sh makes the two rxe devices that the tests have."""
import pathlib
import subprocess
import sys

import lab

if __name__ == "__main__":
    build = pathlib.Path(sys.argv[1]).resolve()
    folder = lab.prepare(build, [build / "tests" / "vm" / "byte_check"])
    sys.exit(subprocess.run([*lab.qemu_command(folder, "lab=shell"), "-nic", "none",
                             "-serial", "mon:stdio"], check=False).returncode)

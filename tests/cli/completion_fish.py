#!/usr/bin/env python3
"""completion_fish.py GDR SOURCE: what fish offers."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

gdr, source = map(os.path.realpath, sys.argv[1:3])
script = pathlib.Path(source) / "src/tools/cli/completions/gdr.fish"
failures = []


def offered(line, folder):
    """The candidates for a line that ends where the cursor is."""
    path = f"{pathlib.Path(gdr).parent}:{os.environ['PATH']}"
    done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C {line!r}"], cwd=folder,
                          capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PATH": path, "HOME": folder, "XDG_CONFIG_HOME": folder,
                               "XDG_DATA_HOME": folder})
    if done.returncode or done.stderr:
        failures.append(f"{line!r}: status {done.returncode}: {done.stderr}")
    return [one.split("\t")[0] for one in done.stdout.splitlines()]


def main():
    if shutil.which("fish") is None:
        print("skipped: no fish (package fish)")
        return 77
    # Names of devices that a shell would carry out, or that our function would take for its own words.
    os.environ["GDR_SOFT_DEVICES"] = ("soft0,soft1,so$(touch pwned),so`touch pwned`,so b,:files,so;touch pwned\n"
                                      "touch pwned,:program x[$(touch pwned)]")
    os.environ.pop("GDR_SOFT_GPUS", None)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "train.log").touch()
        pathlib.Path(folder, "below").mkdir()
        for line, expected in (
                ("gdr do", ["doctor"]),
                ("gdr peermem ", ["status", "build", "install", "remove"]),
                ("gdr prove --so", ["--soft"]),
                ("gdr prove --memory ", ["alloc", "vmm", "host"]),
                ("gdr prove --memory=v", ["--memory=vmm"]),
                ("gdr prove --modes write,re", ["write,read"]),
                ("gdr perf --nic ", ["soft0", "soft1"]),
                ("gdr nowhere ", []),
                ("gdr explain tr", ["train.log"]),
                ("gdr topo --report=tr", ["--report=train.log"]),
                ("gdr fix --journal be", ["below/"]),
                ("gdr run -- cat tr", ["train.log"])):
            found = offered(line, folder)
            if sorted(found) != sorted(expected):
                failures.append(f"{line!r}: offered {found}, not {expected}")
        if "ls" not in offered("gdr run -- l", folder):
            failures.append("'gdr run -- l' does not offer ls")
        if pathlib.Path(folder, "pwned").exists():
            failures.append("a device's name was carried out")
    print("\n".join(failures) or "fish completes")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

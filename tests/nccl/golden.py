#!/usr/bin/env python3
"""golden.py GDR LOGS: each log's report and exit status are those of the file beside it."""

import os
import pathlib
import subprocess
import sys

gdr, folder = sys.argv[1], pathlib.Path(sys.argv[2])
failed = 0
logs = sorted(folder.glob("*.log"))
assert len(logs) > 20, "no logs found"
for log in logs:
    done = subprocess.run([gdr, "nccl", "check", log], capture_output=True, text=True, timeout=600)
    found = f"{done.stdout}{done.stderr}exit status {done.returncode}\n"
    golden = log.with_suffix(".txt")
    if os.environ.get("GDR_NCCL_WRITE_GOLDEN"):
        golden.write_text(found)
    elif not golden.exists() or golden.read_text() != found:
        print(f"{log.name}: found\n{found}\nif that is meant: GDR_NCCL_WRITE_GOLDEN=1")
        failed += 1
sys.exit(failed != 0)

#!/usr/bin/env python3
"""commands.py GDR: every command of every fix is one that a shell can read."""
import json
import subprocess
import sys

failures = []
listed = json.loads(subprocess.run([sys.argv[1], "explain", "--list", "--json"], timeout=30,
                                   capture_output=True, check=True).stdout)
commands = [(symptom["id"], command) for symptom in listed["symptoms"]
            for command in symptom["fix"]["commands_now"] + symptom["fix"]["commands_for_good"]]
for symptom, command in commands:
    done = subprocess.run(["bash", "-n", "-c", command], timeout=30, capture_output=True, check=False)
    if done.returncode != 0:
        failures.append(f"{symptom}: bash -n refuses {command!r}")
    if "\n" in command or "…" in command:
        failures.append(f"{symptom}: {command!r}")
if len(commands) < 100:
    failures.append(f"only {len(commands)} commands")
print(f"{len(commands)} commands")
for failure in failures:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)

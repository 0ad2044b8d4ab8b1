#!/usr/bin/env python3
"""collected.py GDR: how many of the texts in collected/ give their own symptom first, and that no
ordinary one gives any; and every command of every fix is one that a shell can read."""
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
GDR = sys.argv[1]
# Those from which patterns were written must all be known, and nine of ten of those kept apart.
LEAST = {"known": 1.0, "said": 1.0, "kept": 0.9}
failures = []


def check(claim, message):
    if not claim:
        failures.append(message)


def gdr(*arguments, text=""):
    done = subprocess.run([GDR, "explain", *arguments, "--json"], input=text.encode(), timeout=30,
                          capture_output=True, check=False)
    return json.loads(done.stdout)


def records(path):
    """(source, those that may come first, text)"""
    found = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("@@ "):
            _, source, expected = line.split()
            found.append([source, expected.split("|"), ""])
        elif found:
            found[-1][2] += line
    return found


def set_of(path):
    return path.stem.partition("-")[0]


def measure(symptoms):
    right, all_of, ordinary = dict.fromkeys(LEAST, 0), dict.fromkeys(LEAST, 0), 0
    for path in sorted((HERE / "collected").glob("*.txt")):
        for source, expected, text in records(path):
            where = f"{path.name}: {source}"
            check("#" in source or source.startswith("https://"), f"{where}: no source")
            for name in expected:
                check(name == "none" or name in symptoms, f"{where}: no symptom {name}")
            found = [each["id"] for each in gdr("--no-check", text=text)["symptoms"]]
            if expected == ["none"]:
                ordinary += 1
                check(not found, f"{where}: a false alarm: {found}")
                continue
            name = set_of(path)
            all_of[name] += 1
            as_expected = found[0] in expected if found else "none" in expected
            right[name] += as_expected
            if not as_expected:
                print(f"{where}: {found}, expected {'|'.join(expected)}\n{text}")
    return right, all_of, ordinary


def shell_reads(symptoms):
    commands = 0
    for symptom in symptoms:
        for command in symptom["fix"]["commands_now"] + symptom["fix"]["commands_for_good"]:
            commands += 1
            done = subprocess.run(["bash", "-n", "-c", command], timeout=30, capture_output=True,
                                  check=False)
            check(done.returncode == 0, f"{symptom['id']}: bash -n refuses {command!r}")
            check("\n" not in command and "…" not in command, f"{symptom['id']}: {command!r}")
    check(commands >= 100, f"only {commands} commands")
    return commands


listed = gdr("--list")["symptoms"]
right, all_of, ordinary = measure({symptom["id"] for symptom in listed})
for name, least in LEAST.items():
    print(f"{name}: {right[name]} of {all_of[name]} right")
    check(right[name] >= least * all_of[name],
          f"{name}: {right[name]} of {all_of[name]} right, {least:.0%} are wanted")
check(sum(all_of.values()) >= 250, f"only {sum(all_of.values())} texts")
check(ordinary >= 30, f"only {ordinary} ordinary texts")
print(f"{ordinary} ordinary texts, {shell_reads(listed)} commands")
for failure in failures:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)

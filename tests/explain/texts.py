#!/usr/bin/env python3
"""texts.py GDR: every real text gives its own symptom as the first, and no ordinary log gives any."""
import collections
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
KNOWN = HERE.parent.parent / "knowledge" / "symptoms"
GDR = sys.argv[1]
failures = []


def explain(text):
    done = subprocess.run([GDR, "explain", "--no-check", "--json"], input=text, timeout=30,
                          capture_output=True, check=False)
    document = json.loads(done.stdout)
    if done.returncode != document["exit_status"]:
        failures.append(f"exit status {done.returncode} and {document['exit_status']} in the document")
    return [symptom["id"] for symptom in document["symptoms"]]


def check(claim, message):
    if not claim:
        failures.append(message)


listed = json.loads(subprocess.run([GDR, "explain", "--list", "--json"], timeout=30, check=True,
                                   capture_output=True).stdout)
symptoms = {symptom["id"] for symptom in listed["symptoms"]}
check(len(symptoms) >= 500, f"only {len(symptoms)} symptoms")
collected = "".join(path.read_text(encoding="utf-8")
                    for path in (HERE / "collected").glob("*.txt"))
excerpts = collections.Counter(
    symptom for line in collected.splitlines() if line.startswith("@@ ")
    for symptom in line.split()[2].split("|"))
# Those that stand with their symptoms, which explain_test reads.
excerpts.update(path.stem for path in KNOWN.glob("*/*.txt")
                if "\nseen\n  @ " in path.read_text(encoding="utf-8"))
for symptom in sorted(symptoms):
    texts = sorted((HERE / "real" / symptom).glob("*.txt"))
    check(len(texts) + excerpts[symptom] >= 1, f"{symptom}: no real text")
    for path in texts:
        address, _, text = path.read_bytes().partition(b"\n")
        check(address.startswith(b"# https://"), f"{path}: its first line names no source")
        found = explain(text)
        check(found[:1] == [symptom], f"{path}: recognised as {found}")
for folder in (HERE / "real").iterdir():
    check(folder.name in symptoms, f"{folder}: there is no such symptom")

logs = sorted((HERE / "ordinary").iterdir())
check(len(logs) >= 50, f"only {len(logs)} ordinary logs")
for path in logs:
    log = path.read_bytes()
    check(0 < len(log) <= 30 * 1024, f"{path}: {len(log)} bytes")
    found = explain(log)
    check(found == [], f"{path}: recognised as {found}")

print(f"{len(symptoms)} symptoms, {len(logs)} ordinary logs")
for failure in failures:
    print("FAILED:", failure)
sys.exit(1 if failures else 0)

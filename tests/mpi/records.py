#!/usr/bin/env python3
"""records.py GDR RECORDS: each recorded machine gets the verdict, the words and the exit status that
its record expects, in text and in JSON, in lines of 80 columns."""
import json
import pathlib
import subprocess
import sys
import tempfile

from record import unpack

gdr, folder = sys.argv[1], pathlib.Path(sys.argv[2])
MOST_COLUMNS = 80


def run(*words):
    return subprocess.run([gdr, "mpi", "check", *map(str, words)], capture_output=True, text=True,
                          timeout=600)


def one_line(text):
    return " ".join(text.split())


def is_command(line):
    """Commands are not broken, so that they can be pasted; nor are words without a space."""
    return line.startswith(" " * 14) or " " not in line.strip()


def problems_of_text(record, status):
    done = run("--root", record.root)
    if done.stderr or done.returncode != status:
        yield f"exit status {done.returncode}, not {status}: {done.stderr}"
    words = one_line(done.stdout)
    for said in record.said:
        if said not in words:
            yield f"does not say '{said}'"
    for line in done.stdout.splitlines():
        if len(line) > MOST_COLUMNS and not is_command(line):
            yield f"longer than {MOST_COLUMNS} columns: {line}"
    if not record.said and not done.stdout:
        yield "says nothing"


def problems_of_json(record, status):
    done = run("--root", record.root, "--json")
    if done.returncode != status:
        yield f"exit status {done.returncode} with --json"
    document = json.loads(done.stdout)
    if document["exit_status"] != status:
        yield f"exit_status {document['exit_status']} in JSON"
    for expected in record.expected:
        found = [one for one in document["mpis"] if one["prefix"] == expected.get("prefix")]
        one = found[0] if found else document["mpis"][0]
        if "prefix" in expected and not found:
            yield f"no MPI in {expected['prefix']}"
        if one["verdict"] != expected["verdict"]:
            yield f"verdict {one['verdict']}, not {expected['verdict']}: {one['why']}"
        if one["with_settings"] != expected.get("with", one["with_settings"]):
            yield f"with settings {one['with_settings']}, not {expected['with']}"
        if not one["why"] or not one["start_by"]:
            yield "no reason or no launcher"


def main():
    records = sorted(folder.glob("*.txt"))
    assert len(records) >= 20, "no records found"
    failed = 0
    with tempfile.TemporaryDirectory(prefix="gdr-mpi-") as scratch:
        for file in records:
            record = unpack(file, pathlib.Path(scratch))
            status = int(record.expected[0]["exit"])
            problems = [*problems_of_text(record, status), *problems_of_json(record, status)]
            if problems:
                failed += 1
                print(f"{file.name}:", *problems, sep="\n  ")
                print(run("--all", "--root", record.root).stdout)
    print(f"{len(records)} records, {failed} failed")
    sys.exit(failed != 0)


main()

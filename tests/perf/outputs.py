"""outputs.py GDR: the document on standard output is valid and alone there, files have the forms of their names, and
two documents can be compared."""
import csv
import io
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import QUICK, Perf, main, require  # noqa: E402

PERF = Perf(sys.argv[1])
ROWS = ("--memory", "host", "--operation", "write,send", "--measure", "bandwidth,latency",
        "--sizes", "64,4K", *QUICK)


def json_on_standard_output_is_one_document():
    done = PERF.run(*ROWS, "--check", "--json")
    require(done.returncode == 0, done.returncode, done.stderr)
    document = json.loads(done.stdout)  # nothing before it, nothing behind it
    require(len(document["rows"]) == 8 and document["interrupted"] is False, document.keys())
    require(document["near"]["ports"] == document["far"]["ports"], document["near"], document["far"])
    require("\x1b" not in done.stderr, done.stderr)


def csv_has_a_line_for_each_row():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.csv")
        done = PERF.run(*ROWS, "--report", path)
        require(done.returncode == 0, done.returncode, done.stderr)
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    lines = list(csv.DictReader(io.StringIO(text)))
    require(len(lines) == 8, len(lines))
    widths = {len(line) for line in csv.reader(io.StringIO(text))}
    require(len(widths) == 1, "columns:", widths)
    for line in lines:
        require(float(line["set_up_seconds"]) > 0 and int(line["registered_bytes"]) > 0, line)


def all_files_at_once_beside_the_table_and_beside_the_document():
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.json", "a.csv", "a.html")]
        files = [word for path in paths for word in ("--report", path)]
        done = PERF.run(*ROWS, *files)
        require(done.returncode == 0, done.returncode, done.stderr)
        require("8 measurements in" in done.stdout, done.stdout)
        for path in paths:
            require(os.path.getsize(path) > 500, path)
        done = PERF.run(*ROWS, "--json", "--report", paths[0])
        with open(paths[0], encoding="utf-8") as file:
            require(json.load(file) == json.loads(done.stdout), "two documents of one run differ")


def two_runs_can_be_compared():
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("a.json", "b.json")]
        for path in paths:
            require(PERF.run(*ROWS, "--report", path).returncode == 0, path)
        done = PERF.run(whole=[PERF.gdr, "perf", "compare", *paths])
        require(done.returncode == 0 and done.stderr == "", done.returncode, done.stderr)
        for phrase in ("64 B", "4 KiB", "write", "send"):
            require(phrase in done.stdout, phrase, done.stdout)
        done = PERF.run(whole=[PERF.gdr, "perf", "compare", "--json", *paths])
        require(done.returncode == 0, done.stderr)
        require(len(json.loads(done.stdout)) >= 1, done.stdout)
        with open(paths[1], "w", encoding="utf-8") as file:
            file.write('{"rows": 7}')
        done = PERF.run(whole=[PERF.gdr, "perf", "compare", *paths])
        require(done.returncode == 2 and done.stderr.count("\n") == 1, done.returncode,
                done.stderr)
        require(paths[1] in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(main([json_on_standard_output_is_one_document,
                   csv_has_a_line_for_each_row,
                   all_files_at_once_beside_the_table_and_beside_the_document,
                   two_runs_can_be_compared]))

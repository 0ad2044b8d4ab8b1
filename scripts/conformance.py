#!/usr/bin/env python3
"""conformance.py [--check] BUILD [JUNIT]: writes the table of programs in docs/conformance.md.

The rows are those that gdr_row() names beside the tests (BUILD/program_rows.txt), the results those
of JUNIT, which ctest --output-junit has written. Without JUNIT the tests of the rows are run, but for
the long ones. What has no result keeps the one in the table.

--check runs nothing, and fails when a test of a program has no row, a row names no test, or the table
has other rows."""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

PAGE = pathlib.Path(__file__).resolve().parent.parent / "docs" / "conformance.md"
BEGIN, END = "<!-- begin: scripts/conformance.py -->\n", "<!-- end: scripts/conformance.py -->\n"
HEAD = "| program | version | transport | path | result | tests |\n|---|---|---|---|---|---|\n"
NOT_RUN = "not run"


def fail(text):
    sys.exit(f"scripts/conformance.py: {text}")


def ctest(folder, *words, **options):
    program = pathlib.Path(os.environ.get("CMAKE", "cmake")).parent / "ctest"
    found = str(program) if program.exists() else "ctest"
    return subprocess.run([found, "--test-dir", str(folder), *words], check=False, text=True, **options)


def labels_of_tests(build):
    """What ctest knows: each test's labels. From a folder of its own, since ctest begins its log
    anew, also to list tests, and this may be one of them."""
    with tempfile.TemporaryDirectory() as apart:
        (pathlib.Path(apart) / "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n',
                                                                 encoding="utf-8")
        listed = json.loads(ctest(apart, "--show-only=json-v1", stdout=subprocess.PIPE).stdout)
    found = {}
    for test in listed["tests"]:
        values = {one["name"]: one["value"] for one in test.get("properties", [])}
        found[test["name"]] = values.get("LABELS", [])
    return found


def rows_of(build):
    """The tests of each row, and those of which it is said that they have none."""
    rows, without = {}, set()
    for line in (build / "program_rows.txt").read_text(encoding="utf-8").splitlines():
        test, *row = line.split("|")
        if row == ["-"]:
            without.add(test)
        else:
            rows.setdefault(tuple(row), []).append(test)
    return dict(sorted(rows.items())), without


def version_of(program):
    """That of the Debian package which has it; of any other, nothing is known."""
    name = program.split()[0]
    path = shutil.which(name)
    query = ["dpkg-query", "-W", "-f", "${Version}", name]
    if path:
        owner = subprocess.run(["dpkg-query", "-S", os.path.realpath(path)], capture_output=True,
                               text=True, check=False).stdout
        query[-1] = owner.split(":")[0].split(",")[0] or name
    found = subprocess.run(query, capture_output=True, text=True, check=False)
    return re.sub(r"^\d+:|-[^-]*$", "", found.stdout) if found.returncode == 0 else "-"


def results_in(junit):
    results = {}
    for case in xml.parse(junit).getroot().iter("testcase"):
        if case.find("skipped") is not None:
            results[case.get("name")] = "skipped"
        elif case.get("status") in ("run", "fail"):
            results[case.get("name")] = "passed" if case.get("status") == "run" else "failed"
    return results


def run(build, tests):
    pattern = "^(" + "|".join(re.escape(test) for test in tests) + ")$"
    with tempfile.NamedTemporaryFile(suffix=".xml") as junit:
        ctest(build, "-R", pattern, "--output-junit", junit.name)
        return results_in(junit.name)


def summed_up(tests, results):
    """In words, or None: nothing is known."""
    counts = collections.Counter(results[test] for test in tests if test in results)
    if not counts:
        return None
    return counts.popitem()[0] if len(counts) == 1 and sum(counts.values()) == len(tests) else \
        ", ".join(f"{count} of {len(tests)} {word}" for word, count in sorted(counts.items()))


def table_now():
    """Each row's cells, and how the page continues on either side."""
    text = PAGE.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        fail(f"{PAGE.name} has no place for the table: {BEGIN.strip()} ... {END.strip()}")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    lines = [line.strip("|").split(" | ") for line in table.splitlines()[2:] if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines], before, after


def write(rows, results):
    lines, before, after = table_now()
    known = {(line[0], line[2], line[3]): line for line in lines}
    table = ""
    for (program, transport, path), tests in rows.items():
        result, version = summed_up(tests, results), version_of(program)
        if result is None:
            old = known.get((program, transport, path))
            version, result = (old[1], old[4]) if old else (version, NOT_RUN)
        names = ", ".join(f"`{test}`" for test in tests)
        table += f"| {program} | {version} | {transport} | {path} | {result} | {names} |\n"
    PAGE.write_text(before + BEGIN + HEAD + table + END + after, encoding="utf-8")


def check(rows, without, labels):
    wrong = [f"no test: {test}" for tests in rows.values() for test in tests if test not in labels]
    with_row = {test for tests in rows.values() for test in tests} | without
    wrong += [f"no row: {test}; type gdr_row({test} PROGRAM TRANSPORT PATH) beside it"
              for test in labels if test.startswith("programs.") and test not in with_row]
    made = {(*row, ", ".join(f"`{test}`" for test in tests)) for row, tests in rows.items()}
    there = {(line[0], line[2], line[3], line[5]) for line in table_now()[0]}
    wrong += [f"not in docs/conformance.md: {' | '.join(row)}" for row in sorted(made - there)]
    wrong += [f"in docs/conformance.md only: {' | '.join(row)}" for row in sorted(there - made)]
    if wrong:
        fail("\n".join(wrong) + "\ntype: scripts/conformance.py BUILD")


def main():
    words = [word for word in sys.argv[1:] if word != "--check"]
    if not 1 <= len(words) <= 2:
        sys.stderr.write(__doc__ + "\n")
        sys.exit(2)
    build = pathlib.Path(words[0]).resolve()
    rows, without = rows_of(build)
    labels = labels_of_tests(build)
    if "--check" in sys.argv:
        check(rows, without, labels)
        return
    if len(words) == 2:
        results = results_in(words[1])
    else:
        results = run(build, [test for tests in rows.values() for test in tests
                              if "long" not in labels.get(test, [])])
    write(rows, results)


if __name__ == "__main__":
    main()

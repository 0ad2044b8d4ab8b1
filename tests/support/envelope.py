"""What every JSON document of gdr begins with (docs/command-line.md), for the tests that read one.

    problem = problem_of(text, "gdr topo")      # None, or what is wrong
    gdr topo --json | envelope.py "gdr topo"    # for a shell; exit status 1 where something is wrong
"""
import datetime
import json
import re
import socket
import sys

FIELDS = ["schema", "tool", "version", "commit", "host", "date"]
# Of documents that are as old as this process at most: none takes longer.
LONGEST_SECONDS = 600


def problem_of(text, tool):
    try:
        document = json.loads(text)
    except ValueError as error:
        return f"not one JSON document: {error}: {text[:200]!r}"
    if not isinstance(document, dict):
        return f"not an object, but a {type(document).__name__}"
    if list(document)[:len(FIELDS)] != FIELDS:
        return f"begins with {list(document)[:len(FIELDS)]}"
    if len(document) == len(FIELDS):
        return "has nothing of its own"
    if document["tool"] != tool:
        return f"tool is {document['tool']!r}"
    if not re.fullmatch(re.escape(tool.replace(" ", ".")) + r"/[1-9][0-9]*", document["schema"]):
        return f"schema is {document['schema']!r}"
    if not re.fullmatch(r"\d+\.\d+\.\d+\S*", document["version"]):
        return f"version is {document['version']!r}"
    if not re.fullmatch(r"unknown|[0-9a-f]{7,}(-dirty)?", document["commit"]):
        return f"commit is {document['commit']!r}"
    if document["host"] != socket.gethostname():
        return f"host is {document['host']!r}"
    return problem_of_date(document["date"])


def problem_of_date(date):
    if not re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", date):
        return f"date is {date!r}"
    moment = datetime.datetime.strptime(date, "%Y-%m-%dT%H:%M:%S%z")
    age = (datetime.datetime.now(datetime.timezone.utc) - moment).total_seconds()
    return None if -5 < age < LONGEST_SECONDS else f"date {date} is {age:.0f} s ago"


if __name__ == "__main__":
    wrong = problem_of(sys.stdin.read(), sys.argv[1])
    if wrong:
        sys.exit(f"{sys.argv[1]} --json: {wrong}")

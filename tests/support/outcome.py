"""How a test in Python ends: with a line that says what was wrong, or skipped with the reason."""
import sys

SKIP = 77


class Failure(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failure(what)


def skip(reason):
    print(f"skipped: {reason}", flush=True)
    sys.exit(SKIP)


def run_to_the_end(test):
    """Runs a test's main function; a Failure is a line and exit status 1."""
    sys.stdout.reconfigure(line_buffering=True)
    try:
        test()
    except Failure as failure:
        print(f"FAILED: {failure}")
        sys.exit(1)

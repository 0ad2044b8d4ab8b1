"""What perftest prints, for the scripts that run it."""
import re

# A line of results: size, iterations, figures.
RESULT = re.compile(r"^ *(\d+) +(\d+) +[0-9.]+[ \t0-9.]*", re.MULTILINE)


def undisturbed(attempt):
    """What attempt() saw (None: nothing wrong), made again where other load kept perftest from finding
    out how fast the clock runs."""
    seen = None
    for _ in range(5):
        seen = attempt()
        if seen is None or "Correlation coefficient" not in seen:
            break
    return seen

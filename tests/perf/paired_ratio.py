#!/usr/bin/env python3
"""The interval that bench/rounds.py draws from figures measured in turn is that of the sign test."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from rounds import paired_ratio  # noqa: E402

# By number of pairs the rank of the interval's lower end, from 1, as statistical tables have it.
for pairs, rank in {6: 1, 8: 1, 9: 2, 11: 2, 20: 6, 25: 8, 50: 18}.items():
    found = paired_ratio(range(1, pairs + 1), [1] * pairs)
    assert found == ((pairs + 1) / 2, rank, pairs + 1 - rank), (pairs, found)

drift = [100 + 10 * i for i in range(21)]  # what moves both of a pair cancels
assert all(abs(end - 1.02) < 1e-9 for end in paired_ratio([1.02 * base for base in drift], drift))

for ours, theirs in (([], []), ([1] * 5, [1] * 5), ([1] * 6, [1] * 7)):
    try:
        paired_ratio(ours, theirs)
    except ValueError:
        continue
    raise AssertionError(f"{len(ours)} and {len(theirs)} figures have no interval")

"""No call costs more the more objects there are: slopes.py BENCH_GROWTH.

Each figure at 16 times as many objects is at most 4 times what it was: a scan of all objects in each
call would make it up to 16 times. A busy machine may spoil a try, a scan spoils all of them. Only
what is fitted is compared; docs/growth.md has the whole curves, and says what does grow.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))
from growth import run  # noqa: E402

TRIES = 12
MOST = 4.0
# Few enough for a short test, and enough for a scan to be most of what a call takes.
CURVES = {
    "queue-pairs": ((256, 4096), ("create_us", "connect_us", "destroy_us", "write_one_us",
                                  "register_us", "event_one_us")),
    "connections": ((64, 1024), ("create_us", "connect_us", "destroy_us", "write_one_us",
                                 "register_us")),
    "registrations": ((500, 8000), ("register_us", "deregister_us", "write_us")),
    "gpu-registrations": ((500, 8000), ("register_us", "deregister_us", "write_us",
                                        "background_us")),
}
# Bytes of each object at the larger count; far above what it is, far below what a leak makes it.
MOST_BYTES = {"queue-pairs": 64 << 10, "connections": 64 << 10, "registrations": 4 << 10,
              "gpu-registrations": 8 << 10}


def ratios(program, curve):
    counts, figures = CURVES[curve]
    lines = {line["count"]: line for line in run(program, curve, counts, more=["quick"])}
    few, many = lines[counts[0]], lines[counts[1]]
    each = (many["own_bytes"] - lines[0]["own_bytes"]) / counts[1]
    return {figure: many[figure] / few[figure] for figure in figures}, each


def grown(least):
    return [(figure, ratio) for figure, ratio in least.items() if ratio > MOST]


def wrong_with(program, curve):
    """One line for each figure that grew in every try."""
    least = {}
    for _ in range(TRIES):
        found, each = ratios(program, curve)
        for figure, ratio in found.items():
            least[figure] = min(ratio, least.get(figure, ratio))
        if not grown(least):
            break
    few, many = CURVES[curve][0]
    wrong = [f"{curve}: {figure} is {ratio:.1f} times as long at {many} as at {few} "
             f"(at most {MOST:g})" for figure, ratio in grown(least)]
    if each > MOST_BYTES[curve]:
        wrong.append(f"{curve}: {each:.0f} bytes each (at most {MOST_BYTES[curve]})")
    print(curve, {figure: round(ratio, 2) for figure, ratio in least.items()}, f"{each:.0f} B each")
    return wrong


def main():
    wrong = [line for curve in CURVES for line in wrong_with(sys.argv[1], curve)]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""growth_page.py RESULT [PAGE]: draws what growth.py measured: docs/growth.svg and docs/growth.md's tables.

The tables go between the page's markers; the rest of the page is written by hand. The drawing needs
nothing else: no script, no font, no other file.
"""
import html
import json
import math
import pathlib
import sys

from growth_curves import PANELS, exponents_of, medians_of, written

WIDE, HIGH = 470, 330            # a panel
LEFT, RIGHT, TOP, BOTTOM = 62, 30, 122, 42
COLUMNS = 2
FONT = "DejaVu Sans, Segoe UI, Helvetica, Arial, sans-serif"
# Light and dark of a colour: readers outside of browsers see the first, which is an attribute.
COLOURS = (("#0969da", "#58a6ff"), ("#bc4c00", "#f0883e"), ("#1a7f37", "#3fb950"),
           ("#8250df", "#bc8cff"), ("#cf222e", "#ff7b72"))
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2")
PAPER, TEXT, DIM, GRID = (("#ffffff", "#0d1117"), ("#1b1f24", "#e6edf3"), ("#57606a", "#9198a1"),
                          ("#d8dee4", "#30363d"))


def style():
    rules = [f".f{i} {{ fill: {dark} }} .s{i} {{ stroke: {dark} }}"
             for i, (_, dark) in enumerate(COLOURS)]
    for name, (_, dark) in zip(("paper", "text", "dim"), (PAPER, TEXT, DIM)):
        rules.append(f".{name} {{ fill: {dark} }}")
    rules.append(f".grid {{ stroke: {GRID[1]} }} .linear {{ stroke: {DIM[1]} }}")
    return "<style>@media (prefers-color-scheme: dark) { " + " ".join(rules) + " }</style>"


def text(x, y, words, kind="text", size=12, anchor="start", more=""):
    colour = {"text": TEXT, "dim": DIM}[kind][0]
    return (f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" fill="{colour}" font-size="{size}" '
            f'text-anchor="{anchor}"{more}>{html.escape(words)}</text>')


class Axis:
    """A logarithmic one, over whole decades, and at least one."""

    def __init__(self, values, begin, end):
        self.low = math.floor(math.log10(min(values)) + 1e-9)
        self.high = max(self.low + 1, math.ceil(math.log10(max(values)) - 1e-9))
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (math.log10(value) - self.low) / (self.high - self.low) * (
            self.end - self.begin)

    def decades(self):
        return [10.0 ** power for power in range(self.low, self.high + 1)]


def marker(index, x, y):
    colour = f'class="f{index}" fill="{COLOURS[index][0]}"'
    if index % 3 == 0:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" {colour}/>'
    if index % 3 == 1:
        return f'<rect x="{x - 2.8:.1f}" y="{y - 2.8:.1f}" width="5.6" height="5.6" {colour}/>'
    return f'<path d="M{x:.1f} {y - 3.6:.1f}l3.6 6.4h-7.2z" {colour}/>'


def line(index, points):
    dash = f' stroke-dasharray="{DASHES[index]}"' if DASHES[index] else ""
    return (f'<polyline points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}" fill="none" '
            f'class="s{index}" stroke="{COLOURS[index][0]}" stroke-width="1.8"{dash}/>')


def grid(panel, across, up):
    parts = []
    bottom, top, left, right = up.begin, up.end, across.begin, across.end
    for value in across.decades():
        x = across.at(value)
        parts.append(f'<path d="M{x:.1f} {bottom}V{top}" class="grid" stroke="{GRID[0]}"/>')
        parts.append(text(x, bottom + 16, f"{value:,.0f}", "dim", 11, "middle"))
    for value in up.decades():
        y = up.at(value)
        parts.append(f'<path d="M{left} {y:.1f}H{right}" class="grid" stroke="{GRID[0]}"/>')
        parts.append(text(left - 6, y + 4, written(value, panel.curves[0].unit), "dim", 11, "end"))
    parts.append(text((left + right) / 2, bottom + 32, panel.axis, "dim", 11, "middle"))
    return parts


def linear(across, up):
    """How steep it is to grow as the count does, from the lower left on."""
    decades = min(across.high - across.low, up.high - up.low)
    end_x, end_y = across.at(10.0 ** (across.low + decades)), up.at(10.0 ** (up.low + decades))
    return [f'<path d="M{across.begin:.1f} {up.begin:.1f}L{end_x:.1f} {end_y:.1f}" class="linear" '
            f'stroke="{DIM[0]}" stroke-width="1" stroke-dasharray="1 4" fill="none"/>']


def draw_panel(panel, rounds):
    drawn = [(curve, medians_of(panel, curve, rounds), exponents_of(panel, curve, rounds))
             for curve in panel.curves]
    drawn = [one for one in drawn if one[1]]
    counts = [count for _, points, _ in drawn for count, _ in points]
    values = [value for _, points, _ in drawn for _, value in points]
    across = Axis(counts, LEFT, WIDE - RIGHT)
    up = Axis(values, HIGH - BOTTOM, TOP)
    parts = [text(LEFT, 20, panel.title, size=14, more=' font-weight="bold"')]
    parts += grid(panel, across, up) + linear(across, up)
    for index, (curve, points, exponents) in enumerate(drawn):
        places = [(across.at(count), up.at(value)) for count, value in points]
        parts.append(line(index, places))
        parts += [marker(index, x, y) for x, y in places]
        y = 38 + 16 * index
        parts.append(line(index, [(LEFT, y - 4), (LEFT + 30, y - 4)]))
        parts.append(marker(index, LEFT + 15, y - 4))
        slope = exponents[len(exponents) // 2] if exponents else None
        parts.append(text(LEFT + 38, y, curve.name))
        if slope is not None:
            parts.append(text(WIDE - RIGHT, y, f"exponent {slope + 0:.2f}".replace("-0.00", "0.00"),
                              "dim", 12, "end"))
    return "\n".join(parts)


def drawing(rounds):
    rows = -(-len(PANELS) // COLUMNS)
    width, height = COLUMNS * WIDE, rows * HIGH
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
             f'width="{width}" height="{height}" font-family="{FONT}" role="img">',
             "<title>Time and memory of the software NIC by the number of objects</title>", style(),
             f'<rect width="{width}" height="{height}" class="paper" fill="{PAPER[0]}"/>']
    for index, panel in enumerate(PANELS):
        x, y = index % COLUMNS * WIDE, index // COLUMNS * HIGH
        parts.append(f'<g transform="translate({x} {y})">\n{draw_panel(panel, rounds)}\n</g>')
    return "\n".join(parts) + "\n</svg>\n"


def table(panel, rounds):
    medians = {curve: dict(medians_of(panel, curve, rounds)) for curve in panel.curves}
    counts = sorted({count for points in medians.values() for count in points})
    rows = [f"| {panel.title} | " + " | ".join(f"{count:,}" for count in counts) + " | exponent |",
            "|---" * (len(counts) + 2) + "|"]
    for curve in panel.curves:
        exponents = exponents_of(panel, curve, rounds)
        cells = [written(medians[curve][count], curve.unit) if count in medians[curve] else "–"
                 for count in counts]
        fitted = "–"
        if exponents:
            middle = exponents[len(exponents) // 2]
            fitted = f"{middle:.2f} ({exponents[0]:.2f} to {exponents[-1]:.2f})"
        rows.append(f"| {curve.name} | " + " | ".join(cells) + f" | {fitted} |")
    return "\n".join(rows)


def tables(result):
    rounds, machine = result["rounds"], result["machine"]
    head = (f"{machine['date']}, {machine['processor']}, {machine['cores']} cores, "
            f"{machine['memory_gib']} GiB of memory, Linux {machine['kernel']}; "
            f"medians of {len(rounds)} rounds.")
    return "\n\n".join([head] + [table(panel, rounds) for panel in PANELS])


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__.splitlines()[0], file=sys.stderr)
        return 2
    docs = pathlib.Path(__file__).resolve().parents[1] / "docs"
    page = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else docs / "growth.md"
    result = json.loads(pathlib.Path(sys.argv[1]).read_text())
    before, marked, rest = page.read_text().partition("<!-- tables: bench/growth_page.py -->\n")
    _, end, after = rest.partition("<!-- end of tables -->\n")
    if not marked or not end:
        print(f"{page}: the markers of the tables are missing", file=sys.stderr)
        return 1
    page.write_text(before + marked + "\n" + tables(result) + "\n\n" + end + after)
    page.with_suffix(".svg").write_text(drawing(result["rounds"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

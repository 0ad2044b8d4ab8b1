#!/usr/bin/env python3
"""fabric_table.py [--update] SOURCE: the table in docs/fabric.md is what the simulation's golden tables say
(tests/sim/golden). With --update it is written."""
import pathlib
import sys

GOLDEN = ("fabric_hundreds.md", "fabric_thousands.md")
BEGIN, END = "<!-- simulation table -->\n", "<!-- end of the simulation table -->\n"


def rows(source):
    """{fault: {hosts: (found, false alarms)}}, and the numbers of hosts; the faults in their order."""
    faults, sizes = {}, []
    for name in GOLDEN:
        for line in (source / "tests/sim/golden" / name).read_text(encoding="utf-8").splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if not cells[0].isdigit():
                continue
            hosts, fault, found, false_alarms = int(cells[0]), *cells[1:4]
            faults.setdefault(fault, {})[hosts] = (found, false_alarms)
            if hosts not in sizes:
                sizes.append(hosts)
    return faults, sizes


def table(source):
    faults, sizes = rows(source)
    text = "| fault | " + " | ".join(f"{size:,} hosts" for size in sizes) + " |\n"
    text += "|---|" + "---|" * len(sizes) + "\n"
    for fault, found in faults.items():
        cells = []
        for size in sizes:
            share, false_alarms = found[size]
            cells.append(f"false alarms {false_alarms}" if share == "-" else f"{share}; {false_alarms}")
        text += f"| {fault} | " + " | ".join(cells) + " |\n"
    return text


def main():
    update = "--update" in sys.argv
    source = pathlib.Path(sys.argv[-1])
    page = source / "docs/fabric.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    wanted = before + BEGIN + table(source) + END + after
    if update:
        page.write_text(wanted, encoding="utf-8")
    elif wanted != text:
        sys.exit("docs/fabric.md does not have the table of tests/sim/golden; type: "
                 "tests/repository/fabric_table.py --update .")


main()

#!/usr/bin/env python3
"""handbook.py [--check] GDR: writes docs/handbook.md from docs/handbook-intro.md.in and the table of
symptoms of GDR, the built program. With --check only says whether the file is what it would write."""
import json
import pathlib
import subprocess
import sys

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
STATES = {"cause and fix": "states cause and fix", "cause": "states the cause",
          "fix": "states the fix", "symptom": "shows the text"}


def symptoms_of(gdr):
    done = subprocess.run([gdr, "explain", "--list", "--json"], stdout=subprocess.PIPE, timeout=30,
                          check=True)
    return json.loads(done.stdout)["symptoms"]


def by_program(symptoms):
    programs = {}
    for symptom in symptoms:
        programs.setdefault(symptom["program"], []).append(symptom)
    return programs


def code(text):
    """As code on one line, whatever quotes are in it."""
    fence = "``" if "`" in text else "`"
    return f"{fence}{text}{fence}"


def prose(text):
    """The tables' own words: outside of backticks markdown takes some characters for its own."""
    parts = text.split("`")
    for i in range(0, len(parts), 2):
        for character in "\\*_<>|":
            parts[i] = parts[i].replace(character, "\\" + character)
    return "`".join(parts)


def texts(symptom):
    """Those that are enough each; then the pairs (parts 1 and 2, 3 and 4, ...), which are together."""
    alone = [text["text"].strip() for text in symptom["texts"] if text["part"] == 0]
    parts = {}
    for text in symptom["texts"]:
        if text["part"]:
            parts.setdefault(text["part"], []).append(code(text["text"]))
    pairs = [f"{' or '.join(parts[first])} and {' or '.join(parts[first + 1])}"
             for first in sorted(parts) if first % 2 == 1]
    block = "```\n" + "\n".join(alone) + "\n```\n" if alone else ""
    if pairs:
        block += ("\nor together: " if alone else "Together: ") + "; or ".join(pairs) + "\n"
    return block


def section(symptom):
    name = {"certain": "Cause", "likely": "Likely cause", "possible": "Possible cause"}
    lines = [f'<a id="{symptom["id"]}"></a>', f"### {prose(symptom['title'])}", texts(symptom)]
    rows = [(name[symptom["certainty"]], symptom["cause"]), ("Leads to", symptom["consequence"])]
    if symptom["checks"]:
        checks = symptom["checks"]
        rows.append(("Confirm", f"`gdr doctor --only {','.join(checks)}`"))
    if symptom["fix"]["now"]:
        rows.append(("Now", symptom["fix"]["now"]))
    if symptom["fix"]["for_good"]:
        rows.append(("For good", symptom["fix"]["for_good"]))
    for label, text in rows:
        lines.append(f"- **{label}:** {prose(text)}")
    sources = [f"<{source['url']}> ({STATES[source['states']]})" for source in symptom["sources"]]
    lines.append(f"- **Source:** {'; '.join(sources)}\n")
    return "\n".join(lines)


def handbook(gdr):
    programs = by_program(symptoms_of(gdr))
    page = [(DOCS / "handbook-intro.md.in").read_text(encoding="utf-8")]
    page.append("## Every symptom\n| printed by | symptom |\n|---|---|")
    for program, symptoms in programs.items():
        for symptom in symptoms:
            page.append(f"| {program} | [{prose(symptom['title'])}](#{symptom['id']}) |")
    page.append("")
    for program, symptoms in programs.items():
        page.append(f"## {program}\n")
        page += [section(symptom) for symptom in symptoms]
    page.append("---\nThis page is made by `scripts/handbook.py` from `docs/handbook-intro.md.in` and "
                "the tables in `src/tools/explain/symptoms`; change it there.")
    return "\n".join(page) + "\n"


def main():
    arguments = [word for word in sys.argv[1:] if word != "--check"]
    if len(arguments) != 1:
        sys.exit(__doc__)
    page = handbook(arguments[0])
    path = DOCS / "handbook.md"
    if "--check" not in sys.argv:
        path.write_text(page, encoding="utf-8")
    elif not path.exists() or path.read_text(encoding="utf-8") != page:
        sys.exit(f"docs/handbook.md is older than what it is made from; type: scripts/handbook.py "
                 f"{arguments[0]}")


if __name__ == "__main__":
    main()

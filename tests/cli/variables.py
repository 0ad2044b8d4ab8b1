#!/usr/bin/env python3
"""variables.py GDR SOURCE: the table of environment variables (src/tools/manual/variables.cc) has all that the
source reads, gdr-soft(7) and the pages in docs have all that users may set, and no others are named."""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gdr_program import expect, output_of

SOURCE = pathlib.Path(sys.argv[2])
TABLE = "src/tools/manual/variables.cc"
# Read by the scripts and the build, not by the program: docs/building.md, and tests that need other people's
# programs.
ELSEWHERE = {"GDR_BUILD_DIR", "GDR_CHART_JS_FOLDER", "GDR_COPY", "GDR_PERFTEST_CUDA", "GDR_TEST_CUDA",
             "GDR_TEST_CUDA_UCX", "GDR_FAULT_HOOKS", "GDR_FUZZ_SECONDS", "GDR_MAY_UPGRADE",
             "GDR_PORTABLE", "GDR_SANITIZE"}
NAME = r"\bGDR_[A-Z_]*[A-Z]\b"


def read_in_source():
    names = set()
    for file in [*SOURCE.glob("src/**/*.cc"), *SOURCE.glob("src/**/*.h")]:
        if "manual" in file.parts:
            continue
        for call in re.findall(r'(?:environment|getenv|number|Appointment \w+|Variable\[\] =|Variable =)\W*"([A-Z_]+)"',
                               file.read_text(encoding="utf-8")):
            names.add(call)
        names |= set(re.findall(r'"(GDR_[A-Z_]+)"', file.read_text(encoding="utf-8")))
    return {name for name in names if name.startswith(("GDR_", "RS_", "RDMAV_"))}


def rows():
    """Name -> concern."""
    text = (SOURCE / TABLE).read_text(encoding="utf-8")
    return dict(re.findall(r'\{"([A-Z][A-Z_]+)",\s*"[^"]*",\s*Concern::k(\w+)', text))


def main():
    table, source = rows(), read_in_source()
    expect(len(table) > 20, f"only {len(table)} rows found")
    expect(len(source) > 12, f"only {len(source)} names found in the source")
    missing = source - set(table)
    expect(not missing, f"{TABLE} lacks {missing}")
    unread = {name for name in table if name.startswith("GDR_")} - source
    expect(not unread, f"{TABLE} has {unread}, which nothing reads")
    page = output_of("__manual", "gdr-soft")
    expect(all(name in page for name in table), f"gdr-soft(7) lacks {[n for n in table if n not in page]}")

    docs = "".join(file.read_text(encoding="utf-8") for file in [SOURCE / "README.md", *SOURCE.glob("docs/*.md")])
    public = {name for name, concern in table.items() if concern not in ("Internal", "Tests")}
    unsaid = {name for name in public if not re.search(rf"\b{name}\b", docs)}
    expect(not unsaid, f"no page in docs names {unsaid}")
    unknown = set(re.findall(NAME, docs)) - set(table) - ELSEWHERE
    expect(not unknown, f"docs name {unknown}, which {TABLE} lacks")
    print(f"{len(table)} variables")


if __name__ == "__main__":
    main()

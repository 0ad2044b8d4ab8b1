#!/usr/bin/env python3
"""manual.py GDR: the manual pages: one for each subcommand, mandoc finds nothing to complain about, and each
option of --help is in its page."""
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from gdr_program import expect, expect_refused, output_of

# No complaints about the pages: other pages that are named need not be installed here, and .Os names gdrkit
# with its version, as pages of programs do that belong to no operating system.
HARMLESS = ("STYLE: referenced manual not found", "STYLE: operating system explicitly specified")


def shown(page):
    """As a terminal shows it, without overstriking."""
    done = subprocess.run(["mandoc", "-T", "ascii", "-O", "width=78", page], capture_output=True, text=True,
                          timeout=600, check=True)
    return re.sub(".\b", "", done.stdout)


def lint(pages):
    done = subprocess.run(["mandoc", "-T", "lint", *pages], capture_output=True, text=True, timeout=600)
    complaints = [line for line in done.stdout.splitlines() if not any(one in line for one in HARMLESS)]
    expect(not complaints, "\n".join(complaints))


def words_of(text):
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", text))


def check_page(command, page):
    text = shown(page)
    helped = output_of(*command, "--help")
    options = helped[helped.index("Usage:"):].split("\nExit status:")[0]
    missing = {word for word in words_of(options) if word not in words_of(text)}
    expect(not missing, f"{page.name} lacks {missing}")
    for heading in ("NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"):
        expect(f"\n{heading}\n" in text, f"{page.name} has no {heading}")
    flat = " ".join(text.split())
    for line in helped.split("\nExamples:\n")[1].splitlines():
        if line.startswith("   "):
            continue  # the note of a long example
        example = re.split(r"  +", line.strip())[0]
        expect(" ".join(example.split()) in flat, f"{page.name} lacks the example {example}")


def commands(text):
    """Names of the subcommands that a help lists."""
    part = re.search(r"\nSubcommands:\n(.*?)\n\n", text, flags=re.S)
    return re.findall(r"^  ([a-z]+) ", part.group(1), flags=re.M) if part else []


def main():
    expect_refused(["__manual", "gdr-nowhere"], "no page 'gdr-nowhere'")
    expect_refused(["__manual"], "give the name of a page")
    expect(".Sh NAME" in output_of("__manual", "gdr-prove"), "no page on standard output")
    if shutil.which("mandoc") is None:
        print("skipped: no mandoc (package mandoc)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        expect(output_of("__manual", "--into", folder) == "", "it says something")
        pages = sorted(pathlib.Path(folder).glob("man[17]/*"))
        lint(pages)
        words = [[]]
        for one in commands(output_of("--help")):
            words += [[one]] + [[one, below] for below in commands(output_of(one, "--help"))]
        expect(len(words) == 28, f"{len(words)} subcommands: {words}")
        for command in words:
            check_page(command, pathlib.Path(folder, "man1", "-".join(["gdr", *command]) + ".1"))
        expect(len(pages) == len(words) + 1, f"{len(pages)} pages")
        soft = shown(pathlib.Path(folder, "man7", "gdr-soft.7"))
        expect("GDR_SOFT_DEVICES=" in soft and "GDR_OBSERVE=0" in soft, soft)
        # Every page of ours that another one names is there.
        names = {page.stem + page.suffix for page in pages}
        for page in pages:
            for name, section in re.findall(r"^\.(?:It )?Xr (gdr\S*) (\d)", page.read_text(encoding="utf-8"),
                                            flags=re.M):
                expect(f"{name}.{section}" in names, f"{page.name} names {name}({section})")
    print(f"{len(pages)} pages")


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""translations.py SOURCE [BUILD] [--update]: README.zh-CN.md says what README.md says, as far as a program can tell.

Both pages have the same headings, paragraphs, tables, lists and code blocks; each paragraph, list item and table row
has the same code and the same numbers; each section links the same places in the same order. Below each heading the
Chinese page has a hash of the English section that it was made from, so a section that changed later is named.
--update copies the code blocks of README.md by position and writes the hashes anew. It does not translate."""
import argparse
import collections
import hashlib
import pathlib
import re
import sys

ENGLISH, CHINESE = "README.md", "README.zh-CN.md"
# Each page has one line that links the other one. It is compared with these and with nothing else.
SWITCHES = {ENGLISH: f"English | [简体中文]({CHINESE})", CHINESE: f"[English]({ENGLISH}) | 简体中文"}
MARKER = re.compile(r"^<!-- README\.md, this section: sha256 ([0-9a-f]*) -->$")
UPDATE = "tests/repository/translations.py --update"
Block = collections.namedtuple("Block", "kind lines")  # kind: fence, row, item or paragraph
Section = collections.namedtuple("Section", "level title blocks hashes")


def kind_of(line):
    if line.startswith("|"):
        return "row"
    return "item" if re.match(r"\s*([-*+]|\d+\.)\s", line) else "paragraph"


def parse(text, name):
    """Sections from heading to heading, each with its blocks; markers and the line of languages left out."""
    sections, blocks, fence, is_open = [], [], None, False
    for line in text.splitlines():
        if fence is not None:
            fence.append(line)
            if line.startswith("```"):
                fence = None
        elif line.startswith("```"):
            fence, is_open = [line], False
            blocks.append(Block("fence", fence))
        elif heading := re.match(r"(#+) (.+)$", line):
            blocks, is_open = [], False
            sections.append(Section(len(heading[1]), heading[2], blocks, []))
        elif marker := MARKER.match(line):
            if sections:
                sections[-1].hashes.append(marker[1])
        elif not line.strip() or line == SWITCHES[name]:
            is_open = False
        elif is_open and kind_of(line) == "paragraph":
            blocks[-1].lines.append(line)
        else:
            is_open = kind_of(line) != "row"
            blocks.append(Block(kind_of(line), [line]))
    return sections


def digest(section):
    """Code blocks are left out: they are compared letter by letter."""
    text = [section.title, *("\n".join(block.lines) for block in section.blocks if block.kind != "fence")]
    return hashlib.sha256("\n\n".join(text).encode()).hexdigest()[:16]


def targets(section):
    text = "\n".join(line for block in section.blocks if block.kind != "fence" for line in block.lines)
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text))


def spans(block):
    return re.findall(r"`([^`]+)`", "\n".join(block.lines))


def numbers(block):
    """Numbers in digits, outside of code and of links' targets."""
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", " ", "\n".join(block.lines))
    return re.findall(r"\d+(?:\.\d+)*", text)


def cells(block):
    return len(re.findall(r"\|", re.sub(r"`[^`]*`|\\\|", "", block.lines[0]))) - 1


def difference(wanted, found):
    """What one list has more often than the other, or nothing."""
    missing = collections.Counter(wanted) - collections.Counter(found)
    extra = collections.Counter(found) - collections.Counter(wanted)
    both = (("lacks", missing), ("has in addition", extra))
    return " and ".join(f"{word} {', '.join(more.elements())}" for word, more in both if more)


def compare_blocks(english, chinese, place):
    """Failures of two blocks of one kind."""
    if english.kind == "fence":
        if english.lines != chinese.lines:
            yield f"{place} differs from README.md's; run {UPDATE}, which copies code blocks"
        return
    if english.kind == "row" and cells(english) != cells(chinese):
        yield f"{place} has {cells(chinese)} columns, in README.md {cells(english)}"
    if code := difference(spans(english), spans(chinese)):
        yield f"{place} {code} (code in backticks, compared with README.md)"
    if digits := difference(numbers(english), numbers(chinese)):
        yield f"{place} {digits} (numbers, compared with README.md)"


NAMES = {"fence": "code block", "row": "table row", "item": "list item", "paragraph": "paragraph"}


def compare_sections(english, chinese):
    where = f"{CHINESE}, section '{english.title}'"
    if english.level != chinese.level:
        yield f"{where}: its heading '{chinese.title}' has level {chinese.level}, in README.md {english.level}"
    counts = [collections.Counter(block.kind for block in one.blocks) for one in (english, chinese)]
    uneven = [kind for kind in NAMES if counts[0][kind] != counts[1][kind]]
    for kind in uneven:
        yield f"{where}: {NAMES[kind]}s: {counts[1][kind]}, in README.md {counts[0][kind]}"
    is_moved = not uneven and [block.kind for block in english.blocks] != [block.kind for block in chinese.blocks]
    if is_moved:
        yield f"{where}: paragraphs, lists, tables and code blocks are in another order than in README.md"
    for kind in NAMES:
        if kind not in uneven and not is_moved:
            pairs = zip(*([block for block in one.blocks if block.kind == kind] for one in (english, chinese)))
            for number, (ours, theirs) in enumerate(pairs, 1):
                yield from compare_blocks(ours, theirs, f"{where}: {NAMES[kind]} {number}")
    wanted, found = targets(english), targets(chinese)
    if links := difference(wanted, found):
        yield f"{where}: {links} (link targets, compared with README.md)"
    elif wanted != found:
        first = next(pair for pair in zip(wanted, found) if pair[0] != pair[1])
        yield f"{where}: links {first[1]} where README.md links {first[0]}; keep the order of links"
    if len(chinese.hashes) != 1:
        yield f"{where}: {len(chinese.hashes)} hashes below its heading instead of one; run {UPDATE}"
    elif chinese.hashes[0] != digest(english):
        yield (f"README.md, section '{english.title}' has changed since it was translated: "
               f"bring {CHINESE} up to date, then run {UPDATE}")


def compare(texts):
    for name, switch in SWITCHES.items():
        if texts[name].splitlines().count(switch) != 1:
            yield f"{name}: must have the line '{switch}' once"
    english, chinese = (parse(texts[name], name) for name in (ENGLISH, CHINESE))
    if len(english) < 2:
        yield f"{ENGLISH}: only {len(english)} headings found"
    if len(english) != len(chinese):
        yield f"{CHINESE}: {len(chinese)} headings, in README.md {len(english)}; translate what is new, remove what is gone"
        return
    for pair in zip(english, chinese):
        yield from compare_sections(*pair)


def updated(texts):
    """The Chinese page with README.md's code blocks and a hash below each heading; None if they cannot be paired."""
    english = parse(texts[ENGLISH], ENGLISH)
    chinese = parse(texts[CHINESE], CHINESE)
    fences = [[block for section in page for block in section.blocks if block.kind == "fence"]
              for page in (english, chinese)]
    if len(english) != len(chinese) or len(fences[0]) != len(fences[1]):
        return None
    lines, in_fence = [], False
    sections, blocks = iter(english), iter(fences[0])
    for line in texts[CHINESE].splitlines():
        if line.startswith("```"):
            if not in_fence:
                lines += next(blocks).lines
            in_fence = not in_fence
        elif not in_fence and not MARKER.match(line):
            lines.append(line)
            if re.match(r"#+ ", line):
                lines.append(f"<!-- README.md, this section: sha256 {digest(next(sections))} -->")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=f"Compares {CHINESE} with {ENGLISH}.")
    parser.add_argument("source", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2],
                        help="root of the repository (default: the one that this file is in)")
    parser.add_argument("build", nargs="?", help="not used; the other tests of the repository take it")
    parser.add_argument("--update", action="store_true", help="copy code blocks and write the hashes anew")
    options = parser.parse_args()
    for name in SWITCHES:
        if not (options.source / name).is_file():
            parser.error(f"{options.source / name} does not exist; give the root of the repository")
    texts = {name: (options.source / name).read_text(encoding="utf-8") for name in SWITCHES}
    if options.update:
        page = updated(texts)
        if page is None:
            print(f"{CHINESE}: its headings or code blocks are not as many as README.md's; add or remove them, "
                  f"then run {UPDATE}")
            return 1
        for english, chinese in zip(parse(texts[ENGLISH], ENGLISH), parse(texts[CHINESE], CHINESE)):
            if chinese.hashes != [digest(english)]:
                print(f"section '{english.title}': new hash; the translation of its text is for you to check")
        texts[CHINESE] = page
        (options.source / CHINESE).write_text(page, encoding="utf-8")
    failures = list(compare(texts))
    print("\n".join(failures) or f"{CHINESE} agrees with {ENGLISH}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

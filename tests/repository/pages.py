#!/usr/bin/env python3
"""pages.py SOURCE BUILD: what the pages name exists: relative links and their headings, files and folders of
the pages for people who work on the code, functions and classes of the request's life; and each check of gdr
doctor is a file named like its id, with its title in docs/doctor.md."""
import os
import re
import shutil
import subprocess
import sys

ROOT = sys.argv[1]
# These name files of the source in backticks.
CODE_PAGES = ("ARCHITECTURE.md", "CONTRIBUTING.md", "docs/glossary.md", "docs/life-of-a-request.md", "src/README.md")
SUFFIXES = (".cc", ".h", ".py", ".sh", ".md", ".inc", ".in", ".cmake", ".txt", ".js", ".map")
failures = []


def fail(page, text):
    failures.append(f"{page}: {text}")


def tracked():
    """Files of the repository; without git, everything but build folders."""
    git = shutil.which("git")
    listed = git and subprocess.run([git, "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True,
                                    text=True)
    if listed and listed.returncode == 0:
        return [name for name in listed.stdout.split("\n") if os.path.exists(os.path.join(ROOT, name)) and name]
    found = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [one for one in folders if one not in ("build", ".git")]
        found += [os.path.relpath(os.path.join(folder, name), ROOT) for name in names]
    return found


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def without_fences(text):
    return re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)


def slug(heading):
    """As GitHub makes anchors of headings."""
    plain = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")


def anchors(name):
    text = without_fences(read(name))
    return {slug(found) for found in re.findall(r"^#+ (.+)$", text, flags=re.M)} | set(re.findall(r"<a id=\"([^\"]+)\"", text))


def check_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", without_fences(read(page))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        name = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if not os.path.exists(os.path.join(ROOT, name)):
            fail(page, f"link to {target}, which does not exist")
        elif anchor and name.endswith(".md") and anchor not in anchors(name):
            fail(page, f"link to {target}, but {name} has no such heading")


def is_there(name, page, files):
    """A path from the root, from a house, from the page's folder, or a file's bare name."""
    places = ("", "src/common/", "src/stand_ins/", "src/tools/", os.path.dirname(page) + "/")
    if any(os.path.exists(os.path.join(ROOT, place + name)) for place in places):
        return True
    return "/" not in name and any(os.path.basename(file) == name for file in files)


def check_names(page, files):
    text = without_fences(read(page))
    for span in re.findall(r"`([^`\n]+)`", text):
        if re.search(r"[A-Z]{2,}|[*<>{}()=\s$…]", span.replace("README", "").replace("ARCHITECTURE", "").replace(
                "CONTRIBUTING", "").replace("CMakeLists", "").replace("CheckLayers", "")):
            continue
        is_file = span.endswith(SUFFIXES) and not span.startswith((".", "/", "-", "lib"))
        is_folder = re.match(r"(src|tests|docs|bench|scripts|cmake)/", span) is not None
        if (is_file or is_folder) and not is_there(span.rstrip("/"), page, files):
            fail(page, f"names {span}, which does not exist")


def check_functions(page, files):
    """`name()` and `Class::name` in the page occur in the source."""
    source = "".join(read(file) for file in files if file.startswith("src/") and file.endswith((".cc", ".h")))
    words = set(re.findall(r"\w+", source))
    for span in re.findall(r"`([\w:]+)(?:\(\))?`", read(page)):
        if span.endswith(("_", ":")) or "." in span:
            continue
        for word in span.split("::"):
            if re.search(r"[a-z]", word) and ("_" in word or word[0].isupper()) and word not in words:
                fail(page, f"names {span}, which the source does not have")


def check_checks(files):
    page = read("docs/doctor.md")
    count = 0
    for file in files:
        if not re.match(r"src/tools/doctor/checks/\w+/\w+\.cc$", file):
            continue
        found = re.search(r'const Check k\w+\{\s*"([a-z0-9-]+)",\s*Area::k(\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+),', read(file))
        if not found:
            continue
        count += 1
        identity, area = found.group(1), found.group(2).lower()
        title = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', found.group(3)))
        wanted = f"src/tools/doctor/checks/{area}/{identity.replace('-', '_')}.cc"
        if file != wanted:
            fail(file, f"check {identity} belongs in {wanted}")
        if not re.search(rf"^\| `{identity}` \| {area} \| \w+ \| {re.escape(title)} \|$", page, flags=re.M):
            fail("docs/doctor.md", f"no row for {identity} with the title '{title}'")
    if count < 50:
        fail("src/tools/doctor/checks", f"only {count} checks found")


def main():
    files = tracked()
    pages = [name for name in files if name.endswith(".md") and not name.startswith("tests/explain")]
    if len(pages) < 30:
        fail(ROOT, f"only {len(pages)} pages found")
    for page in pages:
        check_links(page)
    rooms = [page for page in pages if re.match(r"src/\w+/\w+/README\.md$", page)]
    for page in [*CODE_PAGES, *rooms]:
        if page not in pages:
            fail(page, "does not exist")
            continue
        check_names(page, files)
    for page in ("docs/life-of-a-request.md", "docs/glossary.md"):
        if page in pages:
            check_functions(page, files)
    for room in rooms:
        if f"({room})" not in read("ARCHITECTURE.md"):
            fail("ARCHITECTURE.md", f"does not link {room}")
    check_checks(files)
    print("\n".join(failures) or f"{len(pages)} pages")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

"""Recorded machines: what records/*.txt say, and the folders made from them.

A record is a text file, one thing a line; lines that begin with "| " are the content of what stands
above them:

    # what it is
    file PATH                        a file, empty without content
    link PATH TARGET                 a symbolic link
    library PATH needs A,B [rpath FOLDERS | runpath FOLDERS] [names SYMBOLS]
                                     a shared library that the loader would read so
    variable NAME=VALUE              of the environment
    output PROGRAM ARGUMENTS         what the program prints; - stands for no arguments
    expect [prefix=PATH] verdict=V [with=V] [exit=N]
    say TEXT                         the report has it, however its lines are broken
"""
import dataclasses
import pathlib
import struct


@dataclasses.dataclass
class Record:
    name: str
    root: pathlib.Path
    expected: list
    said: list


def shared_library(needed, folders=None, weak=True, names=()):
    """A shared library with nothing but its dynamic section, and `names` in its table of names."""
    table = bytearray(b"\0")

    def put(text):
        offset = len(table)
        table.extend(text.encode() + b"\0")
        return offset

    entries = [(1, put(name)) for name in needed]  # DT_NEEDED
    if folders:
        entries.append((29 if weak else 15, put(folders)))  # DT_RUNPATH or DT_RPATH
    for name in names:
        put(name)
    headers, dynamic = 64 + 2 * 56, 64 + 2 * 56
    size = (len(entries) + 3) * 16
    entries += [(5, dynamic + size), (10, len(table)), (0, 0)]  # DT_STRTAB, DT_STRSZ, DT_NULL
    body = b"".join(struct.pack("<QQ", *entry) for entry in entries) + bytes(table)
    whole = headers + len(body)
    header = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, whole, whole, 4096)
    place = struct.pack("<IIQQQQQQ", 2, 6, dynamic, dynamic, dynamic, size, size, 8)
    return header + load + place + body


def library_of(words):
    options = dict(zip(words[0::2], words[1::2]))
    folders = options.get("runpath") or options.get("rpath")
    return shared_library([name for name in options["needs"].split(",") if name], folders,
                          weak="rpath" not in options,
                          names=options.get("names", "").split(","))


def write(root, path, content):
    place = root / path.lstrip("/")
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content)


def read_things(text):
    """(keyword, rest of its line, lines below it)"""
    things = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("|"):
            things[-1][2].append(line[2:])
        elif line.startswith("#") or not line:
            continue
        else:
            keyword, _, rest = line.partition(" ")
            assert keyword in ("file", "link", "library", "variable", "output", "expect", "say"), \
                f"line {number}: {line}"
            things.append((keyword, rest, []))
    return things


def unpack(file, folder):
    """Makes the machine's root below `folder`."""
    record = Record(file.stem, folder / file.stem, [], [])
    variables = []
    for keyword, rest, lines in read_things(file.read_text()):
        content = "".join(line + "\n" for line in lines).encode()
        if keyword == "file":
            write(record.root, rest, content)
        elif keyword == "link":
            path, target = rest.split(" ")
            place = record.root / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target)
        elif keyword == "library":
            path, *words = rest.split(" ")
            write(record.root, path, library_of(words))
        elif keyword == "variable":
            variables.append(rest)
        elif keyword == "output":
            program, _, arguments = rest.partition(" ")
            write(record.root, f"captured/programs{program}/{arguments}", content)
        elif keyword == "expect":
            record.expected.append(dict(word.split("=", 1) for word in rest.split(" ")))
        else:
            record.said.append(rest)
    write(record.root, "proc/self/environ", "\0".join(variables).encode())
    return record

#!/usr/bin/env python3
"""portable.py SOURCE BUILD: the portable build, in SOURCE/build/portable; its packages, in BUILD/packages,
where packages_on.py finds them. Every file of them that the loader reads runs on the glibc that
cmake/GdrGlibc.cmake promises, and needs no library but the C library and what lies beside it."""
import pathlib
import re
import shutil
import sys
import tempfile

from packages import (as_numbers, elf_files, expect, make, newest_glibc_wanted, one, promised_glibc, run,
                      run_to_the_end, succeed)

C_LIBRARY = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2"}


def build(source):
    folder = source / "build" / "portable"
    if not (folder / "build.ninja").exists():
        succeed("cmake", "--preset", "portable", "-G", "Ninja", cwd=source)
    done = run("cmake", "--build", folder, cwd=source, timeout=7000)
    expect(done.returncode == 0, "\n".join(done.stdout.splitlines()[-30:]))
    return folder


def runs_on_the_promised_glibc(tree, promised):
    files = list(elf_files(tree))
    expect(len(files) >= 14, f"only {len(files)} programs and libraries: {files}")
    newest = "0"
    for path in files:
        version, symbol = newest_glibc_wanted(path)
        expect(as_numbers(version) <= as_numbers(promised),
               f"{path.relative_to(tree)} wants {symbol} of glibc {version}; {promised} is promised: "
               "cmake/glibc has what is newer")
        newest = max(newest, version, key=as_numbers)
        headers = succeed("objdump", "-p", path)
        beside = {other.name for other in path.parent.iterdir()}
        needed = set(re.findall(r"NEEDED +(\S+)", headers)) - C_LIBRARY - beside
        expect(not needed, f"{path.relative_to(tree)} needs {sorted(needed)}")
        paths = set(re.findall(r"(?:RPATH|RUNPATH) +(\S+)", headers))
        expect(paths <= {"$ORIGIN"}, f"{path.relative_to(tree)} looks for libraries in {paths}")
    print(f"ok  {len(files)} programs and libraries want glibc {newest} at most; {promised} is promised")


def main():
    source, made = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    folder = build(source)
    place = made / "packages"
    shutil.rmtree(place, ignore_errors=True)
    kinds = ["DEB", "TGZ"] + (["RPM"] if shutil.which("rpmbuild") else [])
    make(folder, place, kinds)
    make(folder, place / "upgrade", ["DEB"], version="99.1", quickly=True)
    with tempfile.TemporaryDirectory() as scratch:
        succeed("tar", "-xzf", one(place, "*.tar.gz"), "-C", scratch)
        runs_on_the_promised_glibc(pathlib.Path(scratch), promised_glibc(folder))
    for file in sorted(place.iterdir()):
        if file.is_file():
            print(f"ok  {file.name}: {file.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    run_to_the_end(main)

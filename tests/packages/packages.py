"""What the tests of packages share: making them from a build folder, and what is in a file of one."""
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from outcome import expect, run_to_the_end, skip  # noqa: E402, F401: tests take them from here


def run(*command, timeout=1200, **more):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, timeout=timeout, **more)


def succeed(*command, **more):
    done = run(*command, **more)
    expect(done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout}")
    return done.stdout


def make(build, place, kinds, version=None, quickly=False):
    """Packages of what is built in `build`, into `place`. Another version counts as an upgrade; quickly: not
    compressed as for users."""
    settings = []
    if quickly:
        settings += ["-D", "CPACK_DEBIAN_COMPRESSION_TYPE=gzip", "-D", "CPACK_RPM_COMPRESSION_TYPE=gzip"]
    if version:
        other = place / f"version-{version}.cmake"
        place.mkdir(parents=True, exist_ok=True)
        other.write_text(f'set(GDR_PACKAGE_VERSION "{version}")\n')
        settings += ["-D", f"CPACK_GDR_VERSION_FILE={other}"]
    succeed("cpack", "--config", build / "CPackConfig.cmake", "-G", ";".join(kinds), "-B", place,
            *settings, cwd=build, timeout=600)
    shutil.rmtree(place / "_CPack_Packages")


def one(folder, pattern):
    found = sorted(pathlib.Path(folder).glob(pattern))
    expect(len(found) == 1, f"{pattern} in {folder}: {found}")
    return found[0]


def promised_glibc(build):
    """The one number of cmake/GdrGlibc.cmake, as the build has it."""
    found = re.search(r'^set\(CPACK_GDR_GLIBC "([0-9.]+)"\)$', (build / "CPackConfig.cmake").read_text(),
                      re.MULTILINE)
    expect(found is not None, f"{build}/CPackConfig.cmake names no glibc")
    return found[1]


def as_numbers(version):
    return tuple(int(number) for number in version.split("."))


def elf_files(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file() and not path.is_symlink():
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def newest_glibc_wanted(path):
    """The newest version that this file needs, and a symbol of that version."""
    wanted = re.findall(r"\*UND\*.*\(?GLIBC_([0-9.]+)\)? +(\S+)", succeed("objdump", "-T", path))
    expect(wanted, f"objdump -T shows no version for {path}")
    return max(wanted, key=lambda entry: as_numbers(entry[0]))

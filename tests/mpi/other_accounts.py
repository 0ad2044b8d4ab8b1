#!/usr/bin/env python3
"""other_accounts.py GDR: what another account has put where root's gdr looks for programs and libraries is
neither started nor loaded, and is named with whose it is. Every program and library here leaves a mark when
its code runs, and that the marks work is seen each time as the account that owns them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../support"))
from gdr_program import expect, gdr, run  # noqa: E402

OWNER, THIRD = 54440, 54441  # accounts without a name
CONSTRUCTOR = '__attribute__((constructor)) static void mark(void) { fclose(fopen("%s", "w")); }\n'


class Place:
    """A folder that all can look into, with one of each account's, and a mark that all can make."""

    def __init__(self, folder):
        self.root = pathlib.Path(folder)
        self.root.chmod(0o755)
        self.marks = self.root / "marks"
        self.marks.mkdir()
        self.marks.chmod(0o777)
        self.mark = self.marks / "ran"

    def program(self, path, text=""):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n: >{self.mark}\n{text}", encoding="ascii")
        path.chmod(0o755)

    def library(self, path):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        source = self.root / "library.c"
        source.write_text("#include <stdio.h>\nint MPIX_Query_cuda_support(void) { return 0; }\n" +
                          CONSTRUCTOR % self.mark, encoding="ascii")
        subprocess.run(["gcc", "-shared", "-fPIC", "-o", path, source], check=True)

    def give(self, path, user=OWNER):
        for place in [self.root / path, *(self.root / path).rglob("*")]:
            os.lchown(place, user, user)

    def expect_marked(self, wanted, what):
        expect(self.mark.exists() == wanted, f"{what}: {'its code did not run' if wanted else 'its code ran'}")
        self.mark.unlink(missing_ok=True)


def as_account(user):
    def become():
        os.setgroups([])
        os.setgid(user)
        os.setuid(user)
    return {"preexec_fn": become, "cwd": "/"}


def environment(**more):
    return {"PATH": "/usr/bin:/bin", "HOME": "/nowhere", **{name: str(value) for name, value in more.items()}}


def mpis(*words, status, **more):
    done = run("mpi", "check", "--json", *words, **more)
    expect(done.returncode in status, f"{words}: {done.returncode}: {done.stderr}{done.stdout}")
    return {one["prefix"]: one for one in json.loads(done.stdout)["mpis"]}


def make_mpi(place, prefix):
    place.program(f"{prefix}/bin/mpirun", "echo 'mpirun (Open MPI) 4.1.6'\n")
    place.program(f"{prefix}/bin/ompi_info", "echo ompi:version:full:4.1.6\n")
    place.library(f"{prefix}/lib/libmpi.so.40")


def an_mpi_is_not_asked(place):
    make_mpi(place, "owner/ompi")
    place.give("owner")
    prefix, home = str(place.root / "owner/ompi"), place.root / "home"
    launcher = f"{prefix}/bin/mpirun"
    (home / ".conda").mkdir(parents=True)
    (home / ".conda/environments.txt").write_text(prefix + "\n", encoding="ascii")
    modules = home / "modules/openmpi"
    modules.mkdir(parents=True)
    (modules / "4").write_text(f"#%Module\nprepend-path PATH {prefix}/bin\n", encoding="ascii")
    ways = {"PATH": environment(PATH=f"{prefix}/bin:/usr/bin:/bin"), "a variable": environment(MPI_HOME=prefix),
            "a list of conda": environment(HOME=home), "a module": environment(MODULEPATH=home / "modules")}
    for way, variables in ways.items():
        one = mpis(env=variables, status=(0, 1, 3))[prefix]
        place.expect_marked(False, f"mpi check as root, found by {way}")
        expect(one["verdict"] == "unknown" and one["not_asked"].startswith(launcher + ": "), one)
        expect(one["not_asked"].endswith("/owner belongs to account 54440"), one["not_asked"])
        expect(one["settings"][0]["command"] == f"sudo -u '#54440' gdr mpi check {launcher}", one["settings"])
    text = " ".join(run("mpi", "check", env=ways["a variable"]).stdout.split())
    expect("Not asked: " in text and "belongs to account 54440" in text, text)
    done = run("mpi", "check", launcher, env=environment())
    place.expect_marked(False, "mpi check of a launcher that root has named")
    expect(done.returncode == 2 and "not asked: " in done.stderr and done.stderr.count("\n") == 1, done.stderr)
    # Its owner asks it; a third account only where it has named it, or its folder in PATH.
    for user, words, variables, wanted in (
            (OWNER, [], ways["a variable"], True), (THIRD, [], ways["a variable"], False),
            (THIRD, [launcher], environment(), True), (THIRD, [], ways["PATH"], True)):
        mpis(*words, env=variables, status=(0, 1, 3), **as_account(user))
        place.expect_marked(wanted, f"mpi check {words} as {user}")


def a_file_in_a_root_folder_that_others_write(place):
    make_mpi(place, "root/ompi")
    variables = environment(MPI_HOME=place.root / "root/ompi")
    prefix = str(place.root / "root/ompi")
    mpis(env=variables, status=(0, 1, 3))
    place.expect_marked(True, "root's own")
    for path, mode in (("root/ompi/bin/ompi_info", 0o757), ("root/ompi/bin", 0o777), ("root", 0o777)):
        before = (place.root / path).stat().st_mode & 0o7777
        (place.root / path).chmod(mode)
        one = mpis(env=variables, status=(0, 1, 3))[prefix]
        place.expect_marked(False, f"{path} with mode {mode:o}")
        expect("can be written by everybody" in one["not_asked"], one)
        (place.root / path).chmod(before)
    # A library alone: its MPI is asked, and the library not loaded.
    place.program("root/ompi/bin/mpirun")
    for name in ("mpirun", "ompi_info"):
        (place.root / "root/ompi/bin" / name).write_text("#!/bin/sh\necho ompi:version:full:4.1.6\n", encoding="ascii")
    place.give("root/ompi/lib")
    mpis(env=variables, status=(0, 1, 3))
    place.expect_marked(False, "a library of another account")


def a_program_whose_libraries_are_looked_for_elsewhere(place):
    """Root's own ompi_info, built in another account's folder, where its RUNPATH still leads."""
    make_mpi(place, "root/ompi")
    place.library("owner/build/libmark.so")
    place.give("owner")
    place.marks.joinpath("main.c").write_text('int puts(const char*);\nint main(void) { return puts("x") < 0; }\n',
                                              encoding="ascii")
    info = place.root / "root/ompi/bin/ompi_info"
    folder = place.root / "owner/build"
    subprocess.run(["gcc", "-o", info, place.marks / "main.c", "-Wl,--no-as-needed", f"-L{folder}", "-lmark",
                    f"-Wl,-rpath,{folder}"], check=True)
    place.program("root/ompi/bin/mpirun", "exit 1\n")
    variables = environment(MPI_HOME=place.root / "root/ompi")
    one = mpis(env=variables, status=(0, 1, 3))[str(place.root / "root/ompi")]
    place.expect_marked(False, "root's program with another account's libraries")
    expect(one["not_asked"] == f"{info}: {place.root}/owner belongs to account 54440", one["not_asked"])
    (place.root / "root/ompi/bin/mpirun").unlink()
    shutil.copy(info, place.root / "root/ompi/bin/mpirun")
    done = run("mpi", "run", env=environment(PATH=f"{place.root}/root/ompi/bin:/usr/bin:/bin"))
    place.expect_marked(False, "root's mpirun with another account's libraries")
    expect(done.returncode == 2 and f"mpirun is not started: {place.root}/owner belongs to account 54440" in done.stderr,
           done.stderr)
    subprocess.run([info], check=True, capture_output=True)
    place.expect_marked(True, "the program by itself")


def programs_by_path(place):
    for name in ("ompi_info", "ucx_info", "nvidia-smi", "mpirun", "mpicc", "lldpctl"):
        place.program(f"tools/{name}")
    place.give("tools")
    variables = environment(PATH=f"{place.root}/tools:/usr/bin:/bin")
    done = run("doctor", env=variables)
    place.expect_marked(False, "gdr doctor as root")
    expect(f"left out of PATH, since this is root and another account could put something there: {place.root}/tools"
           in done.stderr, done.stderr)
    done = run("mpi", "run", env=variables)
    place.expect_marked(False, "gdr mpi run as root")
    expect(done.returncode == 2 and f"{place.root}/tools/mpirun is not started: {place.root}/tools belongs to"
           in done.stderr and "--mpirun FILE" in done.stderr, done.stderr)
    run("mpi", "run", "--mpirun", place.root / "tools/mpirun", env=environment())
    place.expect_marked(True, "the mpirun that root has named")


def plug_ins_where_variables_lead(place):
    """Open MPI's own ompi_info loads the components below OPAL_PREFIX and HOME."""
    place.program("root/bin/ompi_info", 'for i in "$OPAL_PREFIX" "$HOME"; do [ -z "$i" ] || "$i/component"; done\n')
    place.program("root/bin/ucx_info")
    for name in ("ompi_info", "ucx_info"):
        script = place.root / "root/bin" / name
        script.write_text(script.read_text().replace(f": >{place.mark}\n", ""), encoding="ascii")
    place.program("owner/component")
    place.give("owner")
    owner = place.root / "owner"
    variables = environment(PATH=f"{place.root}/root/bin:/bin", OPAL_PREFIX=owner, HOME=owner)
    for words in (["doctor", "--only", "mpi-ucx"], ["mpi", "check"]):
        run(*words, env=variables)
        place.expect_marked(False, f"gdr {words} with variables that lead to another account's folder")
    subprocess.run([place.root / "root/bin/ompi_info"], env=variables, check=True)
    place.expect_marked(True, "ompi_info by itself")


def libraries_by_search(place):
    for name in ("libarchive.so.13", "libcuda.so.1", "libnvidia-ml.so.1", "libibverbs.so.1", "libpci.so.3"):
        place.library(f"libraries/{name}")
    place.give("libraries")
    captured = place.root / "captured"
    (captured / "sys").mkdir(parents=True)
    subprocess.run(["tar", "-cf", place.root / "captured.tar", "-C", captured, "."], check=True)
    # The first way to write it begins with a folder of gdr's own.
    own = os.path.realpath(os.path.join(os.path.dirname(gdr), "../lib/gdrkit"))
    around = f"{own}/{os.path.relpath(place.root / 'libraries', own)}"
    for folder in (around, f"{place.root}/libraries"):
        variables = environment(LD_LIBRARY_PATH=folder)
        for words in (["topo", "--root", place.root / "captured.tar"], ["doctor"], ["list"]):
            done = run(*words, env=variables)
            place.expect_marked(False, f"gdr {words} as root with LD_LIBRARY_PATH={folder}")
            expect("left out of LD_LIBRARY_PATH" in done.stderr and done.returncode in (0, 1, 2, 3), done.stderr)
    run("topo", "--root", place.root / "captured.tar", env=variables, **as_account(THIRD))
    place.expect_marked(True, "an account's own LD_LIBRARY_PATH")


def folders_in_which_others_rename(place):
    team = place.root / "team"
    team.mkdir()
    (team / "mine").mkdir()
    os.chown(team, 0, THIRD)
    for mode, how in ((0o777, "can be written by everybody"), (0o2770, "can be written by the group 54441")):
        team.chmod(mode)
        for words, more in ((["mpi", "run", "--folder", team / "mine"], {}),
                            (["mpi", "run", "--hosts", "a,b"], {"cwd": team / "mine"}),
                            (["mpi", "run"], {"env": {**os.environ, "TMPDIR": str(team / "mine")}}),
                            (["nccl", "run", "--", "true"], {"env": {**os.environ, "TMPDIR": str(team / "mine")}})):
            done = run(*words, **more)
            expect(done.returncode == 2 and f"{team}/mine is not safe for a folder: {team} {how}; " in done.stderr
                   and done.stderr.count("\n") == 1, f"{words}: {done.returncode}: {done.stderr}")
            expect("--folder DIR" in done.stderr or "TMPDIR" in done.stderr, done.stderr)
            expect(list((team / "mine").iterdir()) == [], f"{words} left something behind")
    # Each rank looks at the program on its own host.
    place.program("team/mine/gdr-mpi")
    team.chmod(0o777)
    for words in ([], ["--soft-nic"]):
        done = run("mpi-rank", *words, "--", team / "mine/gdr-mpi")
        place.expect_marked(False, f"a rank {words} in a folder that others write")
        expect(done.returncode == 126 and f"{team} can be written by everybody; type --folder DIR" in done.stderr,
               f"{done.returncode}: {done.stderr}")
    team.chmod(0o755)
    run("mpi-rank", "--", team / "mine/gdr-mpi")
    place.expect_marked(True, "a rank in a folder of root's")


def main():
    if os.geteuid() != 0 or not shutil.which("gcc"):
        print("skipped: needs root, to make files of other accounts, and gcc")
        return 77
    expect(os.access(gdr, os.X_OK), gdr)
    for case in (an_mpi_is_not_asked, a_file_in_a_root_folder_that_others_write,
                 a_program_whose_libraries_are_looked_for_elsewhere, programs_by_path,
                 plug_ins_where_variables_lead, libraries_by_search, folders_in_which_others_rename):
        with tempfile.TemporaryDirectory() as folder:
            case(Place(folder))
        print("ok ", case.__name__)
    return 0


sys.exit(main())

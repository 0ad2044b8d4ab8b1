#!/usr/bin/env python3
"""installed.py GDR: what gdr mpi check says of the distribution's Open MPI and MPICH is what their own
programs say."""
import json
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../support"))
from gdr_program import expect, run  # noqa: E402
from outcome import skip  # noqa: E402

PARAMETERS = ("pml", "btl", "mtl", "opal_built_with_cuda_support", "mpi_built_with_cuda_support",
              "opal_cuda_support", "mpi_cuda_support", "btl_openib_have_cuda_gdr",
              "btl_openib_have_driver_gdr", "btl_openib_want_cuda_gdr", "btl_openib_allow_ib")


def check(launcher):
    done = run("mpi", "check", launcher, "--json")
    expect(done.stderr == "", f"{launcher}: {done.stderr}")
    document = json.loads(done.stdout)
    expect(document["exit_status"] == done.returncode, f"{launcher}: status {done.returncode}")
    expect(len(document["mpis"]) == 1, f"{launcher}: {len(document['mpis'])} MPIs")
    return document["mpis"][0]


def output(*words):
    return subprocess.run(words, capture_output=True, text=True, timeout=600).stdout


def said_by_ompi_info():
    values, components = {}, {}
    for line in output("ompi_info", "--parsable", "--all").splitlines():
        words = line.split(":")
        if line.startswith("ompi:version:full:"):
            values["version"] = words[3]
        if len(words) > 6 and words[0] == "mca" and words[3] == "param" and words[5] == "value":
            values[words[4]] = ":".join(words[6:])
        if len(words) > 4 and words[0] == "mca" and words[3] == "version":
            components.setdefault(words[1], set()).add(words[2])
    return values, components


def check_open_mpi(launcher):
    one = check(launcher)
    values, components = said_by_ompi_info()
    expect(one["mpi"] == "Open MPI" and one["version"] == values["version"], one["version"])
    for name in PARAMETERS:
        found = one["parameters"].get(name, {}).get("value")
        expect(found == values.get(name), f"{name}: {found}, not {values.get(name)}")
    for framework in ("pml", "btl", "mtl"):
        expect(set(one["components"][framework]) == components[framework],
               f"{framework}: {one['components'][framework]}")
    built = values["mpi_built_with_cuda_support"] == "true"
    expect(one["cuda_built"] is built, f"cuda_built: {one['cuda_built']}")
    if one["query_cuda_support"]:
        # Open MPI 5 returns 0 on a host without a GPU, whatever is built in.
        expect(one["query_cuda_support_returns"] in (0, int(built)), "MPIX_Query_cuda_support")
    # Without CUDA a GPU pointer crashes, but for what a UCX with CUDA carries.
    expect(built or one["verdict"] in ("none", "partial"), one["verdict"])
    expect(one["verdict"] == "direct" or one["missing"], "nothing said to be missing")


def check_mpich(launcher):
    one = check(launcher)
    said = dict(line.split(":", 1) for line in output("mpichversion").splitlines() if ":" in line)
    said = {key.strip(): value.strip() for key, value in said.items()}
    expect(one["mpi"] == "MPICH" and one["version"] == said["MPICH Version"], one["version"])
    expect(one["device"] == said["MPICH Device"], one["device"])
    expect(one["configure"] == said["MPICH configure"], one["configure"])
    if "--without-yaksa" in said["MPICH configure"]:
        expect(one["cuda_built"] is False and one["verdict"] in ("none", "partial"), one["verdict"])
    if "ucx" in said["MPICH Device"] and shutil.which("ucx_info"):
        version = output("ucx_info", "-v").split()
        expect(one["ucx"]["version"] in version, f"UCX {one['ucx']['version']}")


def check_all(launchers):
    done = run("mpi", "check", "--json")
    document = json.loads(done.stdout)
    found = {one["mpi"] for one in document["mpis"]}
    for name in launchers:
        expect(name in found, f"{name} is not among {found}")
    first = document["mpis"][0]
    used = shutil.which("mpirun") or shutil.which("mpiexec")
    expect(first["in_use"] == bool(used), "the one in use is not the first")
    if len(launchers) > 1:
        expect(any("are installed" in one["what"] for one in document["mixtures"]),
               "two installations are not named")


def main():
    launchers = {}
    for name, launcher in (("Open MPI", "mpirun.openmpi"), ("MPICH", "mpirun.mpich")):
        if shutil.which(launcher):
            launchers[name] = launcher
    if not launchers:
        skip("neither mpirun.openmpi nor mpirun.mpich is installed")
    if "Open MPI" in launchers:
        check_open_mpi(launchers["Open MPI"])
    if "MPICH" in launchers:
        check_mpich(launchers["MPICH"])
    check_all(launchers)
    print("checked:", ", ".join(launchers))


main()

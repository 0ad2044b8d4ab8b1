#!/usr/bin/env python3
"""cuda.py GDR [--faults] [PATTERN]: perftest built with CUDA, its buffers in GPU memory.

    GDR_PERFTEST_CUDA=FOLDER tests/programs/perftest/cuda.py build/bin/gdr

FOLDER holds the built programs (docs/run.md tells how they are built). On the software NIC,
and on a real GPU where there is one, else on the software GPU. A run is a server and a client, as two
processes; it passes when both exit with 0 and the client prints its lines of results. perftest looks at
the data where it is told to (--data_validation), with the CPU for what leaves GPU memory, with kernels
for what arrives there; with --faults (GDR must be a test build) it is seen to notice a wrong byte.
PATTERN (a regular expression) picks runs by their name.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from figures import RESULT, undisturbed  # noqa: E402
from two_programs import Here, run_server_and_client  # noqa: E402

LIMIT = 600  # seconds for each process
SIZES_OF_ALL = 23  # 2 to 2^23
ON_GPU, ON_NEXT_GPU, ON_HOST = ["--use_cuda=0"], ["--use_cuda=1"], []
VALIDATED = ["--data_validation", "-t", "128", "-n", "1000"]
PASSED = re.compile(r"VALIDATION: PASSED - [1-9]\d* chunks, [1-9]\d* bytes")
FAILED = re.compile(r"VALIDATION: FAILED - [1-9]\d* error")
# What older releases say: 6.26 has no --data_validation and no latency of writes to GPU memory.
NOT_OFFERED = re.compile("unrecognized option '--data_validation'|"
                         "Perftest supports CUDA latency tests with read/send verbs only")


@dataclasses.dataclass
class Run:
    program: str
    arguments: list
    server: list
    client: list
    results: int = 1
    expected: re.Pattern = None  # in what either of the two prints
    fault: str = None

    def name(self):
        told = " ".join([self.program, *self.arguments])
        if self.server == self.client:
            told += " " + " ".join(self.server)
        else:
            told += (f" (server: {' '.join(self.server) or 'host memory'}; "
                     f"client: {' '.join(self.client) or 'host memory'})")
        return f"GDR_FAULT={self.fault} {told}" if self.fault else told


def figures_of_both_sides():
    """Every kind of program and both sides' memory on a GPU."""
    for export in ([], ["--use_cuda_dmabuf"]):
        both = ON_GPU + export
        for operation in ("write", "read", "send"):
            program = f"ib_{operation}_bw"
            yield Run(program, ["-s", "65536", "-n", "1000"], both, both)
            yield Run(program, ["-a", "-n", "20"], both, both, results=SIZES_OF_ALL)
            yield Run(program, ["-s", "65536", "-n", "1000"], both, ON_NEXT_GPU + export)
        yield Run("ib_atomic_bw", ["-n", "1000"], both, both)
        # A program cannot wait in GPU memory for a write to arrive.
        yield Run("ib_write_lat", ["--write_with_imm", "-n", "1000"], both, both)
        yield Run("ib_read_lat", ["-n", "1000"], both, both)
        yield Run("ib_send_lat", ["-n", "1000"], both, both)
        yield Run("ib_write_bw", ["-q", "8", "-b", "-n", "500"], both, both)
        yield Run("ib_send_bw", ["-e", "-n", "1000"], both, both)
        yield Run("ib_send_bw", ["--use-srq", "-q", "4", "-n", "500"], both, both)
        yield Run("ib_write_bw", ["-c", "UC", "-n", "1000"], both, both)
        yield Run("ib_send_bw", ["-c", "UD", "-n", "1000"], both, both)


def data_out_of_gpu_memory(faults):
    """The side whose memory is the host's compares."""
    for export in ([], ["--use_cuda_dmabuf"]):
        gpu = ON_GPU + export
        yield Run("ib_write_bw", VALIDATED, ON_HOST, gpu, expected=PASSED)
        yield Run("ib_read_bw", VALIDATED, gpu, ON_HOST, expected=PASSED)
    if faults:
        yield Run("ib_write_bw", VALIDATED, ON_HOST, ON_GPU, expected=FAILED, fault="short_last_byte")
        yield Run("ib_read_bw", VALIDATED, ON_GPU, ON_HOST, expected=FAILED, fault="short_last_byte")


def data_into_gpu_memory(faults):
    """perftest compares by kernels, which the software GPU does not run."""
    for export in ([], ["--use_cuda_dmabuf"]):
        gpu = ON_GPU + export
        yield Run("ib_write_bw", VALIDATED, gpu, gpu, expected=PASSED)
        yield Run("ib_read_bw", VALIDATED, gpu, gpu, expected=PASSED)
    if faults:
        yield Run("ib_write_bw", VALIDATED, ON_GPU, ON_GPU, expected=FAILED, fault="short_last_byte")


def start_both(gdr, folder, run):
    command = [gdr, "run", "--soft-nic", "--", str(folder / run.program), "-d", "soft0",
               *run.arguments]
    if run.fault:
        command = ["env", f"GDR_FAULT={run.fault}", *command]
    return run_server_and_client(Here(), command + run.server, command + run.client, LIMIT)


def attempt(gdr, folder, run):
    """None when it passes, else what was seen."""
    wrong, said, heard = start_both(gdr, folder, run)
    if wrong is not None:
        return wrong
    lines = list(RESULT.finditer(said))
    if len(lines) != run.results:
        return f"{len(lines)} lines of results, not {run.results}:\n{said}"
    if run.expected and not run.expected.search(said + heard):
        return f"nothing that matches '{run.expected.pattern}':\n{said}\n--- server\n{heard}"
    print(f"{run.name()}: {' '.join(lines[-1].group().split())}", flush=True)
    return None


def look_at_gpus(gdr, folder):
    """What was wrong, or None; how many there are; whether they are the software GPU's."""
    wrong, said, _ = start_both(gdr, folder, Run("ib_write_bw", ["-n", "100"], ON_GPU, ON_GPU))
    return (wrong, len(re.findall("^CUDA device [0-9]+: ", said, re.MULTILINE)),
            "gdrkit software GPU" in said)


def choose(gdr, folder, options):
    """What was wrong, or None; and the runs, with a line for what is left out."""
    wrong, gpus, on_software = look_at_gpus(gdr, folder)
    if wrong is not None:
        return wrong, []
    runs = [*figures_of_both_sides(), *data_out_of_gpu_memory(options.faults)]
    if on_software:
        print("not run: perftest's check of what arrives in GPU memory, since no kernel runs on the "
              "software GPU; cudart_verbs (tests/gpu) and gdr prove look at these bytes")
    else:
        runs += data_into_gpu_memory(options.faults)
    if gpus < 2:
        print("not run: one GPU to another, since there is one")
        runs = [run for run in runs if run.client[:1] != ON_NEXT_GPU]
    return None, [run for run in runs if options.pattern.search(run.name())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("gdr", type=os.path.abspath)
    parser.add_argument("--faults", action="store_true")
    parser.add_argument("pattern", nargs="?", default=re.compile(""), type=re.compile)
    options = parser.parse_intermixed_args()
    told = os.environ.get("GDR_PERFTEST_CUDA")
    if not told:
        print("skipped: GDR_PERFTEST_CUDA names no folder with perftest built with CUDA (docs/run.md "
              "tells how it is built)")
        return 77
    folder = pathlib.Path(told).resolve()
    # Where perftest looks for its kernels.
    known = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{folder}:{known}" if known else str(folder)

    wrong, runs = choose(options.gdr, folder, options)
    if wrong is not None:
        print(f"FAILED: {folder}/ib_write_bw --use_cuda=0\n{wrong}")
        return 1
    if not runs:
        print(f"no run's name matches '{options.pattern.pattern}'")
        return 2
    failed = not_offered = 0
    for run in runs:
        # pylint: disable=cell-var-from-loop  # called before the loop goes on
        seen = undisturbed(lambda: attempt(options.gdr, folder, run))
        if seen is not None and NOT_OFFERED.search(seen):
            not_offered += 1
            print(f"this perftest does not offer {run.name()}", flush=True)
        elif seen is not None:
            failed += 1
            print(f"FAILED: {run.name()}\n{seen}\n", flush=True)
    passed = len(runs) - failed - not_offered
    print(f"{passed} of {len(runs)} runs passed, {not_offered} are not offered by this perftest")
    return 0 if passed and not failed else 1


if __name__ == "__main__":
    sys.exit(main())

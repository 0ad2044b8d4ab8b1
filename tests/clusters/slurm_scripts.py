#!/usr/bin/env python3
"""slurm_scripts.py TREE: Slurm's prolog, epilog and health check with a scontrol that only notes what it was
told. slurm_node.py shows the same with Slurm itself."""
import os
import pathlib
import sys
import tempfile

from installation import Installation, expect, run

SCONTROL = """#!/bin/sh
here=$(dirname "$0")
if [ "$1" = show ]; then cat "$here/node"; exit; fi
echo "$*" >>"$here/told"
"""


def judge(script, status, part="", **environment):
    done = run(script, env=environment)
    expect(done.returncode == status, f"{script.name}: status {done.returncode}, not {status}: {done.stderr}")
    expect(part in done.stderr and bool(part) == bool(done.stderr), f"{script.name}: {done.stderr!r}")


def prolog(installed, script):
    """The machine's files first, then the job's own GPUs."""
    installed.show("bad")
    judge(script, 1, "gdr-prolog: gdr: devices: /dev/nvidiactl is absent", SLURM_JOB_GPUS="0")
    expect(not any(call.startswith("prove") for call in installed.calls()), "proves where files say that it fails")
    installed.show("good")
    judge(script, 0)
    expect(not any(call.startswith("prove") for call in installed.calls()), "takes GPUs that are not the job's")
    installed.have_hardware(True)
    judge(script, 0, SLURM_JOB_ID="7", SLURM_JOB_GPUS="0,1")
    proofs = [call for call in installed.calls() if call.startswith("prove")]
    expect([proof.rsplit(" ", 2)[-2:] for proof in proofs] == [["--gpu", "0"], ["--gpu", "1"]], proofs)
    expect(all("--require-hardware" in proof for proof in proofs), f"may pass as a simulation: {proofs}")
    expect(not os.path.exists("/run/gdr-prolog-7.txt"), "the report of a good proof stays")
    installed.have_hardware(False)
    judge(script, 1, "GPU 1: gdr prove ended with status 1; /run/gdr-prolog-7.txt", SLURM_JOB_ID="7",
          SLURM_JOB_GPUS="1")
    report = pathlib.Path("/run/gdr-prolog-7.txt")
    expect("FAILED" in report.read_text(encoding="utf-8"), "the report does not say why")
    report.unlink()


def broken_gdr_drains_no_node(installed, prolog_script, epilog_script):
    installed.break_gdr(127)
    judge(prolog_script, 0)
    judge(epilog_script, 0)
    judge(prolog_script, 1, "ended with status 127", SLURM_JOB_ID="8", SLURM_JOB_GPUS="0")  # but nothing is proved
    os.unlink("/run/gdr-prolog-8.txt")
    installed.break_gdr(None)


def epilog(installed, script):
    installed.show("bad")
    judge(script, 1, "gdr-epilog: gdr: devices: /dev/nvidiactl is absent")
    installed.show("warns")
    judge(script, 0)


def health(installed, work):
    """Each state of the node with each verdict."""
    (work / "scontrol").write_text(SCONTROL, encoding="ascii")
    (work / "scontrol").chmod(0o755)
    script = installed.clusters / "slurm/health-check.sh"
    finding = "gdr: devices: /dev/nvidiactl is absent"
    drained = "NodeName=n1 State=IDLE+DRAIN Reason="
    for machine, broken, node, told in [
        ("good", None, "NodeName=n1 State=IDLE", []),
        ("bad", None, "NodeName=n1 State=IDLE", [f"update NodeName=n1 State=DRAIN Reason={finding}"]),
        ("bad", None, f"{drained}{finding} [root@2026-11-26T10:00:00]", []),
        ("bad", None, f"{drained}gdr: acs: another [root@2026-11-26T10:00:00]",
         [f"update NodeName=n1 Reason={finding}"]),
        ("bad", None, f"{drained}new fan [ann@2026-11-26T10:00:00]", []),
        ("good", None, f"{drained}{finding} [root@2026-11-26T10:00:00]", ["update NodeName=n1 State=RESUME"]),
        ("good", None, f"{drained}new fan [ann@2026-11-26T10:00:00]", []),
        ("good", None, f"{drained}Prolog error [root@2026-11-26T10:00:00]", []),
        ("good", 2, f"{drained}{finding} [root@2026-11-26T10:00:00]", []),
        ("good", 2, "NodeName=n1 State=IDLE", []),
    ]:
        installed.show(machine)
        installed.break_gdr(broken)
        (work / "node").write_text(node + "\n", encoding="ascii")
        (work / "told").unlink(missing_ok=True)
        done = run(script, env={"PATH": f"{work}:{os.environ['PATH']}", "SLURMD_NODENAME": "n1"})
        heard = (work / "told").read_text(encoding="ascii").splitlines() if (work / "told").exists() else []
        expect(done.returncode == 0 and heard == told, f"{machine}, {broken}, {node}: told {heard}: {done.stderr}")


if os.geteuid() != 0:
    print("skipped: slurmd runs these as root, and they write to /run")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    here = Installation(sys.argv[1], scratch)
    # As a site does it: links in its own folder.
    scripts = []
    for name in ("prolog.d", "epilog.d"):
        (scratch / name).mkdir()
        scripts.append(scratch / name / "50-gdr.sh")
        scripts[-1].symlink_to(here.clusters / "slurm" / name / "50-gdr.sh")
    prolog(here, scripts[0])
    epilog(here, scripts[1])
    broken_gdr_drains_no_node(here, *scripts)
    health(here, scratch)

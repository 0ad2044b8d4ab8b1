#!/usr/bin/env python3
"""ci_page.py TREE PAGE: the files of docs/ci.md are written where their first lines say, and the steps of its
jobs run, with the gdr of TREE in place of the one that they install."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from installation import expect, run

try:
    import yaml
except ImportError:
    print("skipped: no module yaml (package python3-yaml)")
    sys.exit(77)

TREE, PAGE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])


def files_of_page(folder):
    """Each fence's file; that of a job is parsed only."""
    written = {}
    for fence in re.findall(r"^```(?:sh|python|yaml)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S):
        name = re.search(r"^# ([\w./-]+\.(?:sh|py|yml))", fence, flags=re.M)
        expect(name, f"a fence that names no file: {fence[:80]}")
        file = folder / name[1]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(fence, encoding="utf-8")
        file.chmod(0o755)
        written[name[1]] = fence
    return written


def github_steps(text):
    jobs = yaml.safe_load(text)["jobs"].values()
    return [step for job in jobs for step in job["steps"] if "run" in step], "Install gdrkit"


def run_step(name, script, folder):
    environment = dict(os.environ, PATH=f"{TREE}/bin:{os.environ['PATH']}")
    # A step's shell, as GitHub and GitLab start it; its processes end with it.
    with subprocess.Popen(["sh", "-e", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, start_new_session=True) as process:
        try:
            output, _ = process.communicate(timeout=150)
        finally:
            end_group(process.pid)
    expect(process.returncode == 0, f"{name}: status {process.returncode}: {output}")
    print(f"{name}: done")


def end_group(leader):
    """What a step left behind would meet the next one's processes."""
    try:
        os.killpg(leader, signal.SIGKILL)
    except ProcessLookupError:
        pass


def only_parsed(name, script):
    done = run("sh", "-n", "-c", script)
    expect(done.returncode == 0, f"{name}: {done.stderr}")


def linted(folder, files):
    if not shutil.which("shellcheck"):
        return
    done = run("shellcheck", *(folder / name for name in files if name.endswith(".sh")))
    expect(done.returncode == 0, done.stdout)


def falling_back_is_noticed(folder):
    """The promise behind --expect: a program that used no RDMA does not pass."""
    environment = dict(os.environ, PATH=f"{TREE}/bin:{os.environ['PATH']}")
    done = run("gdr", "watch", "--expect", "rdma", "--", "gdr", "run", "--", "true", env=environment, cwd=folder)
    expect(done.returncode == 1, f"a program without RDMA passes: {done.stdout}{done.stderr}")


if not shutil.which("ib_write_bw"):
    print("skipped: no ib_write_bw (package perftest)")
    sys.exit(77)
with tempfile.TemporaryDirectory() as scratch:
    scratch = pathlib.Path(scratch)
    files = files_of_page(scratch)
    expect(sorted(files) == [".github/workflows/rdma.yml", ".gitlab-ci.yml", "tests/gpu_memory.py",
                             "tests/two_processes.sh"], sorted(files))
    linted(scratch, files)
    steps, installs = github_steps(files[".github/workflows/rdma.yml"])
    ran = []
    for step in steps:
        if step["name"] == installs:
            only_parsed(step["name"], step["run"])
        else:
            run_step(step["name"], step["run"], scratch)
            ran.append(step["run"])
    expect(len(ran) == 4, ran)
    job = yaml.safe_load(files[".gitlab-ci.yml"])["rdma"]
    only_parsed("before_script", "\n".join(job["before_script"]))
    # So what has run is what GitLab runs, too.
    expect(job["script"] == ran, f"GitHub runs {ran}, GitLab {job['script']}")
    falling_back_is_noticed(scratch)

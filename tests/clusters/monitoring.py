#!/usr/bin/env python3
"""monitoring.py TREE: the scripts that tell monitoring what gdr doctor finds, with node-problem-detector's
and systemd's files that start them, from an installed tree."""
import json
import os
import pathlib
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time

from installation import Installation, expect, run


def verdicts(installed):
    """One printable line of at most 80 characters, and a status that node-problem-detector knows."""
    script = installed.clusters / "monitoring/gdr-verdict"
    for machine, broken, status, line in [
        ("good", None, 0, "gdr: no check fails"),
        ("warns", None, 0, "gdr: warning: locked-memory: "),
        ("bad", None, 1, "gdr: devices: /dev/nvidiactl is absent"),
        ("empty", None, 2, "gdr: doctor ended with status 2: gdr doctor: "),
        ("good", 139, 2, "gdr: doctor ended with status 139: "),
    ]:
        installed.show(machine)
        installed.break_gdr(broken)
        done = run(script, env={"LANG": "C.UTF-8"})
        what = f"{machine}: status {done.returncode}: {done.stdout!r} {done.stderr!r}"
        expect(done.returncode == status and done.stdout.startswith(line) and not done.stderr, what)
        expect(re.fullmatch(r"[ -~]{1,80}\n", done.stdout), f"not one short line: {what}")
    installed.break_gdr(None)
    # What is longer is cut, and what is no ASCII becomes a question mark.
    installed.show("bad")
    done = run(script, "--only", "é" * 100)
    expect(done.returncode == 2 and re.fullmatch(r"[ -~]{80}\n", done.stdout), done.stdout)
    missing = run(script, env={"PATH": "/usr/bin:/bin", "GDR": "/missing"})
    if not shutil.which("gdr", path="/usr/bin:/bin"):
        expect(missing.returncode == 2 and "not installed" in missing.stdout, missing.stdout)


def problem_detector(installed):
    config = json.loads((installed.clusters / "node-problem-detector/gdr-monitor.json").read_text(encoding="ascii"))
    known = {condition["type"] for condition in config["conditions"]}
    seconds = lambda text: int(re.fullmatch(r"(\d+)s", text)[1])
    expect(config["plugin"] == "custom" and config["pluginConfig"]["max_output_length"] >= 80, config)
    expect(seconds(config["pluginConfig"]["timeout"]) < seconds(config["pluginConfig"]["invoke_interval"]), config)
    for rule in config["rules"]:
        expect(rule["type"] == "permanent" and rule["condition"] in known, rule)
        # The script ends within 30 s by itself, and then says why.
        expect(30 < seconds(rule["timeout"]) <= seconds(config["pluginConfig"]["timeout"]), rule)
        for machine, status in (("good", 0), ("bad", 1), ("empty", 2)):
            installed.show(machine)
            done = run(as_installed(installed, rule["path"]), env={})
            expect(done.returncode == status, f"{machine}: {done}")
    # It says of a healthy node the same as the plugin.
    installed.show("good")
    done = run(installed.clusters / "monitoring/gdr-verdict")
    expect(config["conditions"][0]["message"] + "\n" == done.stdout, done.stdout)


def as_installed(installed, path):
    """The tree that this is a copy of was installed elsewhere, and its files name that place."""
    found = re.fullmatch(r"(.*)/(share/gdrkit/.*|bin/gdr)", path)
    expect(found and found[1] == TREE, f"{path} does not name the prefix {TREE}")
    return installed.prefix / found[2]


def textfile(installed, folder):
    script = installed.clusters / "monitoring/gdr-textfile"
    for words, part in [([], "folder is missing"), (["--every", "0", folder], "number of seconds"),
                        (["--every"], "number of seconds"), (["--nonsense", folder], "unknown option"),
                        ([folder, folder], "one is allowed"), (["--node-features"], "needs a folder")]:
        done = run(script, *words)
        expect(done.returncode == 2 and done.stderr.count("\n") == 1 and part in done.stderr, f"{words}: {done}")
    file = folder / "gdr.prom"
    before = None
    for machine, status in (("good", 0), ("warns", 3), ("bad", 1)):
        installed.show(machine)
        done = run(script, folder, umask=0o077)
        expect(done.returncode == 0 and not done.stdout and not done.stderr, f"{machine}: {done}")
        text = file.read_text(encoding="utf-8")
        expect(f"\ngdr_doctor_exit_status {status}\n" in text, text)
        expect(stat.S_IMODE(file.stat().st_mode) == 0o644, "node_exporter, another user, cannot read it")
        expect(file.stat().st_ino != before, "not replaced whole")
        before = file.stat().st_ino
    expect("--no-probe" in installed.calls()[-1], "starts CUDA beside jobs")
    for broken in (2, 1, 137):
        installed.break_gdr(broken)
        done = run(script, folder)
        expect(done.returncode == 1 and done.stderr.count("\n") == 1, done)
        expect(file.stat().st_ino == before, "what gdr did not write replaced the last metrics")
    installed.break_gdr(None)
    done = run(script, folder / "missing")
    expect(done.returncode == 1 and done.stderr, f"a folder that is not there: {done}")
    expect(os.listdir(folder) == ["gdr.prom"], f"left behind: {os.listdir(folder)}")


def textfile_for_ever(installed, folder, features):
    """As in a container: it goes on after a failure, labels the node, and ends soon after SIGTERM."""
    installed.show("bad")
    script = installed.clusters / "monitoring/gdr-textfile"
    loop = subprocess.Popen([script, "--every", "1", "--node-features", features, folder, "--", "--only", "devices"],
                            stderr=subprocess.DEVNULL)
    try:
        label = features / "gdrkit"
        wait_for(lambda: label.exists() and "gdrkit.io/doctor=fail\n" in label.read_text(encoding="ascii"))
        installed.break_gdr(2)
        time.sleep(1.5)
        installed.break_gdr(None)
        installed.show("good")
        wait_for(lambda: "gdrkit.io/doctor=ok\n" in label.read_text(encoding="ascii"))
        text = label.read_text(encoding="ascii")
        found = re.fullmatch(r"# \+expiry-time=(\S+Z)\ngdrkit\.io/doctor=ok\n", text)
        expect(found, f"not a feature file: {text}")
        left = time.mktime(time.strptime(found[1], "%Y-%m-%dT%H:%M:%SZ")) - time.mktime(time.gmtime())
        expect(-60 <= left <= 4, f"expires in {left} s")
        loop.send_signal(signal.SIGTERM)
        expect(loop.wait(timeout=200) == 0, "SIGTERM is no failure")
    finally:
        loop.kill()
    expect(sorted(os.listdir(folder) + os.listdir(features)) == ["gdr.prom", "gdrkit"], "left behind")


def folder_of_another_account(installed, work):
    """As root, nothing is written where the owner of the folder leads it; what can be written is."""
    if os.geteuid() != 0:
        print("not tried: a folder of another account, which takes root")
        return
    script = installed.clusters / "monitoring/gdr-textfile"
    installed.show("good")
    victim, elsewhere = work / "victim", work / "elsewhere"
    victim.write_text("precious\n", encoding="ascii")
    victim.chmod(0o600)
    elsewhere.mkdir()

    def untouched(what):
        expect(victim.read_text(encoding="ascii") == "precious\n" and stat.S_IMODE(victim.stat().st_mode) == 0o600
               and not os.listdir(elsewhere), f"{what}: a file of root's was written")

    def theirs():
        folder = work / "theirs"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        os.chown(folder, OTHER, OTHER)
        return folder

    def plant(path, target):
        path.symlink_to(target)
        os.lchown(path, OTHER, OTHER)

    # A name that can be guessed: the shell that becomes the script has its number.
    folder = theirs()
    run("sh", "-c", 'ln -s "$0" "$1/.gdr.prom.$$"; chown -h "$2" "$1/.gdr.prom.$$"; exec "$3" "$1"', victim, folder,
        str(OTHER), script)
    untouched("a link with the script's number")
    for words, name in (([], "gdr.prom"), (["--node-features", "."], "gdrkit")):
        folder = theirs()
        plant(folder / name, victim)
        words = [str(folder) if word == "." else word for word in words]
        done = run(script, *words, folder)
        expect(done.returncode == 1 and "another account" in done.stderr, f"{name}: {done}")
        untouched(f"a link {name}")
    # The owner of the folder above puts a link in the folder's place.
    above = theirs()
    plant(above / "metrics", elsewhere)
    done = run(script, above / "metrics")
    expect(done.returncode == 1 and "another account" in done.stderr, done)
    untouched("a link as the folder")
    # Its own files, and those that it owns, are replaced.
    for owner in (0, OTHER):
        folder = theirs()
        for text in ("made", "replaced"):
            done = run(script, "--node-features", folder, folder)
            expect(done.returncode == 0 and not done.stderr, f"{text}: {done}")
            for name in ("gdr.prom", "gdrkit"):
                os.chown(folder / name, owner, owner)
        expect(sorted(os.listdir(folder)) == ["gdr.prom", "gdrkit"], os.listdir(folder))
        expect((folder / "gdr.prom").stat().st_uid == owner, "it has another owner now")


def wait_for(condition):
    end = time.monotonic() + 300
    while not condition():
        expect(time.monotonic() < end, "nothing happened within 30 s")
        time.sleep(0.1)


def units(installed, folder):
    rooms = installed.clusters / "systemd"
    (folder / "gdr.prom").unlink()
    for unit in rooms.glob("*.service"):
        text = unit.read_text(encoding="ascii")
        words = re.search(r"^ExecStart=(.*)$", text, flags=re.M)[1].replace("${TEXTFILE_FOLDER}", str(folder)).split()
        program = as_installed(installed, words[0])
        done = run(program, *words[1:], env={"LC_ALL": "C"})
        # This machine has no hardware as far as the test knows, so a proof cannot pass; it may not be wrong use.
        expect(done.returncode in ((0,) if "textfile" in words[0] else (0, 1, 3)), f"{unit.name}: {done}")
    expect((folder / "gdr.prom").exists(), "the service wrote no metrics")
    expect((rooms / "gdr-doctor.timer").exists(), "no timer for gdr-doctor.service")
    if not shutil.which("systemd-analyze"):
        print("not verified: no systemd-analyze (package systemd)")
        return
    # In their own folder, since units refer to each other, and to programs that are there.
    own = pathlib.Path(TREE) / "share/gdrkit/clusters/systemd"
    done = run("systemd-analyze", "verify", *own.iterdir())
    expect(done.returncode == 0 and not done.stderr, f"systemd-analyze: {done.stderr}")


TREE = sys.argv[1]
OTHER = 12345
with tempfile.TemporaryDirectory() as work:
    work = pathlib.Path(work)
    (work / "metrics").mkdir()
    (work / "features").mkdir()
    here = Installation(TREE, work)
    verdicts(here)
    problem_detector(here)
    textfile(here, work / "metrics")
    textfile_for_ever(here, work / "metrics", work / "features")
    folder_of_another_account(here, work)
    units(here, work / "metrics")

#!/usr/bin/env python3
"""killed_start.py GDR: `gdr run` is killed (SIGKILL) at many moments of its start. The next one leaves no folder
of those that were killed, whichever way it shows devices."""
import os
import pathlib
import subprocess
import sys
import tempfile
import time

gdr = sys.argv[1]
KILLS = 24


def expect(condition, what):
    if not condition:
        sys.exit(f"FAILED: {what}")


def start(way, runtime):
    environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "GDR_SOFT_DEVICES": "soft0"}
    return subprocess.Popen([gdr, "run", "-q", "--soft-nic", "--no-soft-gpu", "--presence", way, "--", "true"],
                            env=environment, stderr=subprocess.PIPE, text=True)


def left(runtime):
    """Temporary folders; one that stays has a name of 16 digits."""
    return [str(entry) for parent in (pathlib.Path("/tmp"), runtime) for entry in parent.glob("gdrkit-devices-*")
            if len(entry.name) != len("gdrkit-devices-") + 16]


def killed(way, runtime):
    begin = time.monotonic()
    process = start(way, runtime)
    errors = process.communicate(timeout=600)[1]
    if process.returncode != 0:
        print(f"not tried: --presence {way}: {errors.strip()}")
        return
    seconds = time.monotonic() - begin
    most = 0
    for i in range(KILLS):
        process = start(way, runtime)
        time.sleep(seconds * i / KILLS)
        process.kill()
        process.wait()
        process.stderr.close()
        most = max(most, len(left(runtime)))
    # What a killed one has started may live a moment longer.
    end = time.monotonic() + 300
    while True:
        last = start(way, runtime)
        errors = last.communicate(timeout=600)[1]
        expect(last.returncode == 0, f"--presence {way} after {KILLS} kills: {errors}")
        if not left(runtime):
            break
        expect(time.monotonic() < end, f"--presence {way}: {left(runtime)} after {KILLS} kills")
    print(f"--presence {way}: {KILLS} killed within {seconds:.2f} s, at most {most} folders, none now")


def inside():
    with tempfile.TemporaryDirectory(dir="/var/tmp") as work:
        runtime = pathlib.Path(work) / "runtime"
        runtime.mkdir(mode=0o700)
        for way in ("namespace", "preload"):
            killed(way, runtime)


# With a /tmp of its own: other tests start gdr, too.
if sys.argv[-1] == "inside":
    expect(subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/tmp"], check=False).returncode == 0, "no tmpfs")
    inside()
    sys.exit(0)
apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
if gdr.startswith("/tmp/") or subprocess.run([*apart, "true"], stderr=subprocess.DEVNULL, check=False).returncode:
    print("skipped: no mount namespace with another /tmp can be had here")
    sys.exit(77)
sys.exit(subprocess.run([*apart, sys.executable, *sys.argv, "inside"], check=False).returncode)

"""Headless Chromium on a file: what becomes of the page, and what it writes to the console."""
import shutil
import subprocess
import sys
import tempfile


def chromium():
    """Its name; without it the test ends here, as skipped."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    print("skipped: no Chromium (Debian: chromium)")
    sys.exit(77)


def browse(program, page, *options):
    """Standard output, the lines that the page wrote to the console, and what went wrong."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--disable-background-networking", "--disable-component-update",
             "--force-device-scale-factor=1", "--hide-scrollbars", f"--user-data-dir={profile}",
             "--enable-logging=stderr", "--v=0", "--virtual-time-budget=4000", *options,
             page.as_uri()], capture_output=True, text=True, timeout=1000, check=False)
    problem = f"Chromium ended with {done.returncode}: {done.stderr[-2000:]}"
    # Chromium's own pages write to the console, too.
    console = [line for line in done.stderr.splitlines()
               if "CONSOLE" in line and "source: chrome://" not in line]
    return (done.stdout, console,
            problem if done.returncode != 0 else "")

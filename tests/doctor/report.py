#!/usr/bin/env python3
"""report.py GDR FOLDER: gdr doctor --report, of this machine and of a made-up one, as a folder and as
an archive; what it refuses; the page in headless Chromium: no line on its console, nothing loaded,
as wide as its window. Screenshots for a person to look at stay in FOLDER."""

import json
import os
import pathlib
import re
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as xml

from machine import Machine
import browser
from gdr_program import expect, run

shots = pathlib.Path(sys.argv[2]).resolve()
DARK = "--blink-settings=preferredColorScheme=0"
PROBE = """<script>const probe = document.createElement('pre'); probe.id = 'probe';
probe.textContent = JSON.stringify({wide: document.documentElement.scrollWidth, window: innerWidth,
  loaded: performance.getEntriesByType('resource').length,
  background: getComputedStyle(document.body).backgroundColor,
  drawing: getComputedStyle(document.querySelector('.drawing .page')).fill,
  boxes: document.querySelectorAll('.drawing rect').length});
document.body.append(probe);</script></body>"""


def doctor(*words, **more):
    return run("doctor", *words, **more)


def report(*words, name):
    """The file, and the exit status that the findings have."""
    done = doctor("--no-probe", "--report", name, *words)
    expect(done.returncode in (0, 1, 3) and done.stderr == "", f"{done.returncode} {done.stderr}")
    expect(re.search(r"\d+ ok", done.stdout), "the findings are printed all the same")
    return name.read_text(), done.returncode


def made_up(work):
    root = work / "host"
    machine = Machine(root)
    machine.host(2)
    machine.write("sys/class/dmi/id/product_name", "PowerEdge XE9680\n")
    machine.write("etc/os-release", 'PRETTY_NAME="Ubuntu 22.04.5 LTS"\n')
    machine.write("proc/self/limits", "Max locked memory         8388608              8388608\n")
    machine.write("proc/self/environ", "NCCL_IB_HCA=mlx5_0\0NCCL_DEBUG_FILE=/home/alice/x\0")
    return root


def page(root, work):
    text, status = report("--root", root, name=work / "host.html")
    expect(status == 1, f"exit status {status}")
    expect(text.startswith("<!DOCTYPE html>") and text.count("</html>") == 1, text[:100])
    for part in ("FAILED: ", "PowerEdge XE9680", "Ubuntu 22.04.5 LTS", "8 MiB, less than 64 MiB",
                 "locked-memory", "NCCL_IB_HCA=mlx5_0", "mlx5_0", "class=\"gdr-topo\"", "GPU0",
                 "Ports of RDMA NICs", "/proc/self/limits"):
        expect(part in text, f"no '{part}' in the page")
    for part in ("<script", "alice", "http://www.example", "src=", "@import", "url("):
        expect(part not in text, f"'{part}' in the page")
    drawing = text[text.index("<svg "):text.index("</svg>") + 6]
    expect(xml.fromstring(drawing).tag.endswith("svg"), "no drawing")


def markdown(root, work):
    text, _ = report("--root", root, name=work / "host.md")
    expect(text.startswith("### gdr doctor: FAILED: "), text[:80])
    for part in ("**FAIL** ", "| machine | PowerEdge XE9680 |", "GPU0", "(locked-memory)"):
        expect(part in text, f"no '{part}' in:\n{text}")
    expect(text.count("<details>") == text.count("</details>") > 0, "folded parts")
    expect(text.count("```") % 2 == 0, "a fence stays open")
    expect(not re.search(r"([0-9a-f]{1,2}:){5}[0-9a-f]{1,2}", text), "a MAC address")
    expect("192.168.0.1" not in text and "c0a8" not in text, "an address of a port")
    # As a word of its own: a host may be called "vm", and a kernel parameter vm.max_map_count.
    name = rf"(?<![\w./-]){re.escape(os.uname().nodename)}(?![\w./-])"
    expect(not re.search(name, text), "the name of this host")


def archive(root, work):
    tar = work / "host.tar.gz"
    with tarfile.open(tar, "w:gz") as out:
        out.add(root, arcname=".")
    from_folder, from_archive = (
        re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", "now", report("--root", given, name=work / name)[0])
        for given, name in ((root, "folder.md"), (tar, "archive.md")))
    expect("now" in from_folder, "no time of the report")
    expect(from_archive.replace(str(tar), str(root)) == from_folder, "the archive gives another report")


def this_machine(work):
    text, status = report(name=work / "this.html")
    expect(os.uname().nodename in text, "which host?")
    document = json.loads(doctor("--no-probe", "--json").stdout)
    expect(document["exit_status"] == status, "another verdict")


def metrics(root, work):
    """The same as --format prometheus prints, but for the times; also of a few checks."""
    for words in ([], ["--only", "gpus,devices"]):
        text, status = report("--root", root, *words, name=work / "host.prom")
        printed = doctor("--no-probe", "--root", root, "--format", "prometheus", *words).stdout
        without_times = [re.sub(r"(?m)^gdr_doctor_seconds.*", "", one) for one in (text, printed)]
        expect(without_times[0] == without_times[1], f"{words}: {text} is not {printed}")
        expect(f"\ngdr_doctor_exit_status {status}\n" in text, text)


def refusals(root, work):
    for words, status, part in (
            (["--report", work / "host.pdf"], 2, "does not end in .json or .html or .md"),
            (["--report", ""], 2, "the value is empty"),
            (["--report", work / "x.html", "--only", "gpus"], 2, "exclude"),
            (["--report", work / "no" / "host.html"], 1, "cannot write"),
            (["--report", "/dev/full.html/x.html"], 1, "cannot write")):
        done = doctor("--no-probe", "--root", root, *words)
        expect(done.returncode == status and done.stderr.count("\n") == 1 and part in done.stderr,
               f"{words}: {done.returncode}: {done.stderr}")


def browse(program, file, *options):
    output, console, problem = browser.browse(program, file, *options)
    expect(not problem, problem)
    return output, console


def probed(program, file, *options):
    copy = file.with_name("probed-" + file.name)
    text = file.read_text()
    # The page's own policy forbids scripts, so the copy that is measured goes without it.
    text = re.sub(r"<meta http-equiv=\"Content-Security-Policy\".*?>", "", text, flags=re.S)
    copy.write_text(text.replace("</body>", PROBE))
    dom, console = browse(program, copy, "--dump-dom", *options)
    expect(console == [], f"the console says {console}")
    return json.loads(re.search(r'<pre id="probe">(.*?)</pre>', dom, re.S)[1])


def in_a_browser(work):
    program = browser.chromium()
    file = work / "host.html"
    _, console = browse(program, file, "--dump-dom")
    expect(console == [], f"the console says {console}")
    for width in (1280, 500):
        seen = probed(program, file, f"--window-size={width},1000")
        expect(seen["wide"] <= seen["window"], f"{seen['wide']} wide in {seen['window']}")
        expect(seen["loaded"] == 0 and seen["boxes"] > 4, seen)
        expect(seen["drawing"] == seen["background"] == "rgb(255, 255, 255)", seen)
    seen = probed(program, file, DARK)
    expect(seen["drawing"] == seen["background"] == "rgb(13, 17, 23)", f"dark: {seen}")
    shots.mkdir(parents=True, exist_ok=True)
    for name, options in (("light", ["--window-size=1280,2400"]),
                          ("dark", ["--window-size=1280,2400", DARK]),
                          ("narrow", ["--window-size=500,2800"])):
        browse(program, file, f"--screenshot={shots}/{name}.png", *options)
        expect((shots / f"{name}.png").is_file(), f"no {name}.png")


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    host = made_up(place)
    page(host, place)
    markdown(host, place)
    archive(host, place)
    this_machine(place)
    metrics(host, place)
    refusals(host, place)
    in_a_browser(place)
print("ok")

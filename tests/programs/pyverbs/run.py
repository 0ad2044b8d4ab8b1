#!/usr/bin/env python3
"""run.py GDR EXPECTED [--interface]: rdma-core's own Python tests on the software NIC.

Runs the distribution's copy of them (Debian: python3-pyverbs) and compares with the file EXPECTED:
no failure, no error, no crash, and neither a skip more nor a pass less than it says. Exit status 77
when the tests are not installed.

With --interface, the tests also get what most of the skipped ones want: a network interface beside
the NIC, in a network namespace of their own, and a place in the PCI tree for it.
"""
import collections
import gzip
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "support"))
import two_hosts  # noqa: E402  pylint: disable=wrong-import-position

INSTALLED = pathlib.Path("/usr/share/doc/rdma-core/tests")
PYTHON = "/usr/bin/python3"  # the one that the distribution's modules are for
LIMIT = 1200  # seconds
ADDRESS = "10.11.12.13"
PLACE = "fffe:17:00.0"  # in a domain that no machine has
ROOT = os.geteuid() == 0

# Lines of EXPECTED: '# comment'; 'tests N'; 'passed N', at least; 'fails NAME'; 'skipped N REASON' or
# 'skipped MIN-MAX REASON': REASON is a regular expression that the whole of a reason matches. Raw
# packets are for root alone: others see more skips of one reason and so fewer of the rest.
Skip = collections.namedtuple("Skip", "least most reason")
Expected = collections.namedtuple("Expected", "tests passed fails skips")


def leave(status, text):
    print(text)
    sys.exit(status)


def read_expected(path):
    numbers, fails, skips = {}, set(), []
    for line in pathlib.Path(path).read_text().splitlines():
        words = line.split(None, 2)
        if not words or words[0].startswith("#"):
            continue
        if words[0] == "skipped":
            least, _, most = words[1].partition("-")
            skips.append(Skip(int(least), int(most or least), words[2]))
        elif words[0] == "fails":
            fails.add(words[1])
        else:
            numbers[words[0]] = int(words[1])
    return Expected(numbers["tests"], numbers["passed"], fails, skips)


def unpack(folder):
    """Debian packs larger files under /usr/share/doc."""
    for source in INSTALLED.iterdir():
        target = folder / source.name
        if source.suffix == ".gz":
            with gzip.open(source) as packed, open(folder / source.stem, "wb") as plain:
                shutil.copyfileobj(packed, plain)
        elif source.is_file():
            shutil.copy(source, target)


def alone(gdr):
    """The tests as they are, and nothing for them but the NIC."""
    return ([gdr, "run", "--soft-nic", "--no-soft-gpu", "--", PYTHON, "tests/run_tests.py", "-v"],
            os.environ)


def beside_an_interface(gdr):
    """The tests with all that can be had."""
    link = "ip link set lo up && ip link add rdma0 type veth peer name rdma1 && " + \
           "ip link set rdma0 addrgenmode none up && ip link set rdma1 addrgenmode none up && " + \
           f"ip address add {ADDRESS}/24 dev rdma0 || exit 77"
    command, environment = alone(gdr)
    return (["unshare", "--net", "sh", "-c", link + '; exec "$@"', "sh", *command],
            environment | {"GDR_SOFT_DEVICES": f"soft0/ip={ADDRESS}/pci={PLACE}"})


def run(command, environment, work):
    tests = work / "tests"
    tests.mkdir()
    unpack(tests)
    process = subprocess.Popen(command, cwd=work, stdin=subprocess.DEVNULL, text=True,
                               env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, errors="replace",
                               start_new_session=True)
    try:
        printed, _ = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        printed, _ = process.communicate()
        leave(1, f"{printed}\nFAILED: still running after {LIMIT} seconds")
    return printed, process.returncode


def compare(printed, status, expected):
    wrong = []
    ran = re.search(r"^Ran (\d+) tests? in", printed, re.M)
    if not ran:
        return [f"the tests did not come to their end; exit status {status}"]
    failed = re.findall(r"^(?:FAIL|ERROR|UNEXPECTED SUCCESS): (\w+) .*", printed, re.M)
    wrong += [f"{name} failed" for name in failed if name not in expected.fails]
    if ROOT:
        wrong += [f"{name} no longer fails" for name in expected.fails.difference(failed)]
    if status != 0 and not failed:
        wrong.append(f"exit status {status}")
    # Test output of its own may stand between a test's name and its result.
    reasons = collections.Counter(
        found[1] for found in re.findall(r"skipped (['\"])(.*)\1$", printed, re.M))
    left = sum(reasons.values())
    for skip in expected.skips:
        matching = [reason for reason in reasons if re.fullmatch(skip.reason, reason)]
        count = sum(reasons.pop(reason) for reason in matching)
        least = skip.least if ROOT else 0
        if not least <= count <= skip.most:
            wanted = skip.least if skip.least == skip.most else f"{skip.least} to {skip.most}"
            wrong.append(f"skipped {count}, expected {wanted}: {skip.reason}")
    wrong += [f"skipped {count} for a reason that is not in the list: {reason}"
              for reason, count in reasons.items()]
    if int(ran[1]) != expected.tests:
        wrong.append(f"{ran[1]} tests, expected {expected.tests}")
    passed = int(ran[1]) - left - len(failed)
    if passed < expected.passed and ROOT:
        wrong.append(f"{passed} passed, expected {expected.passed} at least")
    print(f"{ran[1]} tests: {passed} passed, {left} skipped, {len(failed)} failed")
    return wrong


def main():
    if len(sys.argv) != 3 and sys.argv[3:] != ["--interface"]:
        leave(2, __doc__.splitlines()[0])
    has_modules = subprocess.run([PYTHON, "-c", "import pyverbs.device"], check=False,
                                 stderr=subprocess.DEVNULL).returncode == 0
    if not has_modules or not (INSTALLED / "run_tests.py").exists():
        leave(77, "skipped: rdma-core's Python tests are not installed (Debian: python3-pyverbs; "
                  "some images leave /usr/share/doc out)")
    gdr = os.path.abspath(sys.argv[1])
    if len(sys.argv) == 4:
        try:
            two_hosts.become_root()
        except two_hosts.Skip as missing:
            leave(77, f"skipped: {missing}")
        command, environment = beside_an_interface(gdr)
    else:
        command, environment = alone(gdr)
    expected = read_expected(sys.argv[2])
    with tempfile.TemporaryDirectory() as work:
        printed, status = run(command, environment, pathlib.Path(work))
    if status == 77:
        leave(77, f"skipped: no network interface can be made here: {printed.strip()}")
    wrong = compare(printed, status, expected)
    if wrong:
        print(printed)
        leave(1, "\n".join(["FAILED: " + line for line in wrong]) + f"\n(expected: {sys.argv[2]})")


main()

"""`gdr prove HOST` and its server on the software NIC, for the scripts that test them.

    with Serving(gdr) as server:                       # on this host, at a port of its own
        done = server.prove("--sizes", "65", "--modes", "write")   # .returncode, .stdout, .stderr
        report = server.document(...)                  # of --json; exit status 0
"""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from two_programs import free_port, stop, wait_until_listens  # noqa: E402

FEW = ("--sizes", "65,4097", "--no-measure")


class Failed(Exception):
    """What was wrong."""


def require(claim, *seen):
    if not claim:
        raise Failed("\n".join(str(one) for one in seen))


def run(command, seconds=600, **environment):
    return subprocess.run(command, env=dict(os.environ, **environment), capture_output=True,
                          text=True, timeout=seconds, check=False)


class Serving:
    """A server, which must end well."""

    def __init__(self, gdr, *options, **environment):
        self.gdr = gdr
        self.port = free_port()
        # pylint: disable=consider-using-with  # __exit__ ends it
        self.process = subprocess.Popen(
            [gdr, "prove", "--server", "--soft", "--port", str(self.port), *options],
            env=dict(os.environ, **environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True)
        wrong = wait_until_listens(self.port, self.process)
        require(wrong is None, wrong)
        self.greeting = self.process.stdout.readline()
        self.said = ""

    def command(self, *options):
        return [self.gdr, "prove", "localhost", "--port", str(self.port), "--soft", *options]

    def prove(self, *options, **environment):
        return run(self.command(*options), **environment)

    def document(self, *options, **environment):
        done = self.prove("--json", *options, **environment)
        require(done.returncode == 0, "exit status", done.returncode, done.stdout[-2000:],
                done.stderr)
        return json.loads(done.stdout)

    def workers(self):
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children",
                  encoding="ascii") as file:
            mine = file.read().split()
        for task in os.listdir(f"/proc/{self.process.pid}/task"):
            try:
                with open(f"/proc/{self.process.pid}/task/{task}/children",
                          encoding="ascii") as file:
                    mine += file.read().split()
            except OSError:
                pass  # the thread has ended
        return sorted(set(map(int, mine)))

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.process.terminate()
        try:
            self.said = self.process.communicate(timeout=100)[0]
        finally:
            stop(self.process)
        if kind is None:
            require(self.process.returncode == 0, "server:", self.process.returncode, self.said)


def main(claims):
    for claim in claims:
        try:
            claim()
        except Failed as failed:
            print(f"{claim.__name__}: {failed}")
            return 1
    return 0

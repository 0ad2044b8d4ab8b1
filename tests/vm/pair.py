"""Two programs that talk to each other: waited for, judged, and excused where neither NIC is to blame.

    ran = pair.wait_for_both(pair.Side(client_end, job), pair.Side(server_end, job), 60)
    if ran.wrong and pair.excuse(ran, may_leave_early=False): ...   # run them again
"""
import dataclasses
import re
import time

COMPLAINTS = re.compile("invalid data|failed|error|wrong", re.IGNORECASE)
NO_COMPLETION = re.compile("from here: no completion")
GIVEN_UP = re.compile("retry counter exceeded")
KILLED = 137
# A program whose peer has ended has this long to end as well, in seconds.
LAST_WORDS = 5
# An rxe repeats a request that is not acknowledged within about a second. One that is silent for so
# long while it has such a request has forgotten it.
SILENCE = 5
LOOK_AGAIN = 1  # each look costs the emulated guest some of its time


@dataclasses.dataclass
class Side:
    end: object
    job: object
    status: int = None
    output: str = ""
    sent: int = None       # packets, by the counter of an rxe
    sent_last: float = 0.  # when that counter last moved

    @property
    def is_rxe(self):
        return hasattr(self.end, "counters")

    def look(self):
        if self.is_rxe:
            sent = self.end.counters()["sent"]
            if sent != self.sent:
                self.sent, self.sent_last = sent, time.monotonic()

    def finish(self, patience):
        """One that has ended needs a moment all the same, until its output is read."""
        self.status, self.output = self.job.wait(patience if self.job.is_running() else LAST_WORDS)


@dataclasses.dataclass
class Pair:
    wrong: str = None
    client: Side = None
    server: Side = None
    ended: float = 0.

    @property
    def sides(self):
        return [side for side in (self.client, self.server) if side]

    @property
    def printed(self):
        if not self.client:
            return ""
        return f"--- client\n{self.client.output}\n--- server\n{self.server.output}"


def wait_for_both(client, server, seconds):
    ran = Pair(client=client, server=server)
    end = time.monotonic() + seconds
    look_at = 0.
    while client.job.is_running() and time.monotonic() < end:
        if time.monotonic() >= look_at:
            for side in ran.sides:
                side.look()
            look_at = time.monotonic() + LOOK_AGAIN
        if not server.job.is_running():
            end = min(end, time.monotonic() + LAST_WORDS)
        time.sleep(0.02)
    ran.ended = time.monotonic()
    client.finish(0)
    server.finish(LAST_WORDS if client.status == 0 else 2)
    if client.status != 0 or server.status != 0:
        ran.wrong = f"exit status {client.status} of the client, {server.status} of the server"
    elif any(COMPLAINTS.search(side.output) for side in ran.sides):
        ran.wrong = "an error was printed"
    return ran


def excuse(ran, may_leave_early):
    """Why the pair may be run again; None when it was right, or one of the NICs is to blame.

    A ping-pong ends when its last message has come and been acknowledged. If its own last
    acknowledgement to the other side is lost, there is nobody left to repeat it, and the other side
    fails, on any NIC. An rxe, whose seven retries are without end, has to be killed; the software NIC
    that has to be killed is to blame.

    An rxe may lose a wake-up of its own requester (seen with Linux 6.1: in the midst of a message, all
    of whose packets so far were acknowledged). It then sends nothing more, not even after its timeout
    (C9-140), so that no other NIC can have any part in it."""
    if not ran.wrong or not ran.client:
        return None
    for left, stays in (ran.sides, ran.sides[::-1]):
        if (may_leave_early and left.status == 0 and
                (GIVEN_UP.search(stays.output) or (stays.is_rxe and stays.status == KILLED))):
            return "the last acknowledgement was lost"
    for side in ran.sides:
        if (side.is_rxe and NO_COMPLETION.search(side.output) and
                ran.ended - side.sent_last > SILENCE):
            return f"rxe sent nothing for {ran.ended - side.sent_last:.0f} s with a request open"
    return None

#!/usr/bin/env python3
"""fabric.py GDR CASE: gdr fabric on hosts of namespaces (support/cluster.py), by packets of the software NIC, with
software GPUs: all pairs proved; and a host that is slow, damages bytes, dies, hangs, never starts: each named as what it
is, the others' results kept."""
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import cluster  # noqa: E402
import gdr_program  # noqa: E402
from gdr_program import expect  # noqa: E402

GDR, CASE = sys.argv[1:3]
# What a member says first (fabric/rendezvous/member_socket.h).
GREETING = b"gdr fabric member 1\n"
QUICK = ("--proof-size", "256K", "--message-size", "64K")
SHORT = ("--duration", "50ms")


def judged(done, status):
    """The document of a run that ended so."""
    expect(done.returncode == status, f"status {done.returncode}, not {status}: {done.stderr}{done.stdout[:4000]}")
    return json.loads(done.stdout)


def findings(report, fault):
    return [one for one in report["findings"] if one["fault"] == fault]


def names(report, finding):
    """Documents name hosts by their places in the list of hosts, or by their names."""
    return [one if isinstance(one, str) else report["hosts"][one]["name"] for one in finding["hosts"]]


def proved_pairs(report):
    """{(from, to)} of the planned rounds, all rails proved."""
    fields, pairs = report["measurement_fields"], {}
    for row in report["measurements"]:
        one = dict(zip(fields, row))
        pairs.setdefault((one["from"], one["to"]), []).append(one["outcome"])
    return {pair for pair, outcomes in pairs.items() if set(outcomes) == {"proved"}}


def all_pairs_of(report, hosts):
    places = [place for place, host in enumerate(report["hosts"]) if host["name"] in hosts]
    return {(one, other) for one in places for other in places if one != other}


def everything_is_proved(report, hosts):
    expect([host["state"] for host in report["hosts"]] == ["there"] * len(hosts), report["hosts"])
    expect(proved_pairs(report) == all_pairs_of(report, hosts), report["measurements"])
    expect(not [one for one in report["findings"] if one["fault"] in ("wrong bytes", "failed transfers")],
           report["findings"])


def srun(*options, more=(), nodes=4, **rest):
    return cluster.run("srun", "--mpi=pmix", f"--nodes={nodes}", *more, GDR, "fabric", "--json", *QUICK,
                       *(options if "--duration" in options else (*SHORT, *options)), **rest)


def case_srun(hosts):
    hosts.start_slurm()
    done = srun("--report", hosts.work / "page.html", "--lines", hosts.work / "lines")
    # Two cores carry four hosts: one may be slower than the others, and nothing else may be said.
    expect(done.returncode in (0, 1), f"{done.returncode} {done.stderr}")
    report = json.loads(done.stdout)
    everything_is_proved(report, hosts.nodes)
    expect({one["fault"] for one in report["findings"]} <= {"slow", "high latency"}, report["findings"])
    expect(report["launcher"].startswith("srun, PMIx "), report["launcher"])
    expect(report["hosts"][0]["rails"][0]["nic_is_stand_in"] is True, "stand-ins are called hardware")
    expect("<canvas" in (hosts.work / "page.html").read_text(encoding="utf-8"), "no page")
    events = [json.loads(line)["event"] for line in (hosts.work / "lines").read_text(encoding="utf-8").splitlines()]
    expect(events[-1] == "end" and events.count("round") >= 3, events)
    plain = cluster.run("srun", "--nodes=2", GDR, "fabric", "--json", *QUICK, *SHORT)
    expect(json.loads(plain.stdout)["launcher"] == "srun without PMIx", plain.stdout[:2000])
    rank_that_never_starts(hosts)


def rank_that_never_starts(hosts):
    script = hosts.work / "sleeps-on-n3"
    script.write_text(f'#!/bin/sh\n[ "$(hostname)" = n3 ] && exec sleep 200\nexec {GDR} "$@"\n', encoding="ascii")
    script.chmod(0o755)
    done = cluster.run("srun", "--mpi=pmix", "--nodes=4", "--wait=1", script, "fabric", "--json", "--join-limit", "30s",
                       *QUICK, *SHORT)
    report = json.loads(done.stdout)
    expect(findings(report, "never came") and names(report, findings(report, "never came")[0]) == ["n3"],
           report["findings"])
    expect(all_pairs_of(report, {"n1", "n2", "n4"}) <= proved_pairs(report), report["measurements"])


def processes_on(host, command):
    """Of gdr, on the host of that name, by the first of its arguments."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if len(words) < 2 or words[1] != command.encode() or not words[0].endswith((b"gdr", b"exe")):
                continue
            if cluster.run("nsenter", f"--target={entry.name}", "--uts", "hostname").stdout.strip() == host:
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended meanwhile
    return found


def case_killed(hosts):
    hosts.start_slurm()
    for command, says in (("fabric", "its process has ended"), ("fabric-worker", "killed by signal 9")):
        killed_in_the_middle(hosts, command, says)


def killed_in_the_middle(hosts, command, says):
    lines = hosts.work / f"killed-{command}"
    words = ["srun", "--mpi=pmix", "--nodes=4", "--kill-on-bad-exit=0", GDR, "fabric", "--json", "--lines", str(lines),
             "--duration", "400ms", "--no-doctor", "--retests", "0", "--proof-size", "256K"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        cluster.wait_until(lambda: "the first round", lambda: lines.is_file() and '"event":"round"' in
                           lines.read_text(encoding="utf-8").replace(" ", ""), 30)
        victims = processes_on("n2", command)
        expect(victims, f"no {command} on n2")
        for victim in victims:
            os.kill(victim, signal.SIGKILL)
        said, errors = running.communicate(timeout=600)
    report = json.loads(said)
    died = findings(report, "died")
    expect(len(died) == 1 and names(report, died[0]) == ["n2"], f"{report['findings']}{errors}")
    host = next(host for host in report["hosts"] if host["name"] == "n2")
    expect(says in host["problem"], host)
    expect(all_pairs_of(report, {"n1", "n3", "n4"}) <= proved_pairs(report), report["measurements"])
    expect(not findings(report, "wrong bytes") and not findings(report, "failed transfers"), report["findings"])


def case_interrupted(hosts):
    """A launcher passes Ctrl-C on to every process: no host is said to have died of it."""
    hosts.start_slurm()
    lines = hosts.work / "lines"
    words = ["srun", "--mpi=pmix", "--nodes=4", "--kill-on-bad-exit=0", GDR, "fabric", "--json", "--lines", str(lines),
             "--duration", "300ms", "--no-doctor", "--proof-size", "256K"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        cluster.wait_until(lambda: "the first round", lambda: lines.is_file() and '"event":"round"' in
                           lines.read_text(encoding="utf-8").replace(" ", ""), 30)
        all_of_them = [process for host in hosts.nodes
                       for process in processes_on(host, "fabric-member") + processes_on(host, "fabric")]
        for process in all_of_them:
            with contextlib.suppress(ProcessLookupError):  # the collector has ended it already
                os.kill(process, signal.SIGTERM)
        said, errors = running.communicate(timeout=600)
    report = json.loads(said)
    expect([host["state"] for host in report["hosts"]] == ["there"] * 4, f"{report['hosts']}{errors}")
    expect(report["is_interrupted"] is True, "it is not said to be interrupted")


def case_mpirun(hosts):
    done = hosts.mpirun("--enable-recovery", GDR, "fabric", "--json", *QUICK, *SHORT)
    report = json.loads(done.stdout)
    everything_is_proved(report, hosts.nodes)
    expect(report["launcher"].startswith("mpirun, PMIx "), report["launcher"])


def over_ssh(hosts, *options, named="n[1-4]", program=GDR, **more):
    return cluster.run(GDR, "fabric", "--json", "--hosts", named, "--ssh", hosts.remote_shell, "--program", program,
                       *QUICK, *(options if "--duration" in options else (*SHORT, *options)), **more)


def with_variable(hosts, node, variable):
    """The program, which has that variable on that host only."""
    script = hosts.work / f"gdr-{node}"
    script.write_text(f'#!/bin/sh\n[ "$(hostname)" = {node} ] && export {variable}\nexec {GDR} "$@"\n',
                      encoding="ascii")
    script.chmod(0o755)
    return script


def case_ssh(hosts):
    done = over_ssh(hosts, named="n[1-4],n9")
    report = judged(done, 1)
    expect(all_pairs_of(report, set(hosts.nodes)) <= proved_pairs(report), report["measurements"])
    never = findings(report, "never came")
    expect(len(never) == 1 and names(report, never[0]) == ["n9"], report["findings"])
    expect("Could not resolve hostname n9" in report["hosts"][4]["problem"], report["hosts"])


def case_damaged_bytes(hosts):
    """Half of all packets that leave n3 have a wrong bit, under a right ICRC."""
    program = with_variable(hosts, "n3", "GDR_SOFT_FAULTS=damage=0.5,seed=1")
    report = judged(over_ssh(hosts, program=program), 1)
    wrong = findings(report, "wrong bytes")
    expect(": " in wrong[0]["doctor"], f"gdr doctor was not asked on the suspect's host: {wrong}")
    expect(len(wrong) == 1 and wrong[0]["culprit"] in ("host", "NIC", "cable") and names(report, wrong[0]) == ["n3"],
           report["findings"])
    expect(report["findings"][0] == wrong[0], "wrong bytes are the worst, and not first")
    expect(all_pairs_of(report, {"n1", "n2", "n4"}) <= proved_pairs(report), report["measurements"])


def case_rails(hosts):
    """Two rails a host, all at once and one by one; at the end they cross. Two processes share a host's rails."""
    hosts.start_slurm()
    prolog = hosts.work / "task-prolog"
    prolog.write_text('#!/bin/sh\nn=$(hostname | tr -d n)\n'
                      'echo "export GDR_SOFT_DEVICES=soft0/ip=10.77.0.$n,soft1/ip=10.77.1.$n"\n', encoding="ascii")
    for node in hosts.nodes:
        cluster.must(*hosts.inside(node, "ip", "address", "add", f"10.77.1.{node[1:]}/24", "dev", "eth0"))
    for more, options in (((), ()), (("--ntasks-per-node=2",), ("--isolate",))):
        report = json.loads(srun("--memory", "host", *options, more=more, nodes=3).stdout)
        fields = report["measurement_fields"]
        rows = [dict(zip(fields, row)) for row in report["measurements"]]
        expect(len(report["rails"]) == 2 and proved_pairs(report) == all_pairs_of(report, {"n1", "n2", "n3"}), report)
        planned = [row for row in rows if not row["is_retest"]]
        straight = {(row["from"], row["to"], row["rail"]) for row in planned if row["rail"] == row["far_rail"]}
        expect(len(straight) == 12, straight)
        expect([row for row in planned if row["rail"] != row["far_rail"]], "no rails crossed")
        at_once = {len({row["rail"] for row in planned if row["round"] == round_}) for round_ in
                   {row["round"] for row in planned}}
        expect(at_once == ({1} if options else {2}), f"{options}: {at_once}")


def case_slow_host(hosts):
    """n2's link passes a small part of what the others reach, both ways."""
    cluster.must(*hosts.inside("n2", "tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", "100mbit", "burst",
                               "64k", "latency", "50ms"))
    cluster.must("tc", "qdisc", "add", "dev", "vn2", "root", "tbf", "rate", "100mbit", "burst", "64k", "latency", "50ms")
    report = judged(over_ssh(hosts, "--memory", "host", "--duration", "100ms"), 1)
    slow = findings(report, "slow")
    expect(slow and names(report, slow[0]) == ["n2"] and slow[0]["culprit"] in ("host", "NIC"), report["findings"])
    expect(all_pairs_of(report, {"n1", "n3", "n4"}) <= proved_pairs(report), report["measurements"])


def case_hung_host(hosts):
    """n4's processes stop in the middle: no connection ends, and nothing answers."""
    lines = hosts.work / "lines"
    words = [GDR, "fabric", "--json", "--hosts", "n[1-4]", "--ssh", str(hosts.remote_shell), "--program", GDR, "--lines",
             str(lines), "--duration", "200ms", "--step-limit", "20s", "--no-doctor", "--proof-size", "256K",
             "--retests", "0"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        cluster.wait_until(lambda: "the first round", lambda: lines.is_file() and '"event":"round"' in
                           lines.read_text(encoding="utf-8").replace(" ", ""), 30)
        for victim in processes_on("n4", "fabric-member") + processes_on("n4", "fabric-worker"):
            os.kill(victim, signal.SIGSTOP)
        begin = time.monotonic()
        said, errors = running.communicate(timeout=600)
    expect(time.monotonic() - begin < 300, "a host that hangs held up the others")
    report = json.loads(said)
    hung = findings(report, "hung")
    expect(len(hung) == 1 and names(report, hung[0]) == ["n4"], f"{report['findings']}{errors}")
    expect(all_pairs_of(report, {"n1", "n2", "n3"}) <= proved_pairs(report), report["measurements"])


def case_wrong_use(hosts):
    def refused(part, *words, status=2, **more):
        gdr_program.expect_refused(("fabric", *words), part, status=status, timeout=600, **more)
    refused("no launcher has started it")
    refused("two hosts or more are needed, and only n1 takes part", "--hosts", "n1", "--ssh", hosts.remote_shell)
    refused("n1", "--hosts", "n[1-2],n1")  # twice
    refused("exclude each other", "--hosts", "n[1-2]", "--local", "2")
    refused("unknown pattern 'ring'; allowed: tournament", "--local", "2", "--pattern", "ring")
    refused("--local 1: it takes 2 to", "--local", "1")
    refused("--local 0: it takes 2 to", "--local", "0")
    refused("--ssh has no effect without --hosts", "--local", "2", "--ssh", "rsh")
    refused("exclude each other", "--local", "2", "--port", "5")
    refused("--proof-size 0: it takes one size", "--local", "2", "--proof-size", "0")
    refused("a name is empty", "--local", "2", "--nics", "soft0,")
    refused("no-such-file", "--local", "2", "--topology", "no-such-file")
    pager_that_is_left(hosts.work / "run.json")
    addresses_that_are_loopback(hosts)
    two_versions(hosts)
    host_without_nic(hosts)


def pager_that_is_left(document):
    """Who reads no more of the report has its files."""
    with subprocess.Popen([GDR, "fabric", "--local", "2", *QUICK, *SHORT, "--report", str(document)],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as running:
        running.stdout.close()
        running.wait(timeout=600)
    expect(json.loads(document.read_text(encoding="utf-8"))["hosts"], "no document")


def left_out(report, name):
    host = next(host for host in report["hosts"] if host["name"] == name)
    expect(host["state"] == "left out", host)
    found = findings(report, "left out")
    expect(len(found) == 1 and names(report, found[0]) == [name] and name in found[0]["text"], report["findings"])
    return host["problem"]


def addresses_that_are_loopback(hosts):
    program = with_variable(hosts, "n2", "GDR_SOFT_DEVICES=soft0/ip=127.0.0.1")
    problem = left_out(judged(over_ssh(hosts, named="n[1-3]", program=program), 1), "n2")
    expect("127.0.0.1" in problem and "GDR_SOFT_DEVICES" in problem, problem)


def host_without_nic(hosts):
    script = hosts.work / "no-stand-in-on-n3"
    script.write_text(f'#!/bin/sh\nif [ "$(hostname)" = n3 ]; then mount -t tmpfs tmpfs '
                      f'{pathlib.Path(GDR).resolve().parents[1]}/lib; fi\nexec {GDR} "$@"\n', encoding="ascii")
    script.chmod(0o755)
    problem = left_out(judged(over_ssh(hosts, named="n[1-3]", program=script), 1), "n3")
    expect("NIC" in problem or "libibverbs" in problem, problem)


def two_versions(hosts):
    """A member of another version says hello on n2, as far as every version does."""
    script = hosts.work / "other-version"
    script.write_text(f"""#!{sys.executable}
import os, platform, struct, sys
if platform.node() != "n2":
    os.execv("{GDR}", ["{GDR}", *sys.argv[1:]])
os.write(1, {GREETING!r})
head = b""
while len(head) < 5:
    head += os.read(0, 5 - len(head))
left = struct.unpack(">I", head[:4])[0]
while left:
    left -= len(os.read(0, left))
body = struct.pack("<II", 0x67647266, 99) + struct.pack("<I", 5) + b"9.9.9" + struct.pack("<I", 1)
os.write(1, struct.pack(">IB", len(body), 3) + body)
os.read(0, 4096)
""", encoding="ascii")
    script.chmod(0o755)
    problem = left_out(judged(over_ssh(hosts, named="n[1-3]", program=script), 1), "n2")
    expect("it runs gdrkit 9.9.9" in problem, problem)


def case_sixteen(hosts):
    hosts.start_slurm()
    report = json.loads(srun("--duration", "20ms", nodes=16, timeout=1200).stdout)
    everything_is_proved(report, hosts.nodes)
    expect(len(proved_pairs(report)) == 240, len(proved_pairs(report)))


def main():
    slurm = ("srun", "killed", "interrupted", "rails", "sixteen")
    needs = {**dict.fromkeys(slurm, cluster.SLURM), "mpirun": ("mpirun.openmpi",), "slow_host": ("tc",)}
    cluster.enter(*needs.get(CASE, ()))
    with cluster.Cluster(16 if CASE == "sixteen" else 4) as hosts:
        globals()[f"case_{CASE}"](hosts)


main()

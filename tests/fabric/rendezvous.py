#!/usr/bin/env python3
"""rendezvous.py PROGRAM CASE: the processes of a run find each other on four hosts (support/cluster.py), also where
one of them never starts or dies. PROGRAM is rendezvous_program.cc."""
import os
import pathlib
import signal
import subprocess
import sys
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1] / "support")]
import cluster  # noqa: E402
from gdr_program import expect  # noqa: E402

PROGRAM, CASE = sys.argv[1:3]
PATIENCE = 10
HOSTS = {0: "n1", 1: "n2", 2: "n3", 3: "n4"}


def lines(done, first):
    """What rank 0 printed behind this word: {rank: the rest}."""
    found = {}
    for line in done.stdout.splitlines():
        words = line.split(" ", 2)
        if words[0] == first:
            rank = int(words[1].rstrip(":"))
            expect(rank not in found, f"'{first} {rank}' twice: {done.stdout}")
            found[rank] = words[2] if len(words) > 2 else ""
    return found


def ended_well(done, status=0):
    expect(done.returncode == status, f"status {done.returncode}: {done.stdout}{done.stderr}")
    return done


def everybody_comes(start, launcher):
    begin = time.monotonic()
    done = ended_well(start(60))
    expect(time.monotonic() - begin < 50, f"rank 0 waited although all had come: {done.stdout}")
    expect(f"launcher {launcher}" in done.stdout, done.stdout)
    expect(lines(done, "expected") == {rank: f"{rank} {host}" for rank, host in HOSTS.items()}, done.stdout)
    expect(lines(done, "came") == {1: "n2", 2: "n3", 3: "n4"}, f"{done.stdout}{done.stderr}")
    expect(not lines(done, "missing"), done.stdout)


def rank_that_does_not_start_is_named(start):
    done = ended_well(start(PATIENCE, "sleeps=2"))
    expect(lines(done, "came") == {1: "n2", 3: "n4"}, f"{done.stdout}{done.stderr}")
    expect(lines(done, "missing") == {2: "n3"}, done.stdout)


def without_rank_0_the_others_give_up(start, says):
    begin = time.monotonic()
    done = start(PATIENCE, "sleeps=0")
    expect(time.monotonic() - begin < PATIENCE + 80, "the others waited for ever")
    # The first that gives up may end the job of all.
    expect(done.returncode != 0 and says in done.stderr, f"{done.returncode} {done.stdout}{done.stderr}")


def death_of_one_is_not_the_death_of_all(start):
    done = start(10, "dies=2")
    expect(lines(done, "came") == {1: "n2", 2: "n3", 3: "n4"}, f"{done.stdout}{done.stderr}")
    expect((set(lines(done, "still")), set(lines(done, "lost"))) == ({1, 3}, {2}), f"{done.stdout}{done.stderr}")


def srun(*options):
    return lambda patience, *words: cluster.run("srun", *options, "--nodes=4", PROGRAM, patience, *words)


def case_srun_pmix(hosts):
    hosts.start_slurm()
    start = srun("--mpi=pmix")
    everybody_comes(start, "srun, PMIx ")
    rank_that_does_not_start_is_named(start)
    without_rank_0_the_others_give_up(start, "rank 0 on n1 did not say where it listens")
    death_of_one_is_not_the_death_of_all(start)


def case_srun_plain(hosts):
    hosts.start_slurm()
    start = srun()
    everybody_comes(start, "srun without PMIx")
    rank_that_does_not_start_is_named(start)
    without_rank_0_the_others_give_up(start, "rank 0 on n1 did not say where it listens (port 2")
    death_of_one_is_not_the_death_of_all(start)


def case_srun_steps(hosts):
    hosts.start_slurm()
    tokens_are_carried_by_munge(srun(), hosts)
    where_munge_does_not_answer()
    two_steps_of_a_job_do_not_meet()
    several_ranks_of_a_host()
    outside_of_a_step()


def tokens_are_carried_by_munge(start, hosts):
    expect("token random" in start(10).stdout, "no token although MUNGE works")
    secret = hosts.work / "secret"
    secret.write_text("a secret of the user's\n", encoding="ascii")
    secret.chmod(0o600)
    done = ended_well(start(10, f"secret={secret}"))
    expect("token secret" in done.stdout and len(lines(done, "came")) == 3, done.stdout)


def where_munge_does_not_answer():
    def start(on, patience):
        script = f"{on} && mount -t tmpfs none /run/munge; exec \"$@\""
        return cluster.run("srun", "--nodes=4", "unshare", "--mount", "sh", "-c", script, "sh", PROGRAM, patience)
    done = start("[ $SLURM_PROCID = 2 ]", PATIENCE)
    expect(lines(done, "missing") == {2: "n3"}, f"{done.stdout}{done.stderr}")
    expect("shows a credential of MUNGE, which does not work here" in done.stderr, done.stderr)
    done = start("[ $SLURM_PROCID = 0 ]", PATIENCE)
    expect(len(lines(done, "missing")) == 3, f"{done.stdout}{done.stderr}")
    expect("shows no credential of MUNGE, which works here" in done.stderr, done.stderr)
    done = ended_well(start("true", 10))
    expect("token none" in done.stdout and len(lines(done, "came")) == 3, f"{done.stdout}{done.stderr}")


def two_steps_of_a_job_do_not_meet():
    both = f"srun -N2 --overlap {PROGRAM} 10 & srun -N2 --overlap {PROGRAM} 10 & wait"
    done = ended_well(cluster.run("salloc", "--nodes=2", "sh", "-c", both))
    expect(done.stdout.count("came 1 n") == 2 and "missing" not in done.stdout, f"{done.stdout}{done.stderr}")


def several_ranks_of_a_host():
    for distribution in ("block", "cyclic"):
        done = ended_well(cluster.run("srun", "--nodes=4", "--ntasks=6", f"--distribution={distribution}", PROGRAM, 10))
        expected = {rank: text.split()[1] for rank, text in lines(done, "expected").items()}
        came = lines(done, "came")
        expect(len(expected) == 6 and len(came) == 5 and came.items() <= expected.items(),
               f"{distribution}: {done.stdout}{done.stderr}")


def outside_of_a_step():
    done = ended_well(cluster.run("salloc", "--nodes=2", PROGRAM, PATIENCE), status=1)
    expect("not started on its nodes; type: srun " in done.stderr, done.stderr)


def case_mpirun(hosts):
    def start(patience, *words):
        return hosts.mpirun(PROGRAM, patience, *words)
    everybody_comes(start, "mpirun, PMIx ")
    rank_that_does_not_start_is_named(start)
    without_rank_0_the_others_give_up(start, "rank 0 on n1 did not say where it listens")
    death_of_one_is_not_the_death_of_all(lambda *words: hosts.mpirun("--enable-recovery", PROGRAM, *words))


# As sshd does: a login script talks first, the program has pipes, and the shell ends when the program ends.
NOISY_SHELL = """#!{python}
import os, subprocess, sys, threading
os.write(1, b"Welcome to this host\\n")
remote = subprocess.Popen(["{shell}", *sys.argv[1:]], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
def carry(source, to, close):
    while piece := os.read(source, 65536):
        os.write(to, piece)
    close()
threading.Thread(target=carry, args=(0, remote.stdin.fileno(), remote.stdin.close), daemon=True).start()
carry(remote.stdout.fileno(), 1, lambda: None)
status = remote.wait()
os._exit(status if status >= 0 else 128 - status)
"""


def noisy_shell(hosts):
    path = hosts.work / "noisy-shell"
    path.write_text(NOISY_SHELL.format(python=sys.executable, shell=hosts.remote_shell), encoding="ascii")
    path.chmod(0o755)
    return path


def processes_of_the_program():
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "exe") == os.path.realpath(PROGRAM):
                found.append(int(entry.name))
        except OSError:
            continue  # it has ended meanwhile, or is the kernel's
    return found


def nothing_is_left_of(members, *words):
    """When the first process is killed, once it and all members are there."""
    command = [PROGRAM, "30", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        for _ in range(members):
            said = running.stdout.readline()
            expect(said.startswith("came "), f"{words}: {said}")
        expect(len(processes_of_the_program()) > members, processes_of_the_program())
        running.send_signal(signal.SIGKILL)
        running.wait()
    cluster.wait_until(lambda: f"end of members: {processes_of_the_program()}",
                       lambda: not processes_of_the_program(), 9)


def case_ssh(hosts):
    for shell in (hosts.remote_shell, noisy_shell(hosts)):
        def start(patience, *words, named="n[1-4]", shell=shell):
            return cluster.run(PROGRAM, patience, f"hosts={named}", f"ssh={shell}", *words)
        expect(lines(ended_well(start(10)), "came") == HOSTS, "not all four came")
        done = ended_well(start(PATIENCE, "sleeps=2", named="n[1-3],n9,root@n4"))
        expect(lines(done, "came") == {0: "n1", 1: "n2", 4: "n4"}, f"{done.stdout}{done.stderr}")
        missing = lines(done, "missing")
        expect(missing[2] == f"n3: did not start within {PATIENCE} s", missing)
        expect(missing[3] == "n9: ssh: Could not resolve hostname n9: Name or service not known", missing)
        done = ended_well(start(10, "dies=2"))
        expect((set(lines(done, "still")), set(lines(done, "lost"))) == ({0, 1, 3}, {2}), done.stdout)
        expect("end of 2: " in done.stdout, done.stdout)
        nothing_is_left_of(4, "hosts=n[1-4]", f"ssh={shell}", "waits")
    nothing_is_left_of(4, "hosts=n[1-4]", f"ssh={shell}", "hangs")  # the second shell's have pipes


def case_sshd(hosts):
    """The real one."""
    if not any(line.startswith("sshd:") for line in open("/etc/passwd", encoding="utf-8")):
        print("skipped: no user 'sshd' (package openssh-server)")
        sys.exit(77)
    hosts.start_sshd()

    def start(patience, *words, named="n[1-4]"):
        return cluster.run(PROGRAM, patience, f"hosts={named}", "ssh=ssh", *words)
    done = ended_well(start(10))
    expect(lines(done, "came") == HOSTS, f"{done.stdout}{hosts.logs()}")
    done = ended_well(start(10, named="n[1-3],n9,no-such-user@n4"))
    expect(lines(done, "came") == {0: "n1", 1: "n2", 2: "n3"}, f"{done.stdout}{hosts.logs()}")
    missing = lines(done, "missing")
    expect(missing[3].startswith("n9: ssh: Could not resolve hostname n9"), missing)
    expect(missing[4].startswith("n4: no-such-user@n4: Permission denied"), missing)
    done = ended_well(start(10, "dies=2"))
    expect((set(lines(done, "still")), set(lines(done, "lost"))) == ({0, 1, 3}, {2}), done.stdout)
    expect("end of 2: killed there by a signal" in done.stdout, done.stdout)
    nothing_is_left_of(4, "hosts=n[1-4]", "ssh=ssh", "waits")
    nothing_is_left_of(4, "hosts=n[1-4]", "ssh=ssh", "hangs")


def case_local(_):
    done = ended_well(cluster.run(PROGRAM, 10, "local=4", "dies=2"))
    expect(lines(done, "came") == dict.fromkeys(range(4), "hub"), done.stdout)
    expect((set(lines(done, "still")), set(lines(done, "lost"))) == ({0, 1, 3}, {2}), done.stdout)
    expect("end of 2: killed by signal 9 (Killed)" in done.stdout, done.stdout)
    nothing_is_left_of(4, "local=4", "hangs")


def main():
    needs = {"srun": cluster.SLURM, "mpirun": ("mpirun.openmpi",), "sshd": cluster.SSH}
    cluster.enter(*needs.get(CASE.split("_")[0], ()))
    with cluster.Cluster(4) as hosts:
        globals()[f"case_{CASE}"](hosts)


main()

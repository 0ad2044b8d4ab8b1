"""client_server.py GDR: `gdr prove --server` and its clients over TCP: what a proof says, that both sides' memory is looked at, secrets, and a server that is not there or loses its worker."""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

from proofs import FEW, Serving, main, require, run
from two_programs import free_port, stop

GDR = sys.argv[1]


def both_sides_take_part():
    with Serving(GDR) as server:
        report = server.document(*FEW)
        require(report["verdict"] == "SIMULATION PASSED" and not report["partial"], report)
        require(len(report["stand_ins"]) == 4, report["stand_ins"])
        here, there = report["host"], report["other_host"]["host"]
        require(there == f"{here} (server)", here, there)
        modes = {check["mode"] for check in report["checks"]}
        require(modes == {"raw", "ud", "send", "write", "write-imm", "read", "atomic"}, modes)
        for check in report["checks"]:
            require(check["status"] == "proved" and check["bytes"] > 0, check)
            require((check["from_host"], check["to_host"]) == (here, there), check)
        ends = {one["host"] for one in report["registrations"] if one["ok"]}
        require(ends == {here, there}, ends)
        # One client after the other.
        again = server.document("--modes", "write", "--sizes", "1")
        speeds = again["measurements"]
        require(len(speeds) == 4 and all(one["direct_ns"] for one in speeds), speeds)
    require(server.said.count("proof ended") == 2 and "measured" in server.said, server.said)


def reports_name_both_hosts():
    with Serving(GDR) as server, tempfile.TemporaryDirectory() as folder:
        page, paste = f"{folder}/proof.html", f"{folder}/proof.md"
        for file in (page, paste):
            done = server.prove(*FEW, "--modes", "write,read", "--report", file)
            require(done.returncode == 0, done.stdout, done.stderr)
        heads = [line for line in done.stdout.splitlines() if line.startswith("gdrkit ")]
        require(len(heads) == 2, done.stdout)
        require("GPU ← host" not in done.stdout and "2 directions" not in done.stdout, done.stdout)
        with open(page, encoding="utf-8") as file:
            require("between two hosts" in file.read(), page)
        with open(paste, encoding="utf-8") as file:
            said = file.read()
        require(os.uname().nodename not in said.replace("/", " ").split(), "a name to paste", said)
        require("of A → " in said and " of B" in said, said)


def wrong_bytes_are_seen_where_they_land():
    # A write lands in the server's memory, a read in the client's.
    for fault, mode, phrase in (("flip_bit", "write", "one bit flipped"),
                                ("shift_64k", "write", "displaced by +65536 bytes"),
                                ("short_last_byte", "read", "tail is missing: the last 1 byte")):
        with Serving(GDR) as server:
            done = server.prove("--sizes", "65,4097,1M+13", "--modes", mode, "--memory", "alloc",
                                GDR_FAULT=fault)
            require(done.returncode == 1, fault, done.stdout, done.stderr)
            require(phrase in done.stdout, fault, done.stdout)
            require(f"RC {mode}, soft1 of " in done.stdout, fault, done.stdout)


def secrets_must_match():
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("right", "a secret that is long enough"), ("wrong", "another one, long as well")):
            with open(f"{folder}/{name}", "w", encoding="ascii") as file:
                file.write(text)
            os.chmod(f"{folder}/{name}", 0o600)
        with Serving(GDR, "--secret", f"{folder}/right") as server:
            known = server.prove("--modes", "write", "--sizes", "8", "--secret", f"{folder}/right")
            require(known.returncode == 0, known.stdout, known.stderr)
            for options, phrase in (((), "the server asks for a secret"),
                                    (("--secret", f"{folder}/wrong"), "different secrets")):
                done = server.prove(*FEW, *options)
                require(done.returncode == 1 and phrase in done.stderr, done.stdout, done.stderr)
                require(done.stdout == "" and done.stderr.count("\n") == 1, done.stdout, done.stderr)
        with Serving(GDR) as server:
            done = server.prove(*FEW, "--secret", f"{folder}/right")
            require(done.returncode == 1 and "the server has no secret" in done.stderr, done.stderr)


def no_server_is_one_line():
    port = free_port()
    done = run([GDR, "prove", "localhost", "--port", str(port), "--soft"])
    require(done.returncode == 1 and done.stdout == "", done.returncode, done.stdout)
    require(f"start one there: gdr prove --server --port {port}" in done.stderr, done.stderr)
    require(done.stderr.count("\n") == 1, done.stderr)


def perf_is_no_server_of_proofs():
    port = free_port()
    perf = subprocess.Popen([GDR, "perf", "--server", "--soft", "--port", str(port)],
                            stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        perf.stdout.readline()
        done = run([GDR, "prove", "localhost", "--port", str(port), "--soft"])
        require(done.returncode == 1 and "is not gdr prove" in done.stderr, done.stderr)
    finally:
        stop(perf)


def one_proof_at_a_time():
    with Serving(GDR) as server:
        first = subprocess.Popen(server.command("--memory", "host", "--sizes", "256M"),
                                 stdout=subprocess.PIPE, text=True)
        try:
            end = time.monotonic() + 200
            while not server.workers() and time.monotonic() < end:
                time.sleep(0.02)
            time.sleep(1)  # the one that asked for devices may have been seen
            second = server.prove(*FEW)
            require(second.returncode == 1, second.stdout, second.stderr)
            require("proves for another client; try again later" in second.stderr, second.stderr)
        finally:
            first.kill()
            first.communicate()
        # Its place is free again.
        end = time.monotonic() + 200
        while time.monotonic() < end:
            third = server.prove("--modes", "write", "--sizes", "8", "--no-measure")
            if third.returncode == 0:
                break
        require(third.returncode == 0, third.stdout, third.stderr)


def a_lost_worker_fails_the_proof():
    with Serving(GDR) as server:
        proof = subprocess.Popen(server.command("--json", "--sizes", "256M", "--modes", "write"),
                                 stdout=subprocess.PIPE, text=True)
        seen = set()
        end = time.monotonic() + 200
        while time.monotonic() < end and proof.poll() is None:
            new = [pid for pid in server.workers() if pid not in seen]
            seen.update(new)
            # The first one asks for devices.
            if len(seen) >= 2 and new:
                time.sleep(1)
                os.kill(new[-1], signal.SIGKILL)
                break
            time.sleep(0.02)
        said = proof.communicate(timeout=600)[0]
        report = json.loads(said)
        require(proof.returncode == 1 and report["verdict"] == "FAILED", said)
        require(any("killed by signal 9" in one for one in report["seen"]), report["seen"])
        done = server.prove("--modes", "write", "--sizes", "8", "--no-measure")
        require(done.returncode == 0, done.stdout, done.stderr)


def a_server_that_ends_is_no_fault_of_the_hardware():
    server = Serving(GDR)
    with server:
        proof = subprocess.Popen(server.command("--json", "--sizes", "256M", "--modes", "write"),
                                 stdout=subprocess.PIPE, text=True)
        time.sleep(3)
        server.process.send_signal(signal.SIGINT)
        began = time.monotonic()
        server.process.wait(timeout=200)
        require(time.monotonic() - began < 120, "the server took", time.monotonic() - began)
        said = proof.communicate(timeout=600)[0]
    report = json.loads(said)
    require(proof.returncode == 1 and report["verdict"] == "FAILED", said)
    require("ended the proof: interrupted" in report["seen"][0], report["seen"], report["causes"])
    require(not any(check["status"] == "failed" for check in report["checks"]), report["checks"])
    require(report["next"].startswith("gdr prove localhost"), report["next"])


def a_client_is_interrupted_whatever_the_server_does():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        client = subprocess.Popen([GDR, "prove", "localhost", "--soft", "--port",
                                   str(silent.getsockname()[1])],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        silent.settimeout(200)
        connection, _ = silent.accept()
        with connection:
            time.sleep(0.3)
            began = time.monotonic()
            client.send_signal(signal.SIGINT)
            said, errors = client.communicate(timeout=200)
            require(time.monotonic() - began < 50, "it took", time.monotonic() - began)
    require(client.returncode == 3 and "INTERRUPTED" in said, client.returncode, said, errors)


def a_client_that_goes_at_once_leaves_the_place_free():
    with Serving(GDR) as server:
        for _ in range(3):
            client = subprocess.Popen(server.command(*FEW), stdout=subprocess.DEVNULL)
            time.sleep(0.25)
            client.kill()
            client.wait()
        end = time.monotonic() + 200
        while time.monotonic() < end:
            done = server.prove("--modes", "write", "--sizes", "8", "--no-measure")
            if done.returncode == 0:
                break
        require(done.returncode == 0, done.stdout, done.stderr)


def hardware_is_required_of_both_hosts():
    with Serving(GDR) as server:
        done = run([GDR, "prove", "localhost", "--port", str(server.port), "--require-hardware"])
        require(done.returncode == 1 and "FAILED" in done.stdout, done.returncode, done.stdout)


if __name__ == "__main__":
    sys.exit(main([both_sides_take_part, reports_name_both_hosts, wrong_bytes_are_seen_where_they_land,
                   secrets_must_match, no_server_is_one_line, perf_is_no_server_of_proofs,
                   one_proof_at_a_time, a_lost_worker_fails_the_proof,
                   a_server_that_ends_is_no_fault_of_the_hardware,
                   a_client_is_interrupted_whatever_the_server_does,
                   a_client_that_goes_at_once_leaves_the_place_free,
                   hardware_is_required_of_both_hosts]))

"""wrong_use.py GDR: options that exclude each other or name nothing are one line and exit status 2."""
import sys

from proofs import main, require, run

GDR = sys.argv[1]
CASES = (
    (("--server", "node2"), "--server and a host exclude each other"),
    (("node2", "--all"), "--all and a host exclude each other"),
    (("node2", "--from-gpu", "0"), "--from-gpu and a host exclude each other"),
    (("node2", "--peer-nic", "soft0"), "type: gdr prove --server --nic NIC"),
    (("--server", "--all"), "--all and --server exclude each other"),
    (("--server", "--json"), "--server and --json exclude each other"),
    (("--server", "--report", "proof.html"), "--server and --report exclude each other"),
    (("--server", "--memory", "host"), "--server and --memory exclude each other"),
    (("--server", "--modes", "write"), "--server and --modes exclude each other"),
    (("--port", "18777"), "--port is for gdr prove --server and gdr prove HOST"),
    (("--listen", "any"), "--listen is for gdr prove --server"),
    (("node2", "--session-limit", "1h"), "--session-limit is for gdr prove --server"),
    (("--secret", "file"), "--secret is for gdr prove --server and gdr prove HOST"),
    (("node2", "--soft", "--secret", "/nowhere/secret"), "--secret /nowhere/secret: "),
    (("--server", "--session-limit", "soon"), "--session-limit"),
    (("--server", "--port", "0"), "--port"),
    (("--server", "--soft", "--nic", "mlx9_0", "--port", "0"), "--port"),
    (("--server", "--soft", "--nic", "mlx9_0"), "unknown NIC 'mlx9_0'"),
    (("--server", "--soft", "--gpu", "99"), "unknown GPU '99'"),
    (("--server", "--soft", "--listen", "192.0.2.1"), "192.0.2.1"),
)


def wrong_use_is_one_line():
    for words, phrase in CASES:
        done = run([GDR, "prove", *words], seconds=200)
        expected = 1 if "192.0.2.1" in words else 2
        require(done.returncode == expected, words, done.returncode, done.stdout, done.stderr)
        phrase = phrase.removeprefix("type: ")
        require(phrase in done.stderr and done.stderr.count("\n") == 1, words, done.stderr)
        require(done.stdout == "", words, done.stdout)


def an_unknown_host_is_no_verdict():
    done = run([GDR, "prove", "no-such-host.invalid", "--soft"], seconds=300)
    require(done.returncode == 1 and done.stdout == "", done.returncode, done.stdout)
    require("unknown host 'no-such-host.invalid'" in done.stderr, done.stderr)


if __name__ == "__main__":
    sys.exit(main([wrong_use_is_one_line, an_unknown_host_is_no_verdict]))

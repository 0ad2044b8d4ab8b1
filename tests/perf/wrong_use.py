"""wrong_use.py GDR: each of these is one line on standard error that names what does not fit, and exit status 2."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from perf_program import Perf, main, require  # noqa: E402

PERF = Perf(sys.argv[1])

# What is typed, and what the line must hold.
COMMANDS = (
    ("--operation scribble", "unknown --operation 'scribble'; allowed: write, write-imm, read"),
    ("--operation write,,read", "unknown --operation ''"),
    ("--transport tcp", "unknown --transport 'tcp'; allowed: rc, uc, ud, xrc"),
    ("--measure speed", "unknown --measure 'speed'; allowed: bandwidth, latency, rate"),
    ("--sizes 0", "wrong size '0'"),
    ("--sizes 2G", "wrong size '2G'"),
    ("--sizes 1M-64", "the smaller one comes first"),
    ("--sizes -5", "wrong size"),
    ("--sizes 99999999999999999999", "wrong size"),
    ("--memory disk", "unknown --memory 'disk'; allowed: host, gpu, gpu-vmm, staged, pinned"),
    ("--memory host:1", "wrong --memory 'host:1'"),
    ("--memory gpu:x", "wrong --memory 'gpu:x'"),
    ("--registration magic", "unknown --registration 'magic'; allowed: dma-buf, peer-memory"),
    ("--queue-pairs 0", "--queue-pairs 0: allowed are 1 to 4096"),
    ("--queue-pairs 4097", "--queue-pairs 4097: allowed are 1 to 4096"),
    ("--queue-pairs -1", "--queue-pairs must be a positive whole number, not '-1'"),
    ("--queue-pairs many", "--queue-pairs must be a positive whole number, not 'many'"),
    ("--threads 65 --queue-pairs 65", "--threads 65: allowed are 1 to 64"),
    ("--threads 2", "--threads 2 does not work with --queue-pairs 1"),
    ("--depth 0", "--depth 0: allowed are 1 to 8192"),
    ("--batch 200", "--batch 200 does not work with --depth 128"),
    ("--signal-every 200", "--signal-every 200 does not work with --depth 128"),
    ("--transport ud", "--operation write does not work with --transport UD"),
    ("--transport uc --operation read", "--operation read does not work with --transport UC"),
    ("--srq", "--srq does not work with --operation write"),
    ("--both-ways --measure latency", "--both-ways does not work with --measure latency"),
    ("--queue-pairs 2 --measure latency",
     "--queue-pairs 2 does not work with --measure latency"),
    ("--operation fetch-add --sizes 64", "--sizes 64 does not work with --operation fetch-add"),
    ("--inline 64 --memory gpu", "--inline 64 does not work with GPU memory"),
    ("--memory staged --both-ways --measure bandwidth",
     "--memory staged does not work with --both-ways"),
    ("--memory staged --operation read",
     "--memory staged does not work with --operation read: use --operation write or send"),
    ("--memory staged --operation send --transport ud",
     "--memory staged does not work with --transport UD: use --transport rc"),
    ("--huge-pages --memory gpu", "--huge-pages does not work with GPU memory on both sides"),
    ("--bare-copies --server", "--bare-copies and --server exclude each other"),
    ("localhost --bare-copies", "--bare-copies and a host exclude each other"),
    ("--mtu 1000", "--mtu"),
    ("--service-level 16", "--service-level"),
    ("--traffic-class 256", "--traffic-class"),
    ("--gid-index 300", "--gid-index"),
    ("--gid-index 200 --nic soft0", "has no GID with index 200"),
    ("--duration soon", "wrong --duration 'soon'; as in 0.2, 200ms"),
    ("--duration -1", "wrong --duration"),
    ("--duration 2000m", "up to a day"),
    ("--duration 0", "--duration must be greater than 0"),
    ("--duration 1us --repeats 10000", "--duration must be greater than 0"),
    ("--warm-up nan", "wrong --warm-up 'nan'"),
    ("--repeats 0", "--repeats"),
    ("--iterations x", "--iterations"),
    ("--cpu 5-2", "wrong --cpu '5-2'; as in 0-3,8"),
    ("--cpu 1000000", "wrong --cpu"),
    ("--nic mlx9_0", "unknown NIC 'mlx9_0'"),
    ("--nic soft0,mlx9_0", "unknown NIC 'mlx9_0'"),
    ("--nic soft0,", "unknown NIC ''"),
    ("--nic soft0,soft1,soft0:1", "--nic names port soft0 twice"),
    ("--nic soft0,soft1 --peer-nic soft1,soft1:1", "--peer-nic names port soft1 twice"),
    ("--nic soft0,soft1 --peer-nic soft0", "--nic names 2 ports but --peer-nic 1; name as many"),
    ("--peer-nic soft0,soft1", "--nic names 1 port but --peer-nic 2; name as many"),
    ("--nic soft0,soft1 --threads 1", "--nic with 2 ports does not work with --threads 1"),
    ("--nic soft0,soft1 --queue-pairs 1",
     "--nic with 2 ports does not work with --queue-pairs 1"),
    ("--nic soft0,soft1 --measure latency",
     "--nic with 2 ports does not work with --measure latency"),
    ("--nic soft0,soft1 --gid-index 200", "has no GID with index 200"),
    ("--gpu 99", "unknown GPU '99'"),
    ("--require-hardware", "--soft and --require-hardware exclude each other"),
    ("--server somewhere", "--server and a host exclude each other"),
    ("somewhere --peer-nic soft0", "--peer-nic and a host exclude each other"),
    ("--port 0", "--port"),
    ("--port 70000", "--port"),
    ("--server --listen nowhere.invalid", "--listen nowhere.invalid: "),
    ("--listen any", "--listen is for gdr perf --server"),
    ("--session-limit 2h", "--session-limit is for gdr perf --server"),
    ("--server --session-limit soon", "wrong --session-limit 'soon'"),
    ("--secret /etc/hostname", "--secret is for gdr perf --server and gdr perf HOST"),
    ("--server --secret /no/such/file", "--secret /no/such/file: No such file or directory"),
    ("--server --secret /dev/null", "--secret /dev/null: not an ordinary file"),
    ("one two", "two"),
    ("--no-such-option", "--no-such-option"),
    ("--report page.pdf", "'page.pdf' does not end in .json or .csv or .html"),
    ("--report /no/such/folder/x.json", "cannot write /no/such/folder/x.json"),
    ("--server --json", "--server and --json exclude each other: the client has the results"),
    ("--server --report x.csv", "--server and --report exclude each other"),
    ("compare", "two or more JSON files are needed"),
    ("compare /no/such/file /no/such/other", "/no/such/file: No such file or directory"),
)


def every_wrong_use_is_one_line():
    for command, phrase in COMMANDS:
        options = command.split()
        if options[0] != "compare":
            done = PERF.run(*options, seconds=200)
        else:
            done = PERF.run(seconds=200, whole=[PERF.gdr, "perf", *options])
        said = done.stderr
        require(done.returncode == 2, command, done.returncode, done.stdout, said)
        require(said.count("\n") == 1 and said.endswith("\n"), command, "not one line:", said)
        require(phrase in said, command, f"no '{phrase}' in:", said)
        require(done.stdout == "", command, done.stdout)


def an_empty_value_is_one_line():
    for option in ("--operation", "--sizes", "--nic", "--report", "--cpu"):
        done = PERF.run(option, "")
        require(done.returncode == 2 and done.stderr.count("\n") == 1, option, done.returncode,
                done.stderr)


def a_processor_that_is_not_there():
    done = PERF.run("--cpu", "1023", "--memory", "host", "--sizes", "64")
    require(done.returncode == 2, done.returncode, done.stderr)
    require(done.stderr.startswith("gdr perf: --cpu 1023: this process may not use it"),
            done.stderr)


def what_the_nic_has_not_is_a_row_that_says_so():
    for options, phrase in ((("--inline", "1000000", "--sizes", "64"), "--inline 1000000"),
                            (("--transport", "ud", "--operation", "send", "--sizes", "64K"),
                             "UD has at most"),
                            (("--queue-pairs", "4096", "--sizes", "1G"), "are needed, but"),
                            (("--rdma-cm", "--sizes", "64"), "rdma_"),
                            (("--memory", "gpu:77", "--sizes", "64"), "gpu")):
        memory = () if "--memory" in options else ("--memory", "host")
        done = PERF.run(*memory, *options, "--measure", "bandwidth")
        require(done.returncode == 1, options, done.returncode, done.stdout, done.stderr)
        require(phrase in done.stdout.lower() or phrase in done.stdout, options, done.stdout)


if __name__ == "__main__":
    sys.exit(main([every_wrong_use_is_one_line, an_empty_value_is_one_line,
                   a_processor_that_is_not_there, what_the_nic_has_not_is_a_row_that_says_so]))

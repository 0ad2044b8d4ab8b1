#!/usr/bin/env python3
"""completion_speed.py GDR: a completion takes about as long as gdr --help, since it starts nothing. The
processor time of both is taken alternately and the least of each compared, so that a busy machine does not decide."""
import resource
import subprocess
import sys

gdr = sys.argv[1]
ROUNDS = 15
MOST = 3.0


def seconds(*words):
    begin = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([gdr, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600, check=True)
    end = resource.getrusage(resource.RUSAGE_CHILDREN)
    return end.ru_utime + end.ru_stime - begin.ru_utime - begin.ru_stime


def main():
    lines = {"subcommands": [""], "options of gdr perf": ["perf", "--"], "checks": ["doctor", "--only", ""],
             "symptoms": ["explain", "--symptom", ""], "NICs": ["perf", "--nic", ""]}
    best = {name: 1e9 for name in lines}
    help_best = 1e9
    for _ in range(ROUNDS):
        help_best = min(help_best, seconds("--help"))
        for name, words in lines.items():
            best[name] = min(best[name], seconds("__complete", "--", *words))
    slow = []
    for name, time_s in best.items():
        print(f"{name}: {time_s / help_best:.2f} times gdr --help ({help_best * 1e3:.1f} ms)")
        if time_s > MOST * help_best:
            slow.append(name)
    if slow:
        print(f"slower than {MOST} times gdr --help: {', '.join(slow)}")
    return 1 if slow else 0


if __name__ == "__main__":
    sys.exit(main())

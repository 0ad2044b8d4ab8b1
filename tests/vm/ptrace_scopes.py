#!/usr/bin/env python3
"""ptrace_scopes.py BUILD: the software NIC under each of Yama's ptrace scopes, without privilege: two
processes of one account meet, and every byte arrives, whether or not the kernel lets one copy to the
other. In a guest, since the scope is the whole machine's."""
import sys

import lab

SCOPE = "/proc/sys/kernel/yama/ptrace_scope"
AS_USER = "su -s /bin/sh user -c"


def main():
    if len(sys.argv) != 2:
        sys.exit("ptrace_scopes: usage: ptrace_scopes.py BUILD")
    lab.enter_private_namespaces()
    with lab.Guest.boot(sys.argv[1]) as guest:
        status, _ = guest.run(f"test -e {SCOPE}")
        if status != 0:
            lab.skip("the guest's kernel has no Yama")
        guest.check("echo 'user:x:1000:1000:user:/tmp:/bin/sh' >>/etc/passwd; chmod 755 /; chmod 1777 /tmp; "
                    "ip link set lo up")
        # The last one cannot be taken back.
        for scope in (0, 1, 2, 3):
            guest.check(f"echo {scope} >{SCOPE}")
            server = guest.start(f"{AS_USER} 'gdr run -- ibv_rc_pingpong -g 0 -n 50'", 120)
            # The client's first attempts come before the server listens.
            guest.check(f"for i in 1 2 3 4 5 6 7 8 9 10; do {AS_USER} 'gdr run -- ibv_rc_pingpong "
                        "-g 0 -n 50 127.0.0.1' && exit 0; sleep 1; done; exit 1", 120)
            status, output = server.wait(60)
            if status != 0:
                raise lab.Failure(f"scope {scope}: the server ended with {status}: {output}")
            # Host memory alone is a part, which is what 3 says.
            status, proof = guest.run(f"{AS_USER} 'gdr prove --soft --memory host --no-measure "
                                      "--sizes 1,64,4096,1M'", 180)
            if status != 3 or "SIMULATION PASSED IN PART" not in proof:
                raise lab.Failure(f"scope {scope}: {status}: {proof}")
            print(f"ptrace scope {scope}: two processes of an account without privilege meet")


if __name__ == "__main__":
    lab.run_to_the_end(main)

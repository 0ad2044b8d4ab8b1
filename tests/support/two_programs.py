"""A program's server and its client on one machine: what the scripts that start such pairs share.

    port = free_port()
    server = start([*command, "-p", str(port)])
    seen = wait_until_listens(port, server)  # None, or what was wrong
    ...
    stop(server)

    wrong, said = run_pair(Here(), command, seconds=60)   # all of it; two_hosts.Hosts for Here()
"""
import itertools
import os
import random
import signal
import socket
import subprocess
import time


# By default the kernel gives higher ports to sockets that ask for none, so no connection takes one of these
# between free_port() and the program's bind. Two threads never get the same, and each process begins anywhere.
_PORTS = range(20000, 32000)
_next_port = itertools.count(random.randrange(len(_PORTS)))


def free_port():
    for number in itertools.islice(_next_port, len(_PORTS)):
        port = _PORTS[number % len(_PORTS)]
        with socket.socket() as one:
            try:
                one.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise OSError(f"all ports from {_PORTS.start} to {_PORTS.stop - 1} are in use")


def start(command, environment=None):
    """In a process group of its own, so that stop() reaches what it has started."""
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, start_new_session=True)


def is_listening(port, process):
    """In the network namespace that the process is in."""
    wanted = f":{port:04X} "  # of a local address, in IPv4 or IPv6 form; 0A is LISTEN
    for table in ("tcp", "tcp6"):
        try:
            with open(f"/proc/{process.pid}/net/{table}", encoding="ascii") as lines:
                if any(wanted in line and " 0A " in line for line in lines):
                    return True
        except OSError:  # it has ended
            return False
    return False


def wait_until_listens(port, server):
    """None, or what kept it from listening."""
    end = time.monotonic() + 100
    while not is_listening(port, server):
        if server.poll() is not None:
            return f"the server ended with {server.returncode}: {server.stdout.read()}"
        if time.monotonic() > end:
            return "the server does not listen"
        time.sleep(0.01)
    return None


def end(process, patience):
    """Kills it, unless it ends by itself within that many seconds. What it said can still be read."""
    try:
        process.wait(timeout=patience)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def stop(process, patience=0):
    end(process, patience)
    process.stdout.close()


class Here:
    """Where a pair runs: server and client on this host."""

    address = "127.0.0.1"  # the server's, for the client

    def free_port(self):
        return free_port()

    def start(self, side, command):  # side: 0 the server, 1 the client
        return start(command)

    def wait_until_listens(self, port, server):
        return wait_until_listens(port, server)


def run_pair(place, command, seconds):
    """Server and client of one program, which takes -p PORT and the server's address. What was wrong, or None; and what the client printed."""
    wrong, said, _ = run_server_and_client(place, command, command, seconds)
    return wrong, said


def run_server_and_client(place, server_command, client_command, seconds):
    """The same with a command each; and what the server printed."""
    port = place.free_port()
    server = place.start(0, [*server_command, "-p", str(port)])
    client = None
    try:
        wrong = place.wait_until_listens(port, server)
        if wrong is not None:
            return wrong, "", ""
        client = place.start(1, [*client_command, "-p", str(port), place.address])
        said = client.communicate(timeout=seconds)[0]
        # A server whose client has failed may wait for the next one.
        if client.returncode != 0:
            end(server, patience=30)
        heard = server.communicate(timeout=seconds)[0]
        if client.returncode != 0 or server.returncode != 0:
            return (f"exit {client.returncode} and {server.returncode}:\n{said}\n--- server\n"
                    f"{heard}"), said, heard
        return None, said, heard
    except subprocess.TimeoutExpired:
        return f"no end within {seconds} seconds", "", ""
    finally:
        stop(server)
        if client is not None:
            stop(client)

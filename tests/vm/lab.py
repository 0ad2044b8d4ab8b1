"""A guest with Debian's own kernel under QEMU's software emulation, and what the tests ask of it.

    with lab.Guest.boot(build_folder) as guest:
        print(guest.check("rdma link"))             # its output; raises when it fails
        server = guest.start("ibv_rc_pingpong -d rxe0")
        ...
        status, output = server.wait(10)

Whatever waits has a limit, and QEMU never outlives the test: it dies with the process that started it.
"""
import fcntl
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))
from outcome import SKIP, Failure, expect, run_to_the_end, skip  # noqa: E402, F401: tests take them from here

BOOT_SECONDS = 900  # takes 4 on an idle machine
EXTRA_SECONDS = 300  # beyond a command's own limit, before the guest itself counts as lost


def enter_private_namespaces():
    """From here on in a network of its own, and in a process tree of its own, which ends, whatever
    became of it, with the process that ctest knows. Starts the script anew, so call it first."""
    if os.environ.get("GDR_VM_PRIVATE"):
        return
    command = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    trial = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
    if trial.returncode != 0:
        skip(f"no network namespace of its own: {trial.stderr.strip()}")
    os.environ["GDR_VM_PRIVATE"] = "1"
    os.execvp(command[0], [*command, sys.executable, *sys.argv])


def kernel_folder(build, release="", modules=False, programs=None):
    """The folder with the guest's kernel, which is fetched on the first call. `release`: one that is
    not the distribution's usual, such as 6.12. `modules`: with those of tests/vm/peermem, which are
    built on the first call. `programs`: with an initramfs that has these."""
    build = pathlib.Path(build).resolve()
    folder = build / (f"vm-{release}" if release else "vm")
    folder.mkdir(exist_ok=True)
    steps = [[HERE / "kernel.sh", folder] + ([f"linux-image-{release}-amd64"] if release else [])]
    if modules:
        steps.append([HERE / "peermem" / "modules.sh", folder])
    if programs is not None:
        steps.append([HERE / "initramfs.sh", folder, build, *programs,
                      *([folder / "ko"] if modules else [])])
    with open(folder / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for command in steps:
            done = subprocess.run(command, timeout=1200, check=False)
            if done.returncode == SKIP:
                sys.exit(SKIP)  # it has said why
            if done.returncode != 0:
                raise Failure(f"{command[0].name} ended with {done.returncode}")
    return folder


def prepare(build, programs=(), release="", modules=False):
    """The folder with the guest's kernel and initramfs (kernel_folder)."""
    for program, package in (("qemu-system-x86_64", "qemu-system-x86"),
                             ("busybox", "busybox-static")):
        if not shutil.which(program):
            skip(f"{program} is not installed (Debian: {package})")
    return kernel_folder(build, release, modules, programs)


def qemu_command(folder, kernel_options="", cpu="max"):
    """What every guest has. It dies with the process that starts it. `cpu`: QEMU's option -cpu."""
    return ["setpriv", "--pdeathsig", "KILL", "--", "qemu-system-x86_64",
            "-accel", "tcg,thread=multi", "-M", "q35", "-cpu", cpu, "-smp", "2", "-m", "1024",
            "-kernel", folder / "vmlinuz", "-initrd", folder / "initramfs",
            "-append", f"console=ttyS0 quiet panic=-1 oops=panic {kernel_options}",
            "-nodefaults", "-no-reboot", "-display", "none", "-device", "virtio-rng-pci"]


class Job:
    """A command that runs in the guest."""

    def __init__(self, guest, number, command, seconds):
        self._guest = guest
        self._number = number
        self.command = command
        self._seconds = seconds

    def is_running(self):
        return not self._guest.has_answer(self._number)

    def wait(self, patience=None):
        """Its exit status and its output; 137 when it had to be killed: at its own limit, or when
        `patience`, in seconds, was over."""
        if patience is not None:
            end = time.monotonic() + patience
            while self.is_running() and time.monotonic() < end:
                time.sleep(0.02)
            if self.is_running():
                self._guest.run(f"kill -KILL -$(cat /run/group.{self._number})")
        return self._guest.answer(self._number, self._seconds)


class Guest:
    @classmethod
    def boot(cls, build, programs=(), qemu=("-nic", "none"), cpu="max", kernel_options="",
             release="", modules=False):
        """`qemu`: options for the devices of this guest: its network, PCI switches, NUMA nodes.
        `kernel_options`: appended to its kernel's command line. `release`, `modules`: see prepare."""
        return cls(prepare(build, programs, release, modules), qemu, cpu, kernel_options)

    def __init__(self, folder, qemu, cpu="max", kernel_options=""):
        self._console = tempfile.TemporaryFile()
        self._received = b""
        self._answers = {}
        self._last = 0
        self._asked = False
        self._port, far_end = socket.socketpair()
        command = qemu_command(folder, kernel_options, cpu) + [
            "-serial", "stdio", "-monitor", "none", "-device", "virtio-serial-pci",
            "-chardev", f"socket,id=lab,fd={far_end.fileno()}",
            "-device", "virtserialport,chardev=lab,name=lab", *qemu]
        self._qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self._console,
                                      stderr=subprocess.STDOUT, pass_fds=[far_end.fileno()])
        far_end.close()
        try:
            start = time.monotonic()
            _, kernel = self.answer(0, BOOT_SECONDS)
            self.kernel = kernel.strip()
            print(f"guest: kernel {self.kernel}, up after {time.monotonic() - start:.1f} s")
        except BaseException:
            self.kill()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def kill(self):
        self._qemu.kill()
        self._qemu.wait()

    def start(self, command, seconds=60):
        assert "\n" not in command
        self._last += 1
        self._port.sendall(f"{self._last} {seconds} {command}\n".encode())
        return Job(self, self._last, command, seconds)

    def run(self, command, seconds=60):
        return self.start(command, seconds).wait()

    def check(self, command, seconds=60):
        """Its output. A command that fails ends the test."""
        status, output = self.run(command, seconds)
        if status != 0:
            raise Failure(f"in the guest, '{command}' ended with {status}:\n{output}")
        return output

    def processor_seconds(self):
        """What QEMU has used of this machine's processors."""
        with open(f"/proc/{self._qemu.pid}/stat", encoding="ascii") as line:
            fields = line.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def complaints(self):
        """What the guest's kernel found wrong with itself."""
        return self.run("dmesg | grep -E 'BUG|Oops|WARNING|Call Trace|general protection'")[1]

    def has_answer(self, number):
        self._receive(0)
        return number in self._answers

    def answer(self, number, seconds):
        end = time.monotonic() + seconds + EXTRA_SECONDS
        while number not in self._answers:
            rest = end - time.monotonic()
            if rest <= 0 or self._qemu.poll() is not None:
                raise Failure(f"the guest gives no answer; what it says:\n{self._last_words()}")
            self._receive(min(rest, 1))
        return self._answers.pop(number)

    def _last_words(self):
        """Of its processes that wait in the kernel, and of the kernel, if it still says anything."""
        if not self._asked and self._qemu.poll() is None:
            self._asked = True
            try:
                return self.console() + "\n" + self.run("dmesg | tail -n 20; /lab/processes.sh", 5)[1]
            except Failure:
                pass
        return self.console()

    def console(self):
        size = os.fstat(self._console.fileno()).st_size
        text = os.pread(self._console.fileno(), size, 0).decode(errors="replace")
        return "\n".join(text.splitlines()[-40:])

    def _receive(self, seconds):
        self._port.settimeout(seconds)
        try:
            self._received += self._port.recv(1 << 16)
        except (TimeoutError, BlockingIOError, ConnectionError):
            return  # whether QEMU is still there, answer() asks
        while b"\n" in self._received:
            head, rest = self._received.split(b"\n", 1)
            number, status, size = (int(word) for word in head.split())
            if len(rest) < size:
                return
            self._answers[number] = (status, rest[:size].decode(errors="replace"))
            self._received = rest[size:]

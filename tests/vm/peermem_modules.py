"""The kernel modules that tests/vm/peermem/modules.sh has built, and its kernel's headers.

    modules = Modules(lab.kernel_folder(build, modules=True))
    modules.put(root, "driver-open/nvidia.ko", "nvidia.ko")
"""
import os
import pathlib
import shutil
import subprocess


def run(*command, cwd=None, env=None):
    """`env`: variables beside those that are there."""
    return subprocess.run([str(word) for word in command], cwd=cwd, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600,
                          env={**os.environ, **(env or {})})


class Modules:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.headers = next((self.folder / "headers" / "usr" / "src").glob("linux-headers-*-amd64"))
        self.kernel = self.headers.name.removeprefix("linux-headers-")

    def tree(self, root):
        return pathlib.Path(root) / "lib" / "modules" / self.kernel

    def driver(self, kind):
        return self.folder / "build" / f"driver-{kind}" / "nvidia.ko"

    def put(self, root, module, name):
        """A module of that build into the kernel's tree below a root."""
        target = self.tree(root) / "updates" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(self.folder / "build" / module, target)
        return target

    def versions(self, kind):
        """By symbol, of that driver's interface."""
        lines = (self.driver(kind).parent / "Module.symvers").read_text().splitlines()
        return {line.split()[1]: line.split()[0] for line in lines if "\tnvidia_p2p_" in line}

"""A made-up machine's sysfs and procfs below a folder, as a capture of it has them."""
import os
import pathlib


class CapturedRoot:
    def __init__(self, root):
        self.root = pathlib.Path(root)

    def write(self, path, content):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content if isinstance(content, bytes) else content.encode())

    def line(self, path, value):
        self.write(path, f"{value}\n")

    def link(self, path, target):
        link = self.root / path
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(self.root / target, link.parent))

    def function(self, place, vendor, kind, device="0x1234", node=0, speed="32.0 GT/s PCIe"):
        """A PCI function at its place in the tree, whose link is as fast as it can be."""
        for name, value in (("vendor", vendor), ("device", device), ("class", kind),
                            ("numa_node", node), ("current_link_speed", speed),
                            ("max_link_speed", speed), ("current_link_width", 16),
                            ("max_link_width", 16)):
            self.line(f"{place}/{name}", value)
        self.link(f"sys/bus/pci/devices/{os.path.basename(place)}", place)

"""render_node.py NODE: gets a dma-buf from the render node NODE and compares what it holds."""
import fcntl
import mmap
import os
import stat
import struct
import sys

VERSION, CREATE, EXPORT, PLACE = 0xc0406400, 0xc010645b, 0xc00c642d, 0xc0106464


def ask(node, request, layout, *values):
    argument = bytearray(struct.pack(layout, *values))
    fcntl.ioctl(node, request, argument)
    return struct.unpack(layout, argument)


def main():
    name = sys.argv[1]
    assert stat.S_ISCHR(os.stat(name).st_mode) and os.access(name, os.R_OK | os.W_OK)
    node = os.open(name, os.O_RDWR)
    assert os.fstat(node).st_rdev == os.stat(name).st_rdev == os.makedev(226, int(name[-3:]))
    lengths = ask(node, VERSION, "iiixxxx6Q", *[0] * 9)[3::2]
    assert lengths == (len("i915"), len("0"), len("gdrkit software GPU")), lengths
    handle = ask(node, CREATE, "QII", 100000, 0, 0)[1]
    exported = ask(node, EXPORT, "IIi", handle, os.O_RDWR | os.O_CLOEXEC, -1)[2]
    offset = ask(node, PLACE, "IIQ", handle, 0, 0)[2]
    with mmap.mmap(node, 100000, offset=offset) as by_node, mmap.mmap(exported, 0) as by_export:
        by_node[99999] = 7
        assert by_export[99999] == 7 and len(by_export) == 102400
    print("works")


main()

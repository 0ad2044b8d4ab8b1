"""A function's configuration space of 4096 bytes (PCI Local Bus Specification 3.0, 6.1; bridges:
PCI-to-PCI Bridge Architecture Specification 1.2, 3.2; extended: PCI Express 5.0, 7.6)."""

from formats.express import Express
from formats.registers import put8, put16, put32

COMMAND = 0x0006  # memory, bus master
HAS_LIST = 0x0010


def configuration(place, windows):
    part, function = place.part, place.function
    express = any(isinstance(each, Express) for each in place.capabilities)
    space = bytearray(4096 if express else 256)
    put16(space, 0x00, part.vendor)
    put16(space, 0x02, part.device)
    put16(space, 0x04, COMMAND)
    put16(space, 0x06, HAS_LIST if place.capabilities else 0)
    put32(space, 0x08, part.code << 8 | part.revision)
    put8(space, 0x0e, int(part.is_bridge) | several_functions(place) << 7)
    if part.is_bridge:
        _write_bridge(space, place, windows)
    elif part.subsystem:
        put16(space, 0x2c, part.subsystem.vendor)
        put16(space, 0x2e, part.subsystem.device)
    for bar in part.bars:
        base = windows.bars[bar.number]
        at = 0x10 + 4 * bar.number
        put32(space, at, base & 0xffffffff | (0xc if bar.wide else 0))
        if bar.wide:
            put32(space, at + 4, base >> 32)
    if function.interrupt:
        put8(space, 0x3d, 1)
    _write_lists(space, place)
    return bytes(space)


def several_functions(place):
    """Whether the same device has more functions than this one."""
    around = place.above.function.below if place.above else place.bridge.functions
    device = place.function.number[:2]
    return sum(other.number[:2] == device for other in around) > 1


def _write_bridge(space, place, windows):
    first, last = place.function.buses
    put8(space, 0x18, place.bus)
    put8(space, 0x19, first)
    put8(space, 0x1a, last)
    put16(space, 0x1c, 0x00f0)  # ports: none
    start, end = windows.narrow or (0xfff00000, 0x00100000)
    put16(space, 0x20, start >> 16)
    put16(space, 0x22, end - 1 >> 16 & 0xfff0)
    start, end = windows.wide or (0xfff00000, 0x00100000)
    put16(space, 0x24, start >> 16 & 0xfff0 | 1)
    put16(space, 0x26, end - 1 >> 16 & 0xfff0 | 1)
    put32(space, 0x28, start >> 32)
    put32(space, 0x2c, end - 1 >> 32)
    put16(space, 0x3e, 0x0003)  # errors are passed on


def _write_lists(space, place):
    capabilities = place.capabilities
    usual = [each for each in capabilities if each.offset < 0x100]
    extended = [each for each in capabilities if each.offset >= 0x100 and len(space) > 256]
    if usual:
        put8(space, 0x34, usual[0].offset)
    for each, after in zip(usual, [*usual[1:], None]):
        number = 0x10 if isinstance(each, Express) else each.number
        put8(space, each.offset, number)
        put8(space, each.offset + 1, after.offset if after else 0)
        each.write(space, place.function)
    assert not extended or extended[0].offset == 0x100, place.address
    for each, after in zip(extended, [*extended[1:], None]):
        put32(space, each.offset,
              each.number | each.version << 16 | (after.offset if after else 0) << 20)
        each.write(space, place.function)

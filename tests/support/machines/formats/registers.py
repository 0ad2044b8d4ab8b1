"""Writing into a configuration space, and flags as lspci prints them."""

import struct


def put8(space, at, value):
    space[at] = value


def put16(space, at, value):
    struct.pack_into("<H", space, at, value)


def put32(space, at, value):
    struct.pack_into("<I", space, at, value)


def flags(text, value):
    """The names are bits from 0 up: 'CorrErr NonFatalErr', 1 -> 'CorrErr+ NonFatalErr-'."""
    return " ".join(name + ("+" if value >> bit & 1 else "-")
                    for bit, name in enumerate(text.split()))


def sized(number):
    """1024 -> '1K', as lspci writes sizes of regions."""
    suffixes = ["", "K", "M", "G", "T"]
    while number % 1024 == 0 and len(suffixes) > 1:
        number //= 1024
        suffixes.pop(0)
    return f"{number}{suffixes[0]}"

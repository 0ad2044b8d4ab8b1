"""Where each BAR lies, and what each bridge lets through: given out one after the other, so that
what is behind a bridge is one range."""

from dataclasses import dataclass, field

MEBIBYTE = 1 << 20


@dataclass
class Windows:
    """A function's own ranges, by BAR; and those behind a bridge: [first, behind the last]."""

    bars: dict = field(default_factory=dict)
    narrow: tuple | None = None
    wide: tuple | None = None


class _Pool:
    def __init__(self, first):
        self.next = first

    def align(self, size):
        self.next += -self.next % size
        return self.next

    def take(self, size):
        start = self.align(size)
        self.next += size
        return start


def windows(machine):
    """By address."""
    found = {}
    narrow = _Pool(0x90000000)
    for index, bridge in enumerate(machine.bridges):
        wide = _Pool(0x200000000000 + (index << 41))
        for place in machine.places():
            if place.bridge is bridge and place.above is None:
                _give(place, machine, found, narrow, wide)
    return found


def _give(place, machine, found, narrow, wide):
    own = found[place.address] = Windows()
    for bar in sorted(place.part.bars, key=lambda bar: -bar.size):
        own.bars[bar.number] = (wide if bar.wide else narrow).take(bar.size)
    if not place.part.is_bridge:
        return
    starts = narrow.align(MEBIBYTE), wide.align(MEBIBYTE)
    for child in machine.places():
        if child.above is not None and child.above.address == place.address:
            _give(child, machine, found, narrow, wide)
    ends = narrow.align(MEBIBYTE), wide.align(MEBIBYTE)
    own.narrow, own.wide = (
        (start, end) if end > start else None for start, end in zip(starts, ends))

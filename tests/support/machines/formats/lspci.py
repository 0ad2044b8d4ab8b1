"""What `lspci -vvv` prints for root, in the style of pciutils 3.7 (Ubuntu 22.04) or 3.9 (Debian
12); with numbers as -nn adds them."""

from dataclasses import dataclass

from formats.names import INTERFACES, class_text, device_text, subsystem_text
from formats.registers import sized
from formats.resources import windows as windows_of

SECONDARY = "66MHz- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- <SERR- <PERR-"
STATUS = "66MHz- UDF- FastB2B- ParErr- DEVSEL=fast >TAbort- <TAbort- <MAbort- >SERR- <PERR- INTx-"
CONTROL = ("I/O- Mem+ BusMaster+ SpecCycle- MemWINV- VGASnoop- ParErr- Stepping- SERR- FastB2B- "
           "DisINTx-")


@dataclass(frozen=True)
class Style:
    pciutils: tuple  # (3, 9)
    numbers: bool = False

    @property
    def is_old(self):
        """3.8 changed the words for links, power, bridges and Express's second half."""
        return self.pciutils < (3, 8)


class Verbose:
    def __init__(self, machine, style):
        self.machine, self.style = machine, style
        self.windows = windows_of(machine)

    def text(self, addresses=None):
        """Of those functions, in that order; all of them where none are named (lspci -s)."""
        places = {place.address: place for place in self.machine.by_address()}
        chosen = addresses or list(places)
        return "".join("\n".join(self._function(places[each])) + "\n\n" for each in chosen)

    def _function(self, place):
        part, function = place.part, place.function
        yield self._head(place)
        if part.subsystem and not (part.is_bridge and self.style.is_old):
            yield "\tSubsystem: " + subsystem_text(part.subsystem, self.style.numbers)
        if function.slot:
            yield f"\tPhysical Slot: {function.slot}"
        yield f"\tControl: {CONTROL}"
        yield f"\tStatus: Cap{'+' if place.capabilities else '-'} {STATUS}"
        yield "\tLatency: 0"
        if function.interrupt:
            yield f"\tInterrupt: pin A routed to IRQ {function.interrupt}"
        if place.bridge.node is not None:
            yield f"\tNUMA node: {place.bridge.node}"
        yield from self._regions(place)
        if part.is_bridge:
            yield from self._behind(place)
        yield from self._capabilities(place)
        if function.driver:
            yield f"\tKernel driver in use: {function.driver}"
            if function.driver != "pcieport":  # which is no module
                yield f"\tKernel modules: {function.modules or function.driver}"

    def _head(self, place):
        part = place.part
        address = place.address
        if all(bridge.domain == 0 for bridge in self.machine.bridges):
            address = address[5:]
        numbers = self.style.numbers
        text = f"{address} {class_text(part, numbers)}: {device_text(part, numbers)}"
        if part.revision:
            text += f" (rev {part.revision:02x})"
        interface = INTERFACES.get(part.code)
        if interface or part.code & 0xff:
            text += f" (prog-if {part.code & 0xff:02x}" + (f" [{interface}]" if interface else "")
            text += ")"
        return text

    def _regions(self, place):
        for bar in place.part.bars:
            kind = "64-bit, prefetchable" if bar.wide else "32-bit, non-prefetchable"
            base = self.windows[place.address].bars[bar.number]
            yield f"\tRegion {bar.number}: Memory at {base:08x} ({kind}) [size={sized(bar.size)}]"

    def _behind(self, place):
        first, last = place.function.buses
        yield (f"\tBus: primary={place.bus:02x}, secondary={first:02x}, subordinate={last:02x}, "
               "sec-latency=0")
        own = self.windows[place.address]
        yield self._range("I/O behind bridge", None, (0xf000, 0x1000), 8, 16)
        yield self._range("Memory behind bridge", own.narrow, (0xfff00000, 0x100000), 8, 32)
        yield self._range("Prefetchable memory behind bridge", own.wide, (0xfff00000, 0x100000),
                          16, 64)
        yield f"\tSecondary status: {SECONDARY}"
        yield "\tBridgeCtl: Parity+ SERR+ NoISA- VGA- VGA16- MAbort- >Reset- FastB2B-"
        yield "\t\tPriDiscTmr- SecDiscTmr- DiscTmrStat- DiscTmrSERREn-"

    def _range(self, name, window, closed, digits, bits):
        start, end = window or closed
        kind = ""
        if not self.style.is_old:
            # What sysfs tells of an open window has no flags, so that it is taken for 32 bits.
            bits = min(bits, 32) if window else bits
            digits, kind = bits // 4, f" [{bits}-bit]"
        size = f"[size={sized(end - start)}]" if window else "[disabled]"
        return f"\t{name}: {start:0{digits}x}-{end - 1:0{digits}x} {size}{kind}"

    def _capabilities(self, place):
        for each in place.capabilities:
            where = f"{each.offset:02x}"
            if each.offset >= 0x100:
                where = f"{each.offset:03x} v{each.version}"
            head, *rest = each.lines(place, self.style)
            yield f"\tCapabilities: [{where}] {head}"
            for line in rest:
                yield "\t\t" + line

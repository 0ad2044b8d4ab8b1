"""Capabilities other than PCI Express: registers, and the lines of `lspci -vvv` in a style
(formats/lspci.py; pciutils, ls-caps.c and ls-ecaps.c). From offset 0x100 on they are extended."""

from dataclasses import dataclass

from formats.express import COLLECTOR, ROOT_PORT, Express
from formats.names import subsystem_text
from formats.registers import flags, put8, put16, put32


@dataclass(frozen=True)
class PowerManagement:
    offset: int
    number = 0x01

    def write(self, space, function):
        put16(space, self.offset + 2, 3)
        put16(space, self.offset + 4, 1 << 3)

    def lines(self, place, style):
        yield "Power Management version 3"
        yield "Flags: PMEClk- DSI- D1- D2- AuxCurrent=0mA PME(D0-,D1-,D2-,D3hot-,D3cold-)"
        yield "Status: D0 NoSoftRst+ PME-Enable- DSel=0 DScale=0 PME-"


@dataclass(frozen=True)
class MsiX:
    offset: int
    count: int = 64
    number = 0x11

    def write(self, space, function):
        put16(space, self.offset + 2, self.count - 1 | 0x8000)
        put32(space, self.offset + 4, 0x2000)
        put32(space, self.offset + 8, 0x3000)

    def lines(self, place, style):
        yield f"MSI-X: Enable+ Count={self.count} Masked-"
        yield "Vector table: BAR=0 offset=00002000"
        yield "PBA: BAR=0 offset=00003000"


@dataclass(frozen=True)
class BridgeSubsystem:
    """Whose a bridge is: its header has no room for it."""

    offset: int
    number = 0x0d

    def write(self, space, function):
        put16(space, self.offset + 4, function.part.subsystem.vendor)
        put16(space, self.offset + 6, function.part.subsystem.device)

    def lines(self, place, style):
        yield "Subsystem: " + subsystem_text(place.part.subsystem, style.numbers)


@dataclass(frozen=True)
class SecondaryExpress:
    offset: int
    version: int = 1
    number = 0x19

    def write(self, space, function):
        pass

    def lines(self, place, style):
        yield "Secondary PCI Express"
        yield "LnkCtl3: LnkEquIntrruptEn- PerformEqu-"
        yield "LaneErrStat: 0"


@dataclass(frozen=True)
class ErrorReporting:
    offset: int
    version: int = 1
    number = 0x01
    UNCORRECTED = ("DLP", 4), ("SDES", 5), ("TLP", 12), ("FCP", 13), ("CmpltTO", 14), \
        ("CmpltAbrt", 15), ("UnxCmplt", 16), ("RxOF", 17), ("MalfTLP", 18), ("ECRC", 19), \
        ("UnsupReq", 20), ("ACSViol", 21)
    SEVERE = 0x00062030  # the specification's default

    def write(self, space, function):
        put32(space, self.offset + 0x0c, self.SEVERE)
        put32(space, self.offset + 0x14, 1 << 13)

    def lines(self, place, style):
        yield "Advanced Error Reporting"
        for name, value in (("UESta", 0), ("UEMsk", 0), ("UESvrt", self.SEVERE)):
            words = " ".join(word + "-+"[value >> bit & 1] for word, bit in self.UNCORRECTED)
            yield f"{name}:\t{words}"
        corrected = "RxErr- BadTLP- BadDLLP- Rollover- Timeout- AdvNonFatalErr"
        yield f"CESta:\t{corrected}-"
        yield f"CEMsk:\t{corrected}+"
        yield "AERCap:\tFirst Error Pointer: 00, ECRCGenCap- ECRCGenEn- ECRCChkCap- ECRCChkEn-"
        yield "\tMultHdrRecCap- MultHdrRecEn- TLPPfxPres- HdrLogCap-"
        yield "HeaderLog: 00000000 00000000 00000000 00000000"
        express = express_of(place.part)
        if express and express.kind in (ROOT_PORT, COLLECTOR):
            yield "RootCmd: CERptEn- NFERptEn- FERptEn-"
            yield "RootSta: CERcvd- MultCERcvd- UERcvd- MultUERcvd-"
            yield "\t FirstFatal- NonFatalMsg- FatalMsg- IntMsg 0"
            yield "ErrorSrc: ERR_COR: 0000 ERR_FATAL/NONFATAL: 0000"


@dataclass(frozen=True)
class AccessControl:
    """ACS: what the port is able to do; what is switched on is the function's."""

    offset: int
    able: int
    version: int = 1
    number = 0x0d
    NAMES = "SrcValid TransBlk ReqRedir CmpltRedir UpstreamFwd EgressCtrl DirectTrans"

    def write(self, space, function):
        put16(space, self.offset + 4, self.able)
        put16(space, self.offset + 6, function.access_control)

    def lines(self, place, style):
        yield "Access Control Services"
        yield "ACSCap:\t" + flags(self.NAMES, self.able)
        yield "ACSCtl:\t" + flags(self.NAMES, place.function.access_control)


@dataclass(frozen=True)
class SerialNumber:
    offset: int
    serial: str = "00-00-00-00-00-00-00-01"
    version: int = 1
    number = 0x03

    def write(self, space, function):
        for at, byte in enumerate(reversed(self.serial.split("-"))):
            put8(space, self.offset + 4 + at, int(byte, 16))

    def lines(self, place, style):
        yield f"Device Serial Number {self.serial}"


@dataclass(frozen=True)
class AlternativeRouting:
    offset: int
    version: int = 1
    number = 0x0e

    def write(self, space, function):
        pass

    def lines(self, place, style):
        yield "Alternative Routing-ID Interpretation (ARI)"
        yield "ARICap:\tMFVC- ACS-, Next Function: 0"
        yield "ARICtl:\tMFVC- ACS-, Function Group: 0"


@dataclass(frozen=True)
class ResizableBars:
    """bars: (number, smallest and largest size in MiB as powers of two, the size it has)."""

    offset: int
    bars: tuple
    version: int = 1
    number = 0x15

    def write(self, space, function):
        at = self.offset + 4
        for index, (bar, least, most, now) in enumerate(self.bars):
            put32(space, at, sum(1 << size + 4 for size in range(least, most + 1)))
            put32(space, at + 4, bar | (len(self.bars) << 5 if index == 0 else 0) | now << 8)
            at += 8

    def lines(self, place, style):
        yield "Physical Resizable BAR"
        for bar, least, most, now in self.bars:
            could = " ".join(mebibytes(size) for size in range(least, most + 1))
            yield f"BAR {bar}: current size: {mebibytes(now)}, supported: {could}"


def mebibytes(power):
    return f"{1 << power}MB" if power < 10 else f"{1 << power - 10}GB"


def express_of(part):
    return next((each for each in part.capabilities if isinstance(each, Express)), None)

"""The PCI Express capability (PCI Express Base Specification 5.0, 7.5.3): registers, and the lines
that `lspci -vvv` has for them (pciutils, ls-caps.c)."""

from dataclasses import dataclass

from formats.registers import flags, put16, put32

ENDPOINT, LEGACY, ROOT_PORT, UPSTREAM, DOWNSTREAM, TO_PCI = 0, 1, 4, 5, 6, 7
INTEGRATED, COLLECTOR = 9, 10
NAMES = {ENDPOINT: "Endpoint", LEGACY: "Legacy Endpoint", ROOT_PORT: "Root Port (Slot{})",
         UPSTREAM: "Upstream Port", DOWNSTREAM: "Downstream Port (Slot{})",
         TO_PCI: "PCI-Express to PCI/PCI-X Bridge",
         INTEGRATED: "Root Complex Integrated Endpoint",
         COLLECTOR: "Root Complex Event Collector"}
SPEEDS = {2.5: 1, 5: 2, 8: 3, 16: 4, 32: 5}


def sizes_code(size):
    return (size // 128).bit_length() - 1


@dataclass(frozen=True)
class Express:
    """What of the capability does not depend on the machine; the rest is the function's."""

    offset: int
    kind: int
    most_payload: int = 512
    slot: int = -1  # the number of the slot; -1: there is none
    extended_tags: bool = True
    reset: bool = True
    errors: int = 0xf  # which ones are reported
    size = 0x3c

    @property
    def has_link(self):
        return self.kind not in (INTEGRATED, COLLECTOR)

    @property
    def is_endpoint(self):
        return self.kind in (ENDPOINT, LEGACY)

    @property
    def faces_down(self):
        return self.kind in (ROOT_PORT, DOWNSTREAM)

    @property
    def can_reset(self):
        return self.reset and (self.is_endpoint or self.kind == INTEGRATED)

    def _device_capabilities(self):
        value = sizes_code(self.most_payload) | self.extended_tags << 5 | 1 << 15
        if self.is_endpoint:
            value |= 7 << 6 | 7 << 9  # any latency will do
        return value | self.can_reset << 28

    def _device_control(self, function):
        return (self.errors | function.relaxed << 4 | sizes_code(function.payload) << 5 |
                self.extended_tags << 8 | sizes_code(function.read_request) << 12)

    def write(self, space, function):
        at = self.offset
        put16(space, at + 0x02, 2 | self.kind << 4 | (self.slot >= 0) << 8)
        put32(space, at + 0x04, self._device_capabilities())
        put16(space, at + 0x08, self._device_control(function))
        if self.has_link:
            self._write_link(space, function.link)
        if self.slot >= 0:
            put32(space, at + 0x14, self.slot << 19 | 1 << 18 | 25 << 7)
            put16(space, at + 0x1a, 1 << 6)
        if self.kind == ROOT_PORT:
            put16(space, at + 0x1e, 1)  # CRS is made visible
        put32(space, at + 0x24, 0xf | 1 << 4)

    def _write_link(self, space, link):
        at = self.offset
        speed, width = link.could
        code = SPEEDS[speed]
        put32(space, at + 0x0c, code | width << 4 | self.faces_down << 20 | 1 << 22 |
              link.port << 24)
        put16(space, at + 0x10, 1 << 6)
        put16(space, at + 0x12, SPEEDS[link.speed] | link.width << 4 | 1 << 12 |
              self.faces_down << 13)
        put32(space, at + 0x2c, ((1 << code) - 1) << 1)
        put16(space, at + 0x30, code)

    def lines(self, place, style):
        function = place.function
        head = NAMES[self.kind].format("+" if self.slot >= 0 else "-")
        yield f"Express (v2) {head}, MSI 00"
        yield from self._device_lines(function, style)
        if self.has_link:
            yield from self._link_lines(function.link, style)
        if self.slot >= 0:
            yield from self._slot_lines(style)
        if self.kind in (ROOT_PORT, COLLECTOR):
            yield f"RootCap: CRSVisible{'+' if self.kind == ROOT_PORT else '-'}"
            yield ("RootCtl: ErrCorrectable- ErrNon-Fatal- ErrFatal- PMEIntEna- CRSVisible-")
            yield "RootSta: PME ReqID 0000, PMEStatus- PMEPending-"
        yield from self._second_lines(place, style)
        if self.has_link:
            yield from self._second_link_lines(place, style)

    def _device_lines(self, function, style):
        latency = ", Latency L0s unlimited, L1 unlimited" if self.is_endpoint else ""
        yield f"DevCap:\tMaxPayload {self.most_payload} bytes, PhantFunc 0{latency}"
        line = "\tExtTag" + ("+" if self.extended_tags else "-")
        if self.is_endpoint or self.kind in (UPSTREAM, TO_PCI):
            line += " AttnBtn- AttnInd- PwrInd-"
        line += " RBE+"
        if self.is_endpoint or self.kind == INTEGRATED:
            line += " FLReset" + ("+" if self.can_reset else "-")
        if self.kind in (ENDPOINT, UPSTREAM, TO_PCI):
            line += f" SlotPowerLimit {power(0, style)}"
        yield line
        yield "DevCtl:\t" + flags("CorrErr NonFatalErr FatalErr UnsupReq", self.errors)
        yield ("\tRlxdOrd{} ExtTag{} PhantFunc- AuxPwr- NoSnoop-".format(
            *("+" if on else "-" for on in (function.relaxed, self.extended_tags))) +
            (" BrConfRtry-" if self.kind == TO_PCI else "") +
            (" FLReset-" if self.can_reset else ""))
        yield f"\tMaxPayload {function.payload} bytes, MaxReadReq {function.read_request} bytes"
        yield "DevSta:\tCorrErr- NonFatalErr- FatalErr- UnsupReq- AuxPwr- TransPend-"

    def _link_lines(self, link, style):
        speed, width = link.could
        yield (f"LnkCap:\tPort #{link.port}, Speed {speed:g}GT/s, Width x{width}, "
               "ASPM not supported")
        yield f"\tClockPM- Surprise- LLActRep{'+' if self.faces_down else '-'} BwNot- ASPMOptComp+"
        ends_tree = self.is_endpoint or self.kind in (ROOT_PORT, TO_PCI)
        yield ("LnkCtl:\tASPM Disabled;" + (" RCB 64 bytes," if ends_tree else "") +
               " Disabled- CommClk+")
        yield "\tExtSynch- ClockPM- AutWidDis- BWInt- AutBWInt-"
        yield ("LnkSta:\tSpeed {:g}GT/s{}, Width x{}{}".format(
            link.speed, self._compared(link.speed, speed, style),
            link.width, self._compared(link.width, width, style)))
        yield f"\tTrErr- Train- SlotClk+ DLActive{'+' if self.faces_down else '-'} BWMgmt- ABWMgmt-"

    def _compared(self, now, most, style):
        if style.is_old:
            return " (ok)" if now == most else " (downgraded)"
        return "" if now == most or self.faces_down else " (downgraded)"

    def _slot_lines(self, style):
        yield "SltCap:\tAttnBtn- PwrCtrl- MRL- AttnInd- PwrInd- HotPlug- Surprise-"
        yield f"\tSlot #{self.slot}, PowerLimit {power(25, style)}; Interlock- NoCompl+"
        yield "SltCtl:\tEnable: AttnBtn- PwrFlt- MRL- PresDet- CmdCplt- HPIrq- LinkChg-"
        yield "\tControl: AttnInd Unknown, PwrInd Unknown, Power- Interlock-"
        yield "SltSta:\tStatus: AttnBtn- PowerFlt- MRL- CmdCplt- PresDet+ Interlock-"
        yield "\tChanged: MRL- PresDet- LinkState-"

    def _second_lines(self, place, style):
        port = self.kind in (ROOT_PORT, UPSTREAM, DOWNSTREAM)
        yield "DevCap2: Completion Timeout: Range ABCD, TimeoutDis+ NROPrPrP- LTR-"
        yield "\t 10BitTagComp- 10BitTagReq- OBFF Not Supported, ExtFmt- EETLPPrefix-"
        yield "\t EmergencyPowerReduction Not Supported, EmergencyPowerReductionInit-"
        line = "\t FRS-"
        if self.kind == ROOT_PORT:
            line += " LN System CLS Not Supported,"
        if self.kind in (ROOT_PORT, ENDPOINT):
            line += " TPHComp- ExtTPHComp-"
        yield line + (" ARIFwd-" if self.faces_down else "")
        memory = bool(place.part.bars)
        if port or memory:
            yield ("\t AtomicOpsCap:" + (" Routing-" if port else "") +
                   (" 32bit- 64bit- 128bitCAS-" if self.kind == ROOT_PORT or memory else ""))
        tags = "" if style.is_old else " 10BitTagReq-"
        yield (f"DevCtl2: Completion Timeout: 50us to 50ms, TimeoutDis- LTR-{tags} OBFF Disabled," +
               (" ARIFwd-" if self.faces_down else ""))
        if self.kind not in (TO_PCI, COLLECTOR):
            asks = self.kind in (ROOT_PORT, ENDPOINT, LEGACY, INTEGRATED)
            yield ("\t AtomicOpsCtl:" + (" ReqEn-" if asks else "") +
                   (" EgressBlck-" if port else ""))

    def _second_link_lines(self, place, style):
        speed = place.function.link.could[0]
        if not self.is_endpoint or place.function.number == "00.0":
            top = "" if speed == 2.5 else f"-{speed:g}"
            yield (f"LnkCap2: Supported Link Speeds: 2.5{top}GT/s, "
                   "Crosslink- Retimer- 2Retimers- DRS-")
            yield (f"LnkCtl2: Target Link Speed: {speed:g}GT/s, EnterCompliance- SpeedDis-" +
                   (", Selectable De-emphasis: -6dB" if self.kind == DOWNSTREAM else ""))
            yield ("\t Transmit Margin: Normal Operating Range, EnterModifiedCompliance- "
                   "ComplianceSOS-")
            if style.is_old:
                yield "\t Compliance De-emphasis: -6dB"
            else:
                yield "\t Compliance Preset/De-emphasis: -6dB de-emphasis, 0dB preshoot"
        yield "LnkSta2: Current De-emphasis Level: -6dB, EqualizationComplete- EqualizationPhase1-"
        yield "\t EqualizationPhase2- EqualizationPhase3- LinkEqualizationRequest-"
        yield "\t Retimer- 2Retimers- CrosslinkRes: unsupported"


def power(watts, style):
    return f"{watts}.000W" if style.is_old else f"{watts}W"

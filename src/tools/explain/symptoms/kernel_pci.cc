// The kernel's PCI core and IOMMU drivers: what they say of slots, links and peer-to-peer traffic.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& kernel_pci_symptoms() {
  static const Symptoms table = {
      {.id = "pci-slot-empty",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "A PCIe slot lost its card while the host ran (hot-plug: link down)",
       .texts = {{"pciehp: Slot({}): Link Down"},
                 {"pciehp: Slot({}): Card not present"},
                 {"pciehp: Slot({}): Link Down/Card not present"},
                 {"pciehp{}slot({}): Link Down"},
                 {"pciehp{}slot({}): Card not present"},
                 {"pciehp: Slot({}): No device found"},
                 {"pciehp && Failed to check link status"}},
       .cause = "The port above the slot no longer sees the card: its link failed (a riser, "
                "retimer, cable or contact), the card lost power or reset itself, or somebody took "
                "it out or switched the slot off. The kernel then removes the device and its "
                "driver.",
       .consequence = "The GPU or NIC in this slot, and all behind it, is gone for every program.",
       .checks = {"gpus", "rdma-nics", "pcie-link"},
       .fix_now = "`lspci -tv`; `sudo dmesg -T | grep -E 'pciehp|AER|DPC' | tail -40`; nobody "
                  "removed it: power the host off and on (a warm reboot leaves the card unpowered "
                  "as it is)",
       .fix_for_good = "Reseat card, riser and power cables; new firmware of board, switch and "
                       "card; where it comes back, another slot or card.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/pci/hotplug/"
                    "pciehp_ctrl.c",
                    Stated::kCause},
                   {"https://github.com/lnls-dig/bpm-gw/issues/73", Stated::kSymptom}},
       .explains = {"gpu-off-the-bus", "pci-device-gone", "nic-firmware", "nic-driver-error",
                    "nic-command-timeout", "gpu-xid", "port-not-active"}},
      {.id = "pcie-power-fault",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "A PCIe slot switched its power off: power fault",
       .texts = {{"Slot({}): Power fault"}, {"Power fault on slot"}, {"Power fault bit"}},
       .cause = "The slot's power controller saw too much current or too low a voltage: a card "
                "that draws more than the slot gives, a power cable that is not plugged in, or a "
                "defect of card, riser or supply.",
       .consequence = "The card in this slot has no power and is not there.",
       .checks = {"pcie-link", "gpus", "rdma-nics"},
       .fix_now = "`lspci -tv`; the port in the line and what should be below it; then the card's "
                  "power cables, and a cold start",
       .fix_for_good = "Another slot, riser or power supply; the card's vendor where it stays.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/pci/hotplug/"
                    "pciehp_ctrl.c",
                    Stated::kCause}},
       .explains = {"pci-slot-empty", "gpu-off-the-bus", "pci-device-gone"}},
      {.id = "pcie-link-training",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "A PCIe link does not train: it is slow or does not come up",
       .texts = {{"broken device, retraining non-functional downstream link"},
                 {"pci{}: retraining failed"},
                 {"removing 2.5GT/s downstream link speed restriction"},
                 {"Data Link Layer Link Active not set in {number} msec"},
                 {"pciehp{}Cannot train link"},
                 {"pciehp{}Link Training Error"},
                 {"pciehp{}Can not enable the link"}},
       .cause = "Card and port do not agree on a speed: a riser, retimer or contact that is bad at "
                "the higher speeds, firmware of card or board that trains badly, or a card whose "
                "power came up late. The kernel tries again at 2.5 GT/s, and the link stays there "
                "or is given up.",
       .consequence = "The device is missing, or has a fraction of its bandwidth.",
       .checks = {"pcie-link"},
       .fix_now = "`sudo lspci -vvs ADDRESS | grep -E 'LnkCap|LnkSta|LnkCtl2'`; for the port in "
                  "the line and the device below it; then a cold start",
       .fix_for_good = "New firmware for board and card; the slot at a fixed lower speed in the "
                       "BIOS; another slot, riser or cable.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/pci/quirks.c",
                    Stated::kCause}},
       .explains = {"pci-device-gone", "pcie-link-limited"}},
      {.id = "p2pdma-refused",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The kernel allows no peer-to-peer DMA between these two devices (p2pdma)",
       .texts = {{"cannot be used for peer-to-peer DMA"},
                 {"Host bridge not in P2PDMA whitelist"},
                 {"to disable ACS redirect for this path, add the kernel parameter"},
                 {"ACS redirect is set between the client and provider"},
                 {"no peer-to-peer memory is available"},
                 {"PCI device has no peer-to-peer memory"},
                 {"peer-to-peer DMA is not supported by"},
                 {"PCI_P2PDMA_MAP_NOT_SUPPORTED"},
                 {"p2pdma && not whitelisted"},
                 {"p2pdma && not in the whitelist"}},
       .cause =
           "For dma-bufs of amdgpu, xe and others, for NVMe memory and GPUDirect Storage the "
           "kernel looks whether both devices are below one PCIe switch whose ports do not "
           "redirect (ACS), or below a host bridge that it knows to pass such traffic (AMD Zen, "
           "listed Intel ones). Neither holds here. `ACS redirect is set` is the case that a "
           "setting cures; the kernel names the parameter in the next line.",
       .consequence = "The memory of the one is not mapped for the other: registration fails, or "
                      "data goes through host memory.",
       .checks = {"acs", "iommu"},
       .fix_now = "`gdr topo`; `sudo gdr doctor --only acs`; ACS: `sudo gdr fix acs --apply`, or "
                  "boot with the `pci=disable_acs_redir=` of the log; else use devices below one "
                  "switch",
       .fix_for_good =
           "ACS off in the BIOS, or the kernel parameter; a newer kernel where its list "
           "lacks this host bridge.",
       .sources = {{"https://docs.kernel.org/driver-api/pci/p2pdma.html", Stated::kCause},
                   {"https://github.com/torvalds/linux/blob/master/drivers/pci/p2pdma.c",
                    Stated::kCauseAndFix},
                   {"https://github.com/intel/compute-runtime/issues/935", Stated::kCause}},
       .explains = {"mr-no-dma-buf", "amd-peer-memory", "gpudirect-storage"}},
      {.id = "acs-violation",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "A PCIe port blocked a request by Access Control Services (ACS violation)",
       .texts = {{"[21] ACSViol"}, {"UESta:{}ACSViol+"}, {"PCIe error: ACS Violation"}},
       .cause =
           "A device below this port sent a request that ACS there forbids: with a source address "
           "that is not its own (a function that was just reset or renumbered), to a peer, or "
           "with an address that is marked as translated. It is not a broken link.",
       .consequence = "The request is dropped: a transfer between NIC and GPU hangs or fails, and "
                      "the port may be shut (DPC).",
       .checks = {"acs", "iommu"},
       .fix_now = "`sudo gdr doctor --only acs`; `sudo lspci -vvs ADDRESS | grep -A3 'Access "
                  "Control'`; with the port in the line",
       .fix_for_good = "ACS off for the ports between GPU and NIC (`sudo gdr fix acs --apply`, the "
                       "BIOS, or `pci=disable_acs_redir=PORTS`).",
       .sources = {{"https://docs.kernel.org/PCI/pcieaer-howto.html", Stated::kSymptom}},
       .explains = {"pcie-error", "gpu-access-fails"}},
      {.id = "pcie-payload-size",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "Two PCIe devices of one path are set to different packet sizes (Max Payload Size)",
       .texts = {{"can't set Max Payload Size to"},
                 {"Max Payload Size {number}, but upstream"},
                 {"MRRS was unable to be configured with a safe value"},
                 {"Failed attempting to set the MPS"}},
       .cause = "The firmware gave the device and the bridge above it sizes that do not agree "
                "(mostly after a hot-plug or a reset). A packet that is larger than the receiver "
                "takes is a malformed one and stops the link.",
       .consequence = "Transfers through this port fail with fatal PCIe errors, or the device is "
                      "slower than it could be.",
       .checks = {"pcie-link"},
       .fix_now = "`sudo lspci -vvs ADDRESS | grep -E 'MaxPayload'`; for the device and the bridge "
                  "above it",
       .fix_for_good =
           "Boot with `pci=pcie_bus_safe` (all take what each can), or the payload size "
           "set in the BIOS.",
       .sources = {{"https://docs.kernel.org/admin-guide/kernel-parameters.html", Stated::kFix},
                   {"https://github.com/torvalds/linux/blob/master/drivers/pci/probe.c",
                    Stated::kCauseAndFix}},
       .explains = {"pcie-error"}},
      {.id = "pci-bus-numbers",
       .program = Program::kPci,
       .certainty = Certainty::kCertain,
       .title = "Devices behind a PCIe bridge got no bus number",
       .texts = {{"devices behind bridge are unusable because"},
                 {"No bus number available for hot-added bridge"},
                 {"busn_res: can not insert"},
                 {"bridge has subordinate {word} but max busn"}},
       .cause = "The firmware gave the bridge too few bus numbers for what is behind it: a PCIe "
                "switch or enclosure that was added, or virtual functions that spread over more "
                "than one bus.",
       .consequence = "What is behind the bridge does not appear.",
       .checks = {"gpus", "rdma-nics"},
       .fix_now = "`lspci -tv`; `sudo dmesg | grep -iE 'busn|bus number|subordinate' | tail -20`",
       .fix_for_good = "BIOS: more bus numbers (PCIe bus padding), ARI and SR-IOV on. Kernel: boot "
                       "with `pci=assign-busses` or `pci=hpbussize=32`.",
       .sources = {{"https://docs.kernel.org/admin-guide/kernel-parameters.html", Stated::kFix},
                   {"https://github.com/torvalds/linux/blob/master/drivers/pci/probe.c",
                    Stated::kCause}},
       .explains = {"sriov-vfs-not-created", "pci-no-space"}},
      {.id = "iommu-not-started",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The IOMMU could not be started: the firmware's tables or its units are at fault",
       .texts = {{"Failed to initialize IOMMU Hardware"},
                 {"AMD-Vi: IVRS table error"},
                 {"AMD-Vi: IVRS invalid checksum"},
                 {"DMAR: Initialization failed"},
                 {"DMAR: Parse DMAR table failure"},
                 {"DMAR: IOMMU setup failed"},
                 {"DMAR: Your BIOS is broken"},
                 {"DMAR: [Firmware Bug]: Your BIOS is broken"},
                 {"DMAR-IR: Failed to enable irq remapping"},
                 {"DMAR-IR: Failed to setup irq remapping"},
                 {"iommu{}device has entered Service Failure Mode"}},
       .cause =
           "The tables with which the firmware describes the IOMMU (DMAR of Intel, IVRS of AMD) "
           "are wrong or incomplete, or a unit does not answer. The kernel goes on without it.",
       .consequence = "No passthrough to virtual machines and no remapped interrupts. GPUDirect "
                      "RDMA on the host itself does not need the IOMMU.",
       .checks = {"iommu"},
       .fix_now = "`sudo dmesg | grep -iE 'DMAR|AMD-Vi|iommu' | head -40`; `ls "
                  "/sys/kernel/iommu_groups`; empty: there is none",
       .fix_for_good = "New firmware of the board; or the IOMMU switched off in the BIOS where no "
                       "virtual machine needs it.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/iommu/intel/dmar.c",
                    Stated::kCause}},
       .explains = {"vfio-passthrough"}},
  };
  return table;
}

}  // namespace gdr::explain

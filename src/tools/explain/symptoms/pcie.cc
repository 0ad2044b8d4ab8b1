// PCIe: ACS, IOMMU, links, configuration space.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& pcie_symptoms() {
  static const Symptoms table = {
      {.id = "acs-redirect",
       .program = Program::kPci,
       .certainty = Certainty::kPossible,
       .title = "PCIe Access Control Services redirect peer-to-peer traffic at some port",
       .texts = {general("ACS is enabled"),
                 general("SrcValid+ && lspci"),
                 {"ACSCtl:{}ReqRedir+"},
                 {"ACSCtl:{}CmpltRedir+"},
                 {"ACSCtl:{}EgressCtrl+"}},
       .cause = "A port with `ReqRedir+` or `CmpltRedir+` sends what a NIC writes to a GPU up to "
                "the CPU and down again. It matters on the switch ports between a GPU and its NIC "
                "only; `SrcValid+` alone does no harm, and ports elsewhere need not be changed.",
       .consequence = "GPUDirect RDMA at about half of its bandwidth, or hanging; GPU to GPU "
                      "copies over PCIe likewise.",
       .checks = {"acs"},
       .fix_now = "`sudo gdr doctor --only acs`; `sudo gdr fix acs --apply`; the first names the "
                  "ports that matter, the second changes those alone and can undo it. Not in "
                  "virtual machines, nor where vfio is used.",
       .fix_for_good = "ACS off in the BIOS, or boot with `pci=disable_acs_redir=PORTS`.",
       .sources = {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/"
                    "troubleshooting.html",
                    Stated::kCauseAndFix},
                   {"https://github.com/aikitoria/open-gpu-kernel-modules/issues/6",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1086", Stated::kFix},
                   {"https://github.com/NVIDIA/nccl/issues/629", Stated::kSymptom}},
       .explains = {"gpu-access-fails"}},
      {.id = "p2p-hangs",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "Transfers between GPUs over PCIe hang or arrive as zeros: ACS or the IOMMU "
                "redirects them",
       .texts = {{"NCCL_P2P_DISABLE=1{}work"},
                 {"NCCL_P2P_DISABLE=1{}fix"},
                 {"NCCL_P2P_DISABLE=1{}solve"},
                 {"NCCL_P2P_DISABLE=1{}no longer hang"},
                 {"hang{}NCCL_P2P_DISABLE=1"},
                 {"deadlock{}NCCL_P2P_DISABLE=1"},
                 {"NCCL hangs{}PIX"},
                 {"NCCL hangs{}PXB"},
                 {"NCCL hangs{}PHB"}},
       .cause =
           "What one GPU writes to another goes through the root complex, where Access Control "
           "Services, VT-d, the IOMMU of AMD or a virtual machine redirect it: it does not arrive, "
           "and who waits for it waits for ever. A program that works with `NCCL_P2P_DISABLE=1` "
           "shows that. Consumer GPUs whose driver permits no P2P are the other cause.",
       .consequence =
           "Jobs hang or compute with wrong numbers; with P2P disabled all goes through host "
           "memory. GPUDirect RDMA takes the same ways and suffers in the same way.",
       .checks = {"acs", "iommu"},
       .fix_now = "`gdr doctor`; `p2pBandwidthLatencyTest` of CUDA's samples shows it without "
                  "NCCL; `sudo gdr fix acs`",
       .fix_for_good = "In the firmware: VT-d/AMD-Vi and ACS off on bare metal, or `iommu=pt`; in "
                       "a virtual machine: the host's settings.",
       .sources =
           {{"https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",
             Stated::kCauseAndFix},
            {"https://github.com/NVIDIA/nccl/issues/667", Stated::kCauseAndFix}},
       .explains = {"nccl-class", "nvswitch-error", "nccl-watchdog"}},
      {.id = "iommu-fault",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The IOMMU refused a device's access to memory (or is not in passthrough mode)",
       .texts = {{"nvidia {word}: AMD-Vi: Event logged [IO_PAGE_FAULT"},
                 {"mlx5_core {word}: AMD-Vi: Event logged [IO_PAGE_FAULT"},
                 {"amdgpu {word}: AMD-Vi: Event logged [IO_PAGE_FAULT"},
                 general("AMD-Vi: Event logged [IO_PAGE_FAULT"),
                 general("DMAR: [DMA Read{}fault"),
                 general("DMAR: [DMA Write{}fault"),
                 general("DMAR: [INTR-REMAP]{}fault"),
                 {"arm-smmu-v3{}event 0x{word} received"},
                 {"arm-smmu-v3{}event: F_"},
                 {"arm-smmu-v3{}event: C_"},
                 {"arm-smmu-v3{}CMD_SYNC timeout"},
                 {"arm-smmu-v3{}ATC invalidate timeout"},
                 {"arm-smmu{}Unhandled context fault"},
                 {"DMAR: {}PTE{}not set"},
                 {"AMD-Vi: Event logged [ILLEGAL_DEV_TABLE_ENTRY"},
                 {"AMD-Vi: Event logged [INVALID_DEVICE_REQUEST"},
                 {"AMD-Vi: Event logged [DEV_TAB_HARDWARE_ERROR"},
                 {"AMD-Vi: Event logged [PAGE_TAB_HARDWARE_ERROR"},
                 {"AMD-Vi: Event logged [COMMAND_HARDWARE_ERROR"},
                 {"AMD-Vi: Event logged [ILLEGAL_COMMAND_ERROR"},
                 {"AMD-Vi: Event logged [IOTLB_INV_TIMEOUT"},
                 {"AMD-Vi: Event logged [INVALID_PPR_REQUEST"},
                 {"AMD-Vi: Event logged [RMP_"},
                 {"AMD-Vi: Command buffer timeout"},
                 {"AMD-Vi: Completion-Wait loop timed out"},
                 {"arm-smmu-v3{}CMDQ error"},
                 {"arm-smmu-v3{}CMDQ timeout"},
                 {"arm-smmu{}unexpected global error reported"},
                 {"arm-smmu{}Unexpected global fault"},
                 {"arm-smmu{}Blocked unknown Stream ID"},
                 {"AMD-Vi: Event logged [UNKNOWN"},
                 {"DMAR: ERROR: DMA PTE"},
                 {"DMAR: VT-d detected Invalidation"},
                 {"Missing 'iommu=pt' from kernel command line"}},
       .cause =
           "The line names the device. A NIC or GPU: the IOMMU translates what it sends, and has "
           "no entry for the other's addresses, which is how it stops GPUDirect RDMA. Another "
           "device (a disk controller, USB, a management controller): its driver or firmware "
           "reached for memory that it may not use, and no GPU or NIC is concerned.",
       .consequence =
           "The access is dropped: transfers between NIC and GPU hang, are slow, or leave "
           "zeroes behind; another device fails by itself.",
       .checks = {"iommu", "acs"},
       .fix_now = "`lspci -s ADDRESS`; with the address in the line: is it the NIC or GPU?; "
                  "`cat /sys/kernel/iommu_groups/*/type | sort | uniq -c`; identity is what it "
                  "should be",
       .fix_for_good = "Boot with `iommu=pt` (Intel with virtual functions: `intel_iommu=on "
                       "iommu=pt`), or switch the IOMMU off in the BIOS.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/489", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/257", Stated::kFix},
                   {"https://github.com/ROCm/rccl/issues/1129", Stated::kFix},
                   {"https://github.com/NVIDIA/cuda-samples/issues/48", Stated::kSymptom}},
       .explains = {"gpu-access-fails"}},
      {.id = "pci-topology",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "NVIDIA's driver refuses GPUDirect RDMA between this GPU and this NIC",
       .texts = {{"NVRM: dma-buf attach failed: PCI topology not supported for dma-buf"},
                 {"NVRM: dma-buf attach failed: topology not supported for mapping type"},
                 {"dma-buf attach failed: {}not supported"}},
       .cause = "On some processors (Grace, Ampere Altra, AmpereOne) the driver allows it only "
                "where both are below one PCIe bridge; with the mapping type `FORCE_PCIE`, in one "
                "IOMMU group.",
       .consequence = "Registration fails with 'not supported' (ENOTSUPP, 524).",
       .checks = {"driver-topology-gate"},
       .fix_now = "`gdr topo`; use the NIC that shares a bridge with the GPU",
       .fix_for_good = "Move the card. `NVreg_GrdmaPciTopoCheckOverride=1` (driver 570.86.15 and "
                       "later) overrides the check, at your own risk.",
       .sources =
           {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/nvidia/"
             "nv-dmabuf.c",
             Stated::kCause},
            {"https://github.com/openucx/ucx/pull/11571", Stated::kSymptom}},
       .explains = {"mr-no-dma-buf"}},
      {.id = "pci-no-space",
       .program = Program::kPci,
       .certainty = Certainty::kLikely,
       .title = "A PCI device or bridge got no addresses for its memory window (BAR)",
       .texts = {general("BAR {number}{}no space for"),
                 general("BAR {number}{}failed to assign"),
                 general("BAR {number}: can't assign"),
                 general("BAR {number}{}can't assign; no space"),
                 general("BAR {number} {}: can't assign"),
                 general("bridge window{}no space"),
                 general("bridge window{}failed to assign"),
                 general("bridge window{}can't assign"),
                 general("VF BAR {number}{}no space"),
                 general("VF BAR {number}{}can't assign"),
                 general("can't claim BAR"),
                 general("BAR {number}{}failed to resize"),
                 general("failed to resize BAR"),
                 general("resizable BAR{}{fails}"),
                 general("BAR{}is not a valid resource"),
                 general("not assigned; can't enable device"),
                 general("not claimed; can't enable device"),
                 general("Some PCI device resources are unassigned"),
                 general("can't claim; no compatible bridge window"),
                 general("can't claim; address conflict with")},
       .cause =
           "The firmware, or the hypervisor, gave the bridge above the device a window that is "
           "too small. BARs 7 to 12 (VF BAR 0 to 5) are those of virtual functions (SR-IOV), "
           "BARs 13 to 15 and 'bridge window' those of a bridge. Lines of a device that "
           "nobody uses, and of I/O ports, are harmless; so are those that the kernel follows "
           "with another attempt that succeeds.",
       .consequence =
           "The device, its virtual functions, or a larger BAR1 of a GPU are not usable.",
       .checks = {"gpu-bar1", "gpus", "rdma-nics"},
       .fix_now =
           "`sudo dmesg | grep -E 'BAR|bridge window' | tail -40`; `sudo lspci -vvs ADDRESS | "
           "grep -E 'Region|Virtual'`",
       .fix_for_good =
           "BIOS: Above 4G Decoding, a larger MMIO window (MMIOH), SR-IOV and Resizable "
           "BAR on. Kernel: boot with `pci=realloc`. Virtual machines: a larger 64-bit "
           "window.",
       .sources = {{"https://docs.kernel.org/admin-guide/kernel-parameters.html", Stated::kFix},
                   {"https://github.com/Mellanox/mstflint/issues/448", Stated::kSymptom},
                   {"https://github.com/NVIDIA/open-gpu-kernel-modules/issues/510",
                    Stated::kSymptom}},
       .explains = {"sriov-vfs-not-created"}},
      {.id = "pcie-corrected",
       .program = Program::kPci,
       .certainty = Certainty::kLikely,
       .title = "A PCIe link makes errors that it corrects (AER): a bad slot, riser or cable",
       .texts = {general("AER: Corrected error"),
                 general("AER: Correctable error"),
                 general("AER: Multiple Corrected error"),
                 general("AER: Multiple Correctable error"),
                 general("Bus Error: severity=Corrected"),
                 general("Bus Error: severity=Correctable"),
                 general("[ 6] BadTLP"),
                 general("[ 7] BadDLLP"),
                 general("[ 0] RxErr"),
                 general("[ 8] Rollover"),
                 general("[12] Timeout"),
                 general("aer_dev_correctable && TOTAL_ERR_COR {above-zero}"),
                 {"{number} Corrected errors: Bad"},
                 {"{number} Corrected errors: Receiver"},
                 {"section_type: PCIe error", 1},
                 {"event severity: corrected", 2}},
       .cause =
           "Packets arrived damaged and were sent anew: a riser, retimer, cable or contact that "
           "is bad at this speed, or power saving of the link (ASPM). One at boot is nothing; "
           "many a minute are a fault.",
       .consequence = "Nothing is lost, but transfers over this link are slower, and the link may "
                      "fail altogether.",
       .checks = {"pcie-link"},
       .fix_now =
           "`lspci -tv`; `grep . /sys/bus/pci/devices/*/aer_dev_correctable | grep -v ' 0$'`; "
           "find the device below the port that the line names, and reseat it",
       .fix_for_good =
           "Another slot, riser or cable; new firmware for board and card; the slot at a "
           "lower speed in the BIOS; `pcie_aspm=off` on the kernel's command line.",
       .sources = {{"https://docs.kernel.org/PCI/pcieaer-howto.html", Stated::kCause},
                   {"https://github.com/pop-os/pop/issues/3363", Stated::kSymptom}},
       .explains = {}},
      {.id = "pcie-link-limited",
       .program = Program::kKernel,
       .certainty = Certainty::kPossible,
       .title = "A NIC's PCIe link is slower or narrower than the NIC",
       .texts = {{"mlx5_core {word}: {}available PCIe bandwidth, limited by"},
                 {"mlx4_core {word}: {}available PCIe bandwidth, limited by"},
                 {"bnxt_en {word}: {}available PCIe bandwidth, limited by"},
                 {"ice {word}: {}available PCIe bandwidth, limited by"},
                 {"LnkSta:{}(downgraded)"}},
       .cause = "The slot has fewer lanes or an older PCIe generation than the card, the card is "
                "not seated well, or the BIOS splits or slows the slot. A Gen4 card in a Gen5 slot "
                "is 'downgraded' too, and well; so are GPUs that idle.",
       .consequence = "No more than the bandwidth that the line names.",
       .checks = {"pcie-link"},
       .fix_now =
           "Compare both ends: `lspci -vv -s CARD` and its bridge, `LnkCap` against `LnkSta`.",
       .fix_for_good = "Reseat the card or take another slot; BIOS: lanes (bifurcation) and link "
                       "speed of the slot.",
       .sources = {{"https://github.com/NVIDIA/l2fwd-nv/issues/6", Stated::kSymptom},
                   {"https://lists.freebsd.org/archives/freebsd-hackers/2025-August/004922.html",
                    Stated::kSymptom}},
       .explains = {}},
      {.id = "pcie-slot-power",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The PCIe slot gives the NIC too little power",
       .texts = {{"Detected insufficient power on the PCIe slot"}},
       .cause =
           "The slot's firmware allows fewer watts than the card with its optical modules needs.",
       .consequence = "The NIC may switch modules off or lose its link under load.",
       .checks = {"pcie-link"},
       .fix_now = "Another slot, or the BIOS's power limit of this one.",
       .fix_for_good = "",
       .sources = {{"https://github.com/leptonai/gpud/issues/348", Stated::kCauseAndFix},
                   {"https://github.com/leptonai/gpud/pull/293", Stated::kSymptom}},
       .explains = {}},
      {.id = "config-space-locked",
       .program = Program::kPci,
       .certainty = Certainty::kLikely,
       .title = "The kernel does not let PCI configuration space be written (lockdown)",
       .texts = {{"pcilib: sysfs_write: write failed: Operation not permitted"},
                 {"Lockdown: {}: direct PCI access is restricted"}},
       .cause = "Secure Boot puts the kernel into lockdown; setpci is refused even to root.",
       .consequence = "ACS and MaxReadReq cannot be changed while the system runs.",
       .checks = {"lockdown"},
       .fix_now = "`cat /sys/kernel/security/lockdown`",
       .fix_for_good = "ACS by the BIOS or the kernel's command line, which lockdown allows: "
                       "`pci=disable_acs_redir=PORTS`.",
       .sources = {{"https://github.com/FlyGoat/RyzenAdj/issues/205", Stated::kCause},
                   {"https://github.com/xmm7360/xmm7360-usb-modeswitch/issues/9", Stated::kCause},
                   {"https://man7.org/linux/man-pages/man7/kernel_lockdown.7.html",
                    Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

// Lines of the kernel's own sources, as dmesg shows them: each names its fault, and the notes among
// them nothing.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "explained.h"

namespace gdr::explain {
namespace {

struct Said {
  const char* line;
  const char* symptom;
};

void expect(const std::vector<Said>& lines) {
  for (const auto& [line, symptom] : lines) EXPECT_EQ(causes_in(line), Ids{symptom}) << line;
}

// drivers/pci, drivers/iommu, drivers/vfio.
TEST(KernelLog, NamesWhatThePciCoreSaysOfSlotsAndPaths) {
  expect({
      {"pcieport 0000:16:01.0: pciehp: Slot(12): Link Down", "pci-slot-empty"},
      {"pcieport 0000:16:01.0: pciehp: Slot(12): Card not present", "pci-slot-empty"},
      {"pcieport 0000:16:01.0: pciehp: Slot(12): Power fault", "pcie-power-fault"},
      {"pci 0000:17:00.0: broken device, retraining non-functional downstream link at 2.5GT/s",
       "pcie-link-training"},
      {"pci 0000:17:00.0: retraining failed", "pcie-link-training"},
      {"mlx5_core 0000:17:00.0: cannot be used for peer-to-peer DMA as the client and provider "
       "(0000:65:00.0) do not share an upstream bridge or whitelisted host bridge",
       "p2pdma-refused"},
      {"mlx5_core 0000:17:00.0: ACS redirect is set between the client and provider "
       "(0000:65:00.0)",
       "p2pdma-refused"},
      {"pcieport 0000:16:01.0:    [21] ACSViol                (First)", "acs-violation"},
      {"mlx5_core 0000:17:00.0: Max Payload Size 128, but upstream 0000:16:01.0 set to 512; if "
       "necessary, use \"pci=pcie_bus_safe\" and report a bug",
       "pcie-payload-size"},
      {"pci_bus 0000:17: devices behind bridge are unusable because [bus 18] cannot be assigned "
       "for them",
       "pci-bus-numbers"},
      {"nvidia 0000:17:00.0: BAR 1 [mem size 0x2000000000 64bit pref]: not assigned; can't enable "
       "device",
       "pci-no-space"},
      {"AMD-Vi: IOMMU2: Failed to initialize IOMMU Hardware (error=-22)!", "iommu-not-started"},
      {"arm-smmu arm-smmu.0.auto: Blocked unknown Stream ID 0x8000; boot with "
       "\"arm-smmu.disable_bypass=0\" to allow, but this may have security implications",
       "iommu-fault"},
      {"vfio_pin_pages_remote: Task qemu (4711) RLIMIT_MEMLOCK (67108864) exceeded in vfio",
       "vfio-passthrough"},
  });
}

// drivers/net/ethernet, drivers/infiniband.
TEST(KernelLog, NamesWhatTheDriversOfNicsSay) {
  expect({
      {"mlx5_core 0000:3b:00.0: temp_warn:181:(pid 0): High temperature on sensors with bit set 0 "
       "1",
       "nic-overheats"},
      {"bnxt_en 0000:3b:00.0 eth0: Chip temperature has gone above the shutdown thermal threshold!",
       "nic-overheats"},
      {"mlx5_core 0000:3b:00.0: PCI Sync FW Update Reset Aborted.", "nic-being-reset"},
      {"mlx5_core 0000:3b:00.0: Sync Reset now. Device is going to reset.", "nic-being-reset"},
      {"ionic 0000:3b:00.0: FW Down: Stopping LIFs", "nic-being-reset"},
      {"bnxt_en 0000:3b:00.0 eth0: Unable to allocate 5 MSIX vectors, maximum available 2",
       "nic-interrupts"},
      {"__ib_cache_gid_add: unable to add gid fe80:0000:0000:0000:0000:0000:0000:0001 error=-28",
       "gid-not-entered"},
      {"infiniband rxe0: rxe0 speed is unknown, defaulting to 1000", "port-speed-unknown"},
      {"uverbs_write: process 4711 (server) changed security contexts after opening file "
       "descriptor, this is not allowed.",
       "verbs-other-user"},
      {"mlx5_core 0000:3b:00.0: E-Switch: Failed to set vport 1 node guid, err = -22. RDMA_CM will "
       "not function properly for this VF.",
       "vf-without-guid"},
      {"infiniband mlx5_0: reg umr failed (10). Trying to recover and resubmit the flushed WQEs, "
       "mkey = 4711",
       "memory-key-update"},
      {"ice 0000:18:00.0: The DDP package file was not found or could not be read. Entering Safe "
       "Mode",
       "ice-safe-mode"},
      {"bnxt_en 0000:3b:00.0 eth0: Pause Storm detected!", "pause-storm"},
      {"mlx5_core 0000:3b:00.0: CREATE_MKEY(0x200) timed out while waiting for a slot.",
       "nic-command-timeout"},
      {"bnxt_en 0000:3b:00.0 eth0: Abandoning msg {0x50 0x12} len: 0 due to firmware status: 0x1",
       "nic-command-timeout"},
      {"ice 0000:18:00.0: Rx/Tx is disabled on this device because an unsupported module type was "
       "detected. Refer to the Intel(R) Ethernet Adapters and Devices User Guide",
       "nic-cable"},
  });
}

// kernel-open/nvidia, kernel-open/nvidia-peermem, src/nvidia; drivers/gpu/drm/amd.
TEST(KernelLog, NamesWhatTheDriversOfGpusSay) {
  expect({
      {"NVRM: GPU6 _kgspIsHeartbeatTimedOut: Heartbeat timed out, currentTimeMs 8 heartbeat 1",
       "gpu-firmware-hangs"},
      {"NVRM: Xid (PCI:0000:17:00): 119, pid=7, name=python3, Timeout after 6s of waiting for RPC "
       "response from GPU0 GSP!",
       "gpu-firmware-hangs"},
      {"nvidia 0000:17:00.0: Direct firmware load for nvidia/570.86.15/gsp_ga10x.bin failed with "
       "error -2",
       "gpu-firmware-missing"},
      {"NVRM: installed in this system is not supported by open", "gpu-too-old-for-open"},
      {"NVRM: installed in this system requires use of the NVIDIA open kernel modules.",
       "gpu-needs-open"},
      {"NVRM: installed in this system is not supported by the", "gpu-unknown-to-driver"},
      {"NVRM: None of the NVIDIA devices were initialized.", "gpu-probe-failed"},
      {"NVRM: Xid (PCI:0000:17:00): 154, GPU recovery action changed from 0x0 (None) to 0x2 (Node "
       "Reboot Required)",
       "gpu-needs-reset"},
      {"NVRM: Xid (PCI:0000:17:00): 94, pid=7, name=python3, Contained ECC error",
       "gpu-memory-error"},
      {"NVRM: Xid (PCI:0000:17:00): 31, pid=7, name=python3, Ch 00000008, intr 00000000. MMU Fault",
       "gpu-program-fault"},
      {"NVRM: Xid (PCI:0000:17:00): 45, pid=7, name=python3, Ch 0000001 caused by previous Xid 149",
       "nvswitch-error"},
      {"NVRM: dma-buf attach failed: importer unable to handle MMIO without struct page",
       "dma-buf-importer"},
      {"nvidia-peermem nv_dma_map:183 ERROR error -22 while calling nvidia_p2p_dma_map_pages()",
       "peermem-mapping"},
      {"nv_peer_mem: nv_mem_get_pages -- error -14 while calling nvidia_p2p_get_pages()",
       "peermem-pages"},
      {"NVRM: BAR resizing failed with error `-28`.", "bar1-not-enlarged"},
      {"amdgpu 0000:83:00.0: amdgpu: GPU reset begin!", "amd-gpu-hang"},
      {"amdgpu 0000:83:00.0: amdgpu: [gfxhub] page fault (src_id:0 ring:24 vmid:3 pasid:32770)",
       "amd-gpu-page-fault"},
      {"kfd kfd: amdgpu: skipped device 1002:740f, PCI rejects atomics 730<0", "pcie-atomics"},
  });
}

// kernel/dma, mm, drivers/edac, arch/x86/kernel/cpu/mce, security/lockdown.
TEST(KernelLog, NamesWhatTheHostItselfLacks) {
  expect({
      {"mlx5_core 0000:3b:00.0: swiotlb buffer is full (sz: 65536 bytes), total 32768 (slots), "
       "used 32768 (slots)",
       "bounce-buffers"},
      {"mlx5_core 0000:3b:00.0: DMA addr 0x000000047f000000+4096 overflow (mask ffffffff, bus "
       "limit 0).",
       "dma-mask"},
      {"Memory cgroup out of memory: Killed process 4711 (python3) total-vm:1kB", "out-of-memory"},
      {"ib_write_bw: page allocation failure: order:7, mode:0x40dc0(GFP_KERNEL|__GFP_COMP)",
       "page-allocation"},
      {"EDAC skx MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0",
       "host-hardware-error"},
      {"Memory failure: 0x3f1c2: recovery action for dirty LRU page: Recovered",
       "host-hardware-error"},
      {"INFO: task kworker/u128:2:1234 blocked for more than 120 seconds.", "kernel-hang"},
      {"BUG: kernel NULL pointer dereference, address: 0000000000000010", "kernel-crash"},
      {"Lockdown: modprobe: unsigned module loading is restricted; see man kernel_lockdown.7",
       "module-signature"},
  });
}

// The firmware's own report comes in several lines, of which the severity and the kind count.
TEST(KernelLog, TellsAPcieErrorThatTheFirmwareReportsByItsSeverity) {
  const std::string kind = "{1}[Hardware Error]:   section_type: PCIe error\n";
  EXPECT_EQ(causes_in("{1}[Hardware Error]: event severity: corrected\n" + kind),
            Ids{"pcie-corrected"});
  EXPECT_EQ(causes_in("{1}[Hardware Error]: event severity: fatal\n" + kind), Ids{"pcie-error"});
}

TEST(KernelLog, PutsWhatFollowsFromALostCardBehindIt) {
  EXPECT_EQ(causes_in("pcieport 0000:16:01.0: pciehp: Slot(12): Link Down\n"
                      "NVRM: Xid (PCI:0000:17:00): 79, pid=0, GPU has fallen off the bus.\n"
                      "NVRM: Xid (PCI:0000:17:00): 154, GPU recovery action changed from 0x0"),
            Ids{"pci-slot-empty"});
}

TEST(KernelLog, KeepsSilentOfOrdinaryNotes) {
  for (const char* line :
       {"mlx5_core: module verification failed: signature and/or required key missing - tainting "
        "kernel",
        "nvidia-peermem: module verification failed: signature and/or required key missing - "
        "tainting kernel",
        "nvidia 0000:17:00.0: hash matches",
        "mlx5_core 0000:3b:00.0: hash matches",
        "pcieport 0000:16:01.0: pciehp: Slot #12 AttnBtn- PwrCtrl- MRL- AttnInd- PwrInd-",
        "pcieport 0000:16:01.0: pciehp: Slot(12): Card present",
        "pcieport 0000:16:01.0: pciehp: Slot(12): Link Up",
        "EDAC MC: Ver: 3.0.0",
        "MCE: In-kernel MCE decoding enabled.",
        "mce: CPU0: Thermal monitoring enabled (TM1)",
        "pci_bus 0000:00: Unknown NUMA node; performance will be reduced",
        "mlx5_core 0000:3b:00.0: invalid VPD tag 0x00 (size 0) at offset 0; assume missing "
        "optional "
        "EEPROM",
        "pci 0000:17:00.0: ROM [mem size 0x00080000 pref]: assigned",
        "pci 0000:17:00.0: Max Payload Size set to 256 (was 128, max 512)",
        "DMAR: IOMMU disabled",
        "AMD-Vi: Using global IVHD EFR:0x246577efa2254afa, EFR2:0x0",
        "software IO TLB: mapped [mem 0x000000007a000000-0x000000007e000000] (64MB)",
        "PCI-DMA: Using software bounce buffering for IO (SWIOTLB)",
        "NVRM: Persistence mode is deprecated and will be removed in a future release. Please use "
        "nvidia-persistenced instead.",
        "nvidia-uvm: Loaded the UVM driver, major device number 510.",
        "amdgpu 0000:83:00.0: amdgpu: PCIE atomic ops is not supported",
        "process umad_server did not enable P_Key index support."}) {
    EXPECT_EQ(causes_in(line), Ids{}) << line;
  }
}

}  // namespace
}  // namespace gdr::explain

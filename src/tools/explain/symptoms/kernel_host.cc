// The kernel's log of the host itself: memory, faults of hardware, crashes, bounce buffers.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& kernel_host_symptoms() {
  static const Symptoms table = {
      {.id = "bounce-buffers",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "DMA goes through the kernel's bounce buffers (swiotlb), and they are full",
       .texts = {{"swiotlb buffer is full"},
                 {"Out of SW-IOMMU space"},
                 {"DMA bounce buffers are inactive"},
                 {"Can not allocate SWIOTLB buffer"},
                 {"swiotlb && {fails} && allocate"}},
       .cause = "The device cannot reach the memory that it was given, so that the kernel copies "
                "all through a small buffer: in a confidential virtual machine (SEV-SNP, TDX) "
                "always, else with a device of 32-bit addresses or a board whose IOMMU is off.",
       .consequence = "Registrations and transfers fail or are slow. A NIC and a GPU that both "
                      "need bounce buffers cannot reach each other.",
       .checks = {"iommu"},
       .fix_now = "`sudo dmesg | grep -iE 'swiotlb|SEV|TDX|encrypt' | head`; `grep . "
                  "/sys/kernel/debug/swiotlb/io_tlb_*`; a larger buffer: boot with "
                  "`swiotlb=262144` (512 MiB)",
       .fix_for_good = "The IOMMU on (`iommu=pt`), a device with 64-bit addresses, or, for "
                       "GPUDirect RDMA, a virtual machine without memory encryption.",
       .sources = {{"https://docs.kernel.org/core-api/swiotlb.html", Stated::kCause},
                   {"https://docs.kernel.org/admin-guide/kernel-parameters.html", Stated::kFix}},
       .explains = {"mr-refused", "nic-driver-error", "qp-not-created"}},
      {.id = "dma-mask",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "A device cannot address the memory that its driver wants to give it (DMA mask)",
       .texts = {{"DMA addr {} overflow (mask"},
                 {"overflow 0x{} of DMA mask"},
                 {"No suitable DMA available"},
                 {"set {}DMA mask && {fails}"},
                 {"dma_set_mask{}{fails}"},
                 {"No usable DMA configuration"},
                 {"System does not support DMA, aborting"}},
       .cause = "The device (or the bridge above it) has fewer address bits than the host's memory "
                "or IOMMU addresses need, or its driver is not allowed DMA at all, as in a virtual "
                "machine that gives the device no bus mastering.",
       .consequence = "The driver gives the device up, or a registration fails.",
       .checks = {"iommu", "rdma-nics"},
       .fix_now = "`sudo lspci -vvs ADDRESS | grep -E 'Control:|IOMMU'`; `cat "
                  "/sys/bus/pci/devices/ADDRESS/dma_mask_bits`; then boot with `iommu=pt`",
       .fix_for_good = "New firmware of the board or hypervisor; the driver's current release.",
       .sources = {{"https://docs.kernel.org/core-api/dma-api-howto.html", Stated::kCause}},
       .explains = {"nic-driver-error"}},
      {.id = "out-of-memory",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "The kernel ended a process: host memory (or the container's limit) is used up",
       .texts = {{"Out of memory: Kill"},
                 {"Memory cgroup out of memory"},
                 {"oom-kill:constraint="},
                 {"invoked oom-killer"},
                 {"oom_reaper: reaped process"}},
       .cause = "'Memory cgroup' or CONSTRAINT_MEMCG: the container or job reached its own limit. "
                "Else the whole host, or one NUMA node (CONSTRAINT_MEMORY_POLICY), is full. Memory "
                "that is pinned for RDMA and for the GPU's staging counts and cannot be swapped.",
       .consequence = "The process is gone; its peers see flushed work, closed connections or "
                      "timeouts.",
       .checks = {},
       .fix_now = "`sudo dmesg -T | grep -iE 'oom|killed process' | tail`; `free -g`; containers: "
                  "a higher limit of memory; fewer data loaders or smaller host buffers",
       .fix_for_good = "",
       .sources = {{"https://docs.kernel.org/admin-guide/sysctl/vm.html", Stated::kCause}},
       .explains = {"peer-never-answers", "work-flushed", "ucx-peer-lost", "nccl-bootstrap",
                    "nccl-watchdog", "job-rendezvous"}},
      {.id = "page-allocation",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The kernel had no memory in one piece for a driver (page allocation failure)",
       .texts = {{"page allocation failure: order:"},
                 {"page allocation failure. order:"},
                 {"SLUB: Unable to allocate memory on"},
                 {"vmalloc error: size"},
                 {"vmap allocation for size {} failed"}},
       .cause = "A driver asked for 2^order pages that lie side by side (queues, rings, tables of "
                "memory keys), and memory is full or in fragments. The first word names who asked; "
                "the call trace names the driver.",
       .consequence = "The queue or region is not created; smaller ones may be. Where the driver "
                      "tries another way, nothing.",
       .checks = {},
       .fix_now =
           "`free -g`; `cat /proc/buddyinfo`; `echo 1 | sudo tee /proc/sys/vm/compact_memory`; "
           "then smaller or fewer queues, or what holds the memory ended",
       .fix_for_good =
           "More free memory kept for the kernel (`vm.min_free_kbytes`), and huge pages "
           "reserved at boot in place of later.",
       .sources = {{"https://docs.kernel.org/admin-guide/sysctl/vm.html", Stated::kFix}},
       .explains = {"nic-driver-error", "nic-resources", "qp-not-created", "mr-refused"}},
      {.id = "host-hardware-error",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The host's memory or processor reports hardware errors (MCE, EDAC)",
       .texts = {{"EDAC && {number} CE "},
                 {"EDAC && {number} UE "},
                 {"[Hardware Error]: Machine check"},
                 {"[Hardware Error]: CPU {number}: Machine Check"},
                 {"[Hardware Error]: Corrected error, no action required"},
                 {"[Hardware Error]: Uncorrected, software"},
                 {"[Hardware Error]: {}section_type: memory error"},
                 {"[Hardware Error]: {}section_type: general processor error"},
                 {"Machine Check Exception: "},
                 {"Fatal machine check"},
                 {"Uncorrected hardware memory error"},
                 {"MCE: Killing"},
                 {"Memory failure: 0x{word}: "},
                 {"CMCI storm detected"}},
       .cause = "CE, 'corrected': a memory module gave wrong bits that were put right; many of one "
                "module are a fault. UE, 'uncorrected', 'fatal', 'Memory failure': data was lost, "
                "and what used that memory was ended. Neither NIC nor GPU is concerned.",
       .consequence = "Programs or the host stop; nothing follows from a few corrected errors.",
       .checks = {},
       .fix_now = "`sudo ras-mc-ctl --error-count`; `grep . "
                  "/sys/devices/system/edac/mc/mc*/*_count`; `sudo ipmitool sel list | tail`",
       .fix_for_good = "The memory module (or processor) that the log names replaced.",
       .sources = {{"https://docs.kernel.org/admin-guide/RAS/main.html", Stated::kCause}},
       .explains = {}},
      {.id = "kernel-hang",
       .program = Program::kOther,
       .certainty = Certainty::kPossible,
       .title = "A task or processor hangs in the kernel: the call trace below names the driver",
       .texts = {{"INFO: task {}blocked for more than {number} seconds"},
                 {"BUG: soft lockup - CPU"},
                 {"detected hard LOCKUP"},
                 {"self-detected stall on CPU"},
                 {"detected stalls on CPUs"},
                 {"workqueue lockup - pool"}},
       .cause =
           "'blocked': a task waits for a device or file server that does not answer. 'lockup' "
           "or 'stall': a processor does not leave a driver's code. The names in brackets in "
           "the call trace say whose: `[mlx5_core]`, `[mlx5_ib]`, `[ib_uverbs]` the NIC, "
           "`[nvidia]`, `[nvidia_uvm]`, `[amdgpu]` the GPU, `[nfs]`, `[lustre]` storage.",
       .consequence = "The program cannot be ended; the host may have to be restarted.",
       .checks = {"nic-firmware", "gpus"},
       .fix_now =
           "`sudo dmesg -T | grep -A25 -E 'blocked for more|lockup|stall' | head -60`; what "
           "the device said before it is the cause; a host that stays so needs a power cycle",
       .fix_for_good = "Driver and firmware of that device brought up to date.",
       .sources = {{"https://docs.kernel.org/admin-guide/lockup-watchdogs.html", Stated::kCause},
                   {"https://github.com/NVIDIA/NVSentinel/issues/1334", Stated::kSymptom}},
       .explains = {}},
      {.id = "kernel-crash",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "The kernel or one of its drivers crashed (Oops, panic): RIP names the driver",
       .texts = {{"BUG: kernel NULL pointer dereference"},
                 {"BUG: unable to handle kernel"},
                 {"BUG: unable to handle page fault"},
                 {"Unable to handle kernel NULL pointer"},
                 {"Unable to handle kernel paging request"},
                 {"general protection fault, probably for"},
                 {"general protection fault: 0000 [#"},
                 {"Internal error: Oops"},
                 {"kernel BUG at "},
                 {"Kernel panic - not syncing"}},
       .cause = "A fault of a driver, not of the program. The name in brackets behind `RIP:` (Arm: "
                "`pc :`) says whose: `[mlx5_core]`, `[ib_core]`, `[nvidia_peermem]`, `[nvidia]`. "
                "Modules of different releases that were mixed, and a device that left the bus, "
                "are what mostly leads to it.",
       .consequence = "The process is ended with resources of NIC or GPU still held; the host "
                      "should be restarted.",
       .checks = {"rdma-nics", "gpu-driver"},
       .fix_now = "`sudo dmesg -T | grep -A30 -E 'BUG:|Oops|RIP:' | head -60`; restart the host; "
                  "then a newer or older release of the driver that RIP names",
       .fix_for_good = "The report with the whole trace to who makes that driver.",
       .sources = {{"https://docs.kernel.org/admin-guide/bug-hunting.html", Stated::kCauseAndFix}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

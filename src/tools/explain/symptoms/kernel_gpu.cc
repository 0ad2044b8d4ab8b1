// GPUs' drivers (NVRM, nvidia-peermem, amdgpu) write these lines into the kernel's log.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& kernel_gpu_symptoms() {
  static const Symptoms table = {
      {.id = "gpu-firmware-hangs",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The GPU's own firmware (GSP) does not answer its driver",
       .texts = {{"_kgspIsHeartbeatTimedOut"},
                 {"GSP RM heartbeat timed out"},
                 {"_kgspLogRpcTimeout"},
                 {"waiting for RPC response from GPU"},
                 {"Timeout waiting for RPC from GSP"},
                 {"_kgspRpcRecvPoll{}timeout"},
                 {"rpcSendMessage failed with status 0x"},
                 {"NVRM: Xid (PCI:{word}): 119,"},
                 {"NVRM: Xid (PCI:{word}): 120,"}},
       .cause = "The GPU System Processor hung or was reset: a fault of that driver release, a "
                "suspend, a PCIe link that failed before it, or the board's hardware. All that "
                "programs then ask of this GPU fails or hangs.",
       .consequence = "The GPU is of no use until it is reset; nvidia-smi hangs or shows ERR!.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`sudo dmesg -T | grep -E 'NVRM|AER|pciehp' | head -40`; the first line counts; "
                  "end what uses the GPU; `sudo nvidia-smi --gpu-reset`; or power the host off and "
                  "on",
       .fix_for_good = "Another release of the driver; with the proprietary modules up to 550 "
                       "`NVreg_EnableGpuFirmware=0`; the vendor where one GPU does it again.",
       .sources = {{"https://docs.nvidia.com/deploy/xid-errors/index.html", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/open-gpu-kernel-modules/issues/446",
                    Stated::kSymptom},
                   {"https://github.com/NVIDIA/open-gpu-kernel-modules/issues/1230",
                    Stated::kSymptom}},
       .explains = {"gpu-xid", "gpu-needs-reset", "gpu-program-fault", "driver-assertion",
                    "cuda-not-started", "gpu-driver-absent", "gpu-probe-failed"}},
      {.id = "gpu-firmware-missing",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The driver does not find the firmware file of this GPU (GSP)",
       .texts = {{"firmware load for nvidia/{}gsp{} failed"},
                 {"firmware: failed to load nvidia/{}gsp"},
                 {"RmFetchGspRmImages"},
                 {"No GSP firmware image found"},
                 {"Failed to fetch GSP-RM"}},
       .cause = "`/lib/firmware/nvidia/VERSION/gsp_*.bin` of exactly the module's version is not "
                "there: its package is not installed, is of another release, or is not in the "
                "initramfs or the driver's container.",
       .consequence = "The GPU does not start.",
       .checks = {"gpu-driver", "gpus"},
       .fix_now =
           "`ls /lib/firmware/nvidia/*/`; `modinfo -F version nvidia`; then the package with "
           "the firmware of this version (Debian: `firmware-nvidia-gsp`), and "
           "`sudo update-initramfs -u`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia/nv.c",
                    Stated::kCause}},
       .explains = {"driver-assertion", "gpu-driver-absent", "gpu-probe-failed"}},
      {.id = "gpu-firmware-start",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The GPU's own firmware (GSP) does not start",
       .texts = {{"cannot bootstrap riscv/gsp"},
                 {"Cannot initialize GSP firmware RM"},
                 {"kgspBootstrap{}{fails}"},
                 {"failed to execute FWSEC"},
                 {"executeBooterUcode{}non-zero error"},
                 {"unexpected WPR2 already up"}},
       .cause = "The firmware file does not fit the module, the GPU was left in a bad state by the "
                "driver before (a crash, a warm reboot, a reset of a passed-through GPU: `WPR2 "
                "already up`), or the board's PCIe path or power is bad.",
       .consequence = "The GPU does not start: RmInitAdapter fails, nvidia-smi shows no devices.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "Power the host off and on, not a warm reboot; `modinfo -F version nvidia`; `ls "
                  "/lib/firmware/nvidia/`; both of one version",
       .fix_for_good = "Another release of the driver; the GPU in another slot or host, to tell "
                       "board from card.",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/issues/433",
                    Stated::kSymptom}},
       .explains = {"driver-assertion", "gpu-driver-absent", "gpu-probe-failed", "job-rendezvous"}},
      {.id = "gpu-open-not-ready",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "This old release of the open kernel module is for data-centre GPUs alone",
       .texts = {{"Open nvidia.ko is only ready for use on Data Center GPUs"},
                 {"OpenRmEnableUnsupportedGpus"}},
       .cause = "Up to release 555 the open module leaves GeForce and workstation GPUs out unless "
                "it is told to use them.",
       .consequence = "This GPU is not used.",
       .checks = {"gpu-driver", "gpus"},
       .fix_now = "`echo 'options nvidia NVreg_OpenRmEnableUnsupportedGpus=1' | sudo tee "
                  "/etc/modprobe.d/nvidia-open.conf`; `sudo update-initramfs -u`; then a reboot",
       .fix_for_good = "Driver 560 or later.",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/issues/230",
                    Stated::kCauseAndFix}},
       .explains = {"driver-assertion", "gpu-driver-absent", "gpu-probe-failed"}},
      {.id = "gpu-too-old-for-open",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "NVIDIA's open kernel module does not support this GPU",
       .texts = {{"installed in this system is not supported by open"},
                 {"because it does not include the required GPU{end}"},
                 {"nvidia.ko because it does not include the required GPU"},
                 {"installed in this vGPU host system is not supported by"}},
       .cause = "The open module needs the GPU System Processor, which Turing (2018) and later "
                "have; Volta (V100), Pascal (P100) and Maxwell do not. On a host for vGPU only "
                "some GPUs are supported by it.",
       .consequence = "This GPU is not used. With the proprietary module there is no dma-buf: "
                      "GPUDirect RDMA goes by `nvidia-peermem` alone.",
       .checks = {"gpu-driver", "gpus", "registration-path"},
       .fix_now = "The proprietary flavour of the driver in place of the open one (packages "
                  "without `-open`; NVIDIA's installer: `-M proprietary`; GPU operator: "
                  "`kernelModuleType: proprietary`).",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/nvidia/arch/"
                    "nvalloc/unix/src/osapi.c",
                    Stated::kCause},
                   {"https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
                    Stated::kFix}},
       .explains = {"gpu-driver-absent", "driver-assertion", "gpu-probe-failed"}},
      {.id = "gpu-needs-open",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "This GPU needs NVIDIA's open kernel modules; the proprietary ones are installed",
       .texts = {{"requires use of the NVIDIA open kernel modules"},
                 {"requires use of the NVIDIA open GPU kernel modules"}},
       .cause = "Blackwell and Grace Hopper are supported by the open flavour of the driver only.",
       .consequence = "The GPU is not used.",
       .checks = {"gpu-driver", "gpus"},
       .fix_now = "The open flavour of the same release: Ubuntu `sudo apt-get install "
                  "nvidia-open`, NVIDIA's installer `-M open`, GPU operator `kernelModuleType: "
                  "open`; then a reboot",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/",
                    Stated::kCauseAndFix}},
       .explains = {"gpu-driver-absent", "driver-assertion", "gpu-probe-failed"}},
      {.id = "gpu-unknown-to-driver",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "This release of NVIDIA's driver does not know this GPU",
       .texts = {{"installed in this system is not supported by the{end}"},
                 {"is not supported by the NVIDIA {} driver release"},
                 {"NVRM: NVIDIA {word} driver release."},
                 {"driver will ignore this GPU"}},
       .cause = "The GPU is newer than the driver, or so old that this branch has dropped it (the "
                "line that goes on names the branch that has it).",
       .consequence = "The GPU is not used.",
       .checks = {"gpu-driver", "gpus"},
       .fix_now = "`lspci -nn -d 10de:`; `modinfo -F version nvidia`; then a driver branch that "
                  "lists this device",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/src/nvidia/arch/"
                    "nvalloc/unix/src/osapi.c",
                    Stated::kCause}},
       .explains = {"gpu-driver-absent", "driver-assertion", "gpu-probe-failed"}},
      {.id = "gpu-probe-failed",
       .program = Program::kKernel,
       .certainty = Certainty::kPossible,
       .title = "NVIDIA's module was loaded and started no GPU: the lines before this one say why",
       .texts = {{"NVRM: None of the NVIDIA devices were initialized"},
                 {"NVRM: No NVIDIA devices probed"},
                 {"NVRM: The NVIDIA probe routine failed for"},
                 {"NVRM: No NVIDIA PCI devices found"},
                 {"NVRM: Can't find an IRQ for your NVIDIA card"},
                 {"NVRM: {}No supported interrupt mechanism was found"}},
       .cause =
           "Another driver holds the GPU, its BARs have no addresses, it has no interrupt, its "
           "firmware file is missing, or this flavour or release of the driver does not "
           "support it.",
       .consequence = "No CUDA program starts.",
       .checks = {"gpus", "gpu-driver", "gpu-bar1"},
       .fix_now = "`sudo dmesg | grep -E 'NVRM|nvidia' | head -40`; `lspci -k -d 10de:`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia/nv.c",
                    Stated::kCause}},
       .explains = {"gpu-driver-absent"}},
      {.id = "gpu-needs-reset",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The GPU's driver asks for a reset of the GPU or of the host (Xid 154)",
       .texts = {{"NVRM: Xid (PCI:{word}): 154,"}, {"GPU recovery action changed from"}},
       .cause =
           "An error before it left the GPU in a state that only a reset clears. The line says "
           "which: `GPU Reset Required`, `Node Reboot Required`, `Drain and Reset`, `Drain "
           "P2P`. The Xid before it is the cause.",
       .consequence = "Programs on this GPU fail until then.",
       .checks = {"gpus"},
       .fix_now = "`nvidia-smi -q | grep -i 'recovery action'`; end what uses the GPU; `sudo "
                  "nvidia-smi --gpu-reset`; or restart the host where it says Node Reboot",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deploy/xid-errors/index.html", Stated::kCauseAndFix}},
       .explains = {"gpu-xid"}},
      {.id = "gpu-memory-error",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "The GPU's memory has an error (ECC: Xid 48, 63, 64, 92, 94, 95, 140)",
       .texts = {{"NVRM: Xid (PCI:{word}): 48,"},
                 {"NVRM: Xid (PCI:{word}): 63,"},
                 {"NVRM: Xid (PCI:{word}): 64,"},
                 {"NVRM: Xid (PCI:{word}): 92,"},
                 {"NVRM: Xid (PCI:{word}): 94,"},
                 {"NVRM: Xid (PCI:{word}): 95,"},
                 {"NVRM: Xid (PCI:{word}): 140,"},
                 {"NVRM: Xid (PCI:{word}): 171,"},
                 {"uncorrectable ECC error encountered"},
                 {"caused by previous Xid 48{end}"},
                 {"caused by previous Xid 94{end}"},
                 {"caused by previous Xid 95{end}"},
                 {"CUDA_ERROR_ECC_UNCORRECTABLE"},
                 {"cudaErrorECCUncorrectable"},
                 {"Row remapper: {}fail"}},
       .cause =
           "48, 94, 95, 140: data in the GPU's memory was lost (94: only the program that used "
           "it; 95: others may be hit). 63: the row was marked to be replaced by a spare one, "
           "64: there is no spare one left. 92: many corrected errors.",
       .consequence = "The program dies; what a NIC read from there may be wrong.",
       .checks = {"gpus"},
       .fix_now = "`nvidia-smi -q -d ECC,ROW_REMAPPER | grep -iE 'uncorr|pending|fail'`; Pending "
                  "Yes: end what uses the GPU; `sudo nvidia-smi --gpu-reset`",
       .fix_for_good = "Remapping Failure Occurred, or Xid 64: have the GPU replaced.",
       .sources = {{"https://docs.nvidia.com/deploy/xid-errors/index.html", Stated::kCauseAndFix},
                   {"https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html",
                    Stated::kCauseAndFix}},
       .explains = {"gpu-xid", "gpu-needs-reset", "gpu-program-fault", "cuda-error"}},
      {.id = "gpu-program-fault",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "A program's own fault on the GPU (Xid 13, 31, 43, 45): no NIC is involved",
       .texts = {{"NVRM: Xid (PCI:{word}): 13,"},
                 {"NVRM: Xid (PCI:{word}): 31,"},
                 {"NVRM: Xid (PCI:{word}): 32,"},
                 {"NVRM: Xid (PCI:{word}): 43,"},
                 {"NVRM: Xid (PCI:{word}): 45,"},
                 {"NVRM: Xid (PCI:{word}): 68,"},
                 {"NVRM: Xid (PCI:{word}): 69,"}},
       .cause = "13 and 31: a kernel of the program used an address that is not its own (31: of no "
                "memory at all); 43: its channel was stopped; 45: it was ended while work was "
                "under way, which mostly follows from another fault. The line names process and "
                "engine. Buffers that are freed while a peer still uses them lead to it as well.",
       .consequence = "The program dies; the GPU goes on.",
       .checks = {"gpus"},
       .fix_now =
           "`compute-sanitizer PROGRAM`; the first Xid of the log and its process count; the "
           "same fault with several programs on one GPU is the hardware",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/deploy/xid-errors/index.html", Stated::kCauseAndFix}},
       .explains = {"gpu-xid"}},
      {.id = "dma-buf-importer",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title =
           "The driver that imports the GPU's dma-buf cannot use memory without page structures",
       .texts = {{"importer unable to handle MMIO without struct page"}},
       .cause = "The importing driver attached without peer-to-peer (`allow_peer2peer`): an RDMA "
                "driver that is older than its dma-buf support, one of software (rxe, siw), or a "
                "driver that is no NIC's. NVIDIA's driver then gives the memory of its BAR to "
                "nobody.",
       .consequence = "Registration fails with 'not supported' (ENOTSUPP, 524).",
       .checks = {"registration-path", "peer-memory"},
       .fix_now =
           "`gdr list`; the NIC must be one whose driver imports dma-bufs (mlx5, efa, irdma, "
           "bnxt_re, mana of a current kernel); else `sudo modprobe nvidia-peermem`",
       .fix_for_good = "A newer kernel, or DOCA-OFED.",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia/nv-dmabuf.c",
                    Stated::kCause}},
       .explains = {"mr-no-dma-buf", "pci-topology"}},
      {.id = "peermem-mapping",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The peer-memory module has the GPU's pages and cannot map them for this NIC",
       .texts = {{"while calling nvidia_p2p_dma_map_pages"},
                 {"nv_dma_map -- invalid pci_dev"},
                 {"nv_dma_map -- error"}},
       .cause = "The RDMA device has no PCI function of its own (rxe, siw), or the GPU's memory "
                "cannot be given an address for this NIC: the IOMMU translates and has no way from "
                "one to the other, or one of them is in a virtual machine or group apart.",
       .consequence = "The registration fails, by this NIC; by another one it may work.",
       .checks = {"iommu", "acs", "rdma-nics"},
       .fix_now = "`gdr topo`; `cat /sys/kernel/iommu_groups/*/type | sort | uniq -c`; identity is "
                  "what it should be; boot with `iommu=pt`",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia-peermem/nvidia-peermem.c",
                    Stated::kSymptom}},
       .explains = {"mr-bad-address", "mr-refused", "nic-driver-error"}},
      {.id = "peermem-pages",
       .program = Program::kKernel,
       .certainty = Certainty::kPossible,
       .title = "The GPU's driver gave the peer-memory module no pages for this range",
       .texts = {{"nv_mem_get_pages -- error"},
                 {"while calling nvidia_p2p_get_pages()"},
                 {"NVRM: {}no space for BAR1 mappings"}},
       .cause = "-12 (or 'no space for BAR1 mappings'): the GPU's BAR1 window is full. -22: a GPU "
                "without GPUDirect RDMA (GeForce), an address that is not the GPU's, or a way that "
                "vGPU and MIG do not have. -14, -2: the memory was freed meanwhile.",
       .consequence = "The registration fails.",
       .checks = {"gpu-capability", "gpu-bar1-space", "gpu-bar1"},
       .fix_now = "`nvidia-smi -q -d MEMORY | grep -A3 BAR1`; `nvidia-smi -L`; smaller regions "
                  "where BAR1 is full",
       .fix_for_good = "Resizable BAR on in the BIOS, so that BAR1 spans the GPU's memory; dma-buf "
                       "in place of the module.",
       .sources = {{"https://docs.nvidia.com/cuda/gpudirect-rdma/", Stated::kCause},
                   {"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia-peermem/nvidia-peermem.c",
                    Stated::kSymptom}},
       .explains = {"mr-refused", "mr-bad-address", "nic-driver-error"}},
      {.id = "bar1-not-enlarged",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The GPU's window (BAR1, Resizable BAR) could not be enlarged",
       .texts = {{"NVRM: {}No address space to allocate resized BAR1"},
                 {"NVRM: Not resizing BAR because"},
                 {"NVRM: BAR resizing failed"},
                 {"NVRM: BAR resize resource not supported"},
                 {"NVRM: Resizable BAR is not supported on this kernel"},
                 {"Failed to re-allocate BAR1"},
                 {"while attempting to resize PCIe BARs"},
                 {"amdgpu{}Problem resizing BAR0"},
                 {"amdgpu{}Not enough PCI address space for a large BAR"}},
       .cause =
           "The bridges above the GPU have no room for a window as large as its memory, or the "
           "firmware forbids that the kernel moves windows.",
       .consequence = "The old, small window (256 MiB on some cards) stays: no more of the GPU's "
                      "memory than that can be registered at a time.",
       .checks = {"gpu-bar1"},
       .fix_now = "`nvidia-smi -q -d MEMORY | grep -A3 BAR1`; `sudo lspci -vvs ADDRESS | grep -A4 "
                  "'Resizable BAR'`",
       .fix_for_good =
           "BIOS: Above 4G Decoding and Resizable BAR on, a larger MMIO window; kernel: "
           "boot with `pci=realloc`.",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia/nv-pci.c",
                    Stated::kCause}},
       .explains = {"mr-too-large", "pci-no-space"}},
      {.id = "amd-gpu-hang",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "An AMD GPU hangs or is being reset (amdgpu): no NIC is involved",
       .texts = {{"amdgpu{}GPU reset begin"},
                 {"amdgpu{}GPU reset({number}) failed"},
                 {"amdgpu{}ring {word} timeout, signaled"},
                 {"amdgpu{}device lost from bus"},
                 {"MES failed to respond to msg"},
                 {"MES might be in unrecoverable state"},
                 {"qcm fence wait loop timeout expired"},
                 {"amdgpu{}The CS has been cancelled because the context is lost"}},
       .cause = "A kernel of a program, or the GPU's firmware, did not end in time, and the driver "
                "resets the GPU. `device lost from bus`: it left the PCIe bus.",
       .consequence = "All programs on this GPU end.",
       .checks = {"gpus"},
       .fix_now = "`sudo dmesg -T | grep -iE 'amdgpu|kfd' | head -60`; the first line counts; "
                  "`rocm-smi`; then driver (`amdgpu-dkms`) and ROCm of one release",
       .fix_for_good = "",
       .sources = {{"https://docs.kernel.org/gpu/amdgpu/debugging.html", Stated::kCause}},
       .explains = {}},
      {.id = "amd-gpu-page-fault",
       .program = Program::kOther,
       .certainty = Certainty::kLikely,
       .title = "A program on an AMD GPU used an address that has no memory (page fault)",
       .texts = {{"amdgpu{}page fault (src_id"},
                 {"VM_L2_PROTECTION_FAULT_STATUS:"},
                 {"Memory access fault by GPU node"}},
       .cause = "A kernel of the program read or wrote memory that is not mapped: a wrong pointer, "
                "a buffer freed too early, or memory of another GPU that this one does not reach. "
                "The lines name process and address.",
       .consequence = "The program ends.",
       .checks = {"gpus"},
       .fix_now = "`sudo dmesg -T | grep -A8 'page fault'`; the program once with "
                  "`AMD_SERIALIZE_KERNEL=3`, which names the kernel",
       .fix_for_good = "",
       .sources = {{"https://docs.kernel.org/gpu/amdgpu/debugging.html", Stated::kCause}},
       .explains = {}},
      {.id = "pcie-atomics",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The PCIe path to this AMD GPU passes no atomic operations: ROCm leaves it out",
       .texts = {{"PCI rejects atomics"}, {"skipped device{}atomics"}},
       .cause =
           "ROCm's driver (kfd) needs PCIe atomics for this GPU or its firmware, and the slot, "
           "switch or hypervisor between processor and GPU does not route them.",
       .consequence = "HIP programs do not see this GPU.",
       .checks = {"gpus"},
       .fix_now = "`sudo lspci -vvv | grep -E '^[0-9a-f]|AtomicOps'`; another slot (one of the "
                  "processor's own), or a virtual machine whose root port has them",
       .fix_for_good = "",
       .sources = {{"https://rocm.docs.amd.com/en/latest/conceptual/pcie-atomics.html",
                    Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

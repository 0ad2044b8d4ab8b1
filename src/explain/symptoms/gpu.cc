// The GPU and its driver.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& gpu_symptoms() {
  static const Symptoms table = {
      {.id = "driver-mismatch",
       .program = Program::kCuda,
       .certainty = Certainty::kCertain,
       .title = "The GPU driver's libraries and its kernel module are of different versions",
       .texts = {{"NVRM: API mismatch: the client has the version"},
                 {"Failed to initialize NVML: Driver/library version mismatch"},
                 {"nvml error: driver/library version mismatch"}},
       .cause = "The driver's packages were updated (often unattended) while the old module stayed "
                "loaded, or two installations are mixed.",
       .consequence = "No CUDA program starts.",
       .checks = {"gpu-driver", "gpus"},
       .fix_now = "Reboot; or stop everything on the GPUs, `rmmod nvidia_uvm nvidia_drm "
                  "nvidia_modeset nvidia_peermem nvidia`, and `modprobe nvidia`.",
       .fix_for_good = "`sudo apt-mark hold` on the driver's packages, and updates with a reboot.",
       .sources = {{"https://github.com/NVIDIA/nvidia-docker/issues/182", Stated::kCauseAndFix},
                   {"https://github.com/stackhpc/ansible-slurm-appliance/issues/287", Stated::kFix},
                   {"https://github.com/tinygrad/open-gpu-kernel-modules/issues/47",
                    Stated::kCause}},
       .explains = {}},
      {.id = "gpu-off-the-bus",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "A GPU no longer answers on the PCIe bus",
       .texts = {{"NVRM: Xid (PCI:{word}): 79,"},
                 {"GPU has fallen off the bus"},
                 {"NVRM: GPU at {word} has fallen off the bus"},
                 {"NVRM: fallen off the bus and is not responding to commands"}},
       .cause = "Overheating, power, a card or riser that is not seated, or outdated firmware.",
       .consequence = "Programs on this GPU die; it stays away until a reboot.",
       .checks = {"gpus"},
       .fix_now = "Reboot (power cycle); `nvidia-smi -q` for temperatures and power before it.",
       .fix_for_good = "Reseat card and power connectors, update BIOS and GPU firmware, have the "
                       "board replaced if it comes back.",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/issues/507",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/NVSentinel/issues/155", Stated::kSymptom}},
       .explains = {}},
      {.id = "bar-not-assigned",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The GPU's memory window (BAR) got no addresses",
       .texts = {{"NVRM: This PCI I/O region assigned to your NVIDIA device is invalid"},
                 {"NVRM: BAR1 is 0M @"},
                 {"NVRM: BAR0 is 0M @"}},
       .cause = "The firmware has too little address space for devices: Above 4G Decoding is off, "
                "or the virtual machine has too small a 64-bit window.",
       .consequence = "The driver refuses the GPU.",
       .checks = {"gpu-bar1", "gpus"},
       .fix_now = "",
       .fix_for_good = "BIOS: Above 4G Decoding and Resizable BAR on. Virtual machines: a larger "
                       "64-bit MMIO window (VMware: `pciPassthru.64bitMMIOSizeGB`).",
       .sources = {{"https://github.com/NVIDIA/gpu-operator/issues/492", Stated::kCause},
                   {"https://github.com/system76/firmware-open/issues/66", Stated::kSymptom}},
       .explains = {}},
      {.id = "fabric-manager",
       .program = Program::kCuda,
       .certainty = Certainty::kLikely,
       .title = "CUDA says 'system not yet initialized' (error 802): no fabric manager",
       .texts = {{"system not yet initialized"}, {"CUDA_ERROR_SYSTEM_NOT_READY"}},
       .cause = "Boards with NVSwitch (HGX, DGX) need nvidia-fabricmanager, of the driver's exact "
                "version, running on the host.",
       .consequence = "No CUDA program starts.",
       .checks = {"gpus"},
       .fix_now = "`sudo systemctl start nvidia-fabricmanager`; `nvidia-smi -q | grep -A2 Fabric`",
       .fix_for_good = "`sudo systemctl enable --now nvidia-fabricmanager`",
       .sources =
           {{"https://github.com/pytorch/pytorch/issues/35710", Stated::kCauseAndFix},
            {"https://github.com/aws-samples/aws-deep-learning-ami-ubuntu-dcv-desktop/issues/"
             "33",
             Stated::kCauseAndFix},
            {"https://github.com/wilicc/gpu-burn/issues/92", Stated::kSymptom}},
       .explains = {}},
      {.id = "gpu-cannot-gdr",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The GPU's driver does not give out its memory (nvidia_p2p_get_pages)",
       .texts = {{"gdrdrv:nvidia_p2p_get_pages({}failed [ret = -22]"},
                 {"Error ret -22 invoking nvidia_p2p_get_pages"}},
       .cause = "GeForce cards have no GPUDirect RDMA: the driver refuses it to anything but "
                "data-centre and professional GPUs. With such a GPU: driver and CUDA do not fit.",
       .consequence = "GPUDirect RDMA, GPUDirect Storage and GDRCopy do not work with this GPU.",
       .checks = {"gpu-capability", "gpu-driver"},
       .fix_now = "`gdr prove` shows what this GPU can.",
       .fix_for_good = "Another GPU (data-centre, RTX PRO); no setting changes this.",
       .sources = {{"https://github.com/NVIDIA/gds-nvidia-fs/issues/14", Stated::kCause},
                   {"https://github.com/NVIDIA/gdrcopy/issues/30", Stated::kCauseAndFix},
                   {"https://github.com/aikitoria/open-gpu-kernel-modules/issues/20",
                    Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

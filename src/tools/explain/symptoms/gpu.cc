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
                 {"Driver/library version mismatch"}},
       .cause = "The driver's packages were updated (often unattended) while the old module stayed "
                "loaded, or two installations are mixed.",
       .consequence = "No CUDA program starts.",
       .checks = {"gpu-driver", "gpus"},
       .fix_now = "Reboot; or stop everything on the GPUs and load the module anew: "
                  "`sudo rmmod nvidia_peermem nvidia_uvm nvidia_drm nvidia_modeset nvidia`; "
                  "`sudo modprobe nvidia`",
       .fix_for_good =
           "The driver's packages on hold (`apt-mark hold`), and updates with a reboot.",
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
                 {"NVRM: BAR0 is 0M @"},
                 {"nvidia {word}: BAR {number}: can't assign; no space"},
                 {"nvidia {word}: BAR {number}{}no space for"},
                 {"NVRM: None of the NVIDIA devices were probed"}},
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
       .title = "The fabric manager does not run (CUDA: system not yet initialized, error 802)",
       .texts = {{"system not yet initialized"},
                 {"CUDA_ERROR_SYSTEM_NOT_READY"},
                 {"cudaErrorSystemNotReady"},
                 {"Job for nvidia-fabricmanager.service failed"},
                 {"nvidia-fabricmanager.service: {}Failed"},
                 {"nvidia-fabricmanager.service: Main process exited"},
                 {"query NVSwitch device information from NVSwitch driver failed"},
                 {"NV_WARN_NOTHING_TO_DO"},
                 {"fabric manager NVIDIA GPU driver interface version{}don't match"},
                 {"fabric manager don't have required"}},
       .cause =
           "Boards with NVSwitch (HGX, DGX) need nvidia-fabricmanager, of the driver's exact "
           "version, running on the host. 'Nothing to do': this host has no NVSwitch and needs "
           "none.",
       .consequence = "No CUDA program starts.",
       .checks = {"gpus"},
       .fix_now = "`sudo systemctl start nvidia-fabricmanager`; `nvidia-smi -q | grep -A2 Fabric`; "
                  "`lspci | grep -i nvswitch`",
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
       .texts = {{"nvidia_p2p_get_pages({}failed [ret = {}22]"},
                 {"Error ret -22 invoking nvidia_p2p_get_pages"},
                 {"error -22 while calling nvidia_p2p_get_pages()"},
                 {"nvidia_p2p_get_pages && {fails} && {EINVAL}"}},
       .cause = "GeForce cards have no GPUDirect RDMA: the driver refuses it to anything but "
                "data-centre and professional GPUs. With such a GPU: driver and module do not fit "
                "(driver 555 on Grace Hopper; an old GDRCopy).",
       .consequence = "GPUDirect RDMA, GPUDirect Storage and GDRCopy do not work with this GPU.",
       .checks = {"gpu-capability", "gpu-driver"},
       .fix_now = "`nvidia-smi -L`; `gdr prove --require-hardware`; shows what this GPU can",
       .fix_for_good = "A GeForce: another GPU (data-centre, RTX PRO); no setting changes this. "
                       "Else another driver branch.",
       .sources = {{"https://github.com/NVIDIA/gds-nvidia-fs/issues/14", Stated::kCause},
                   {"https://github.com/NVIDIA/gdrcopy/issues/30", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gdrcopy/issues/299", Stated::kFix},
                   {"https://github.com/aikitoria/open-gpu-kernel-modules/issues/20",
                    Stated::kCause}},
       .explains = {"gdrcopy-pin"}},
      {.id = "cuda-too-new",
       .program = Program::kCuda,
       .certainty = Certainty::kCertain,
       .title =
           "This CUDA is too new for the driver, or its compatibility files do not fit the GPU",
       .texts = {{"unsupported display driver / cuda driver combination"},
                 {"CUDA driver version is insufficient for CUDA runtime version"},
                 {"forward compatibility was attempted on non supported HW"},
                 {"cudaErrorInsufficientDriver"},
                 {"CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
                 {"CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE"},
                 {"cudaErrorSystemDriverMismatch"},
                 {"cudaErrorCompatNotSupportedOnDevice"},
                 {"The NVIDIA driver on your system is too old"}},
       .cause = "The program's or image's CUDA wants a newer driver than the host has; a "
                "`cuda-compat` package in the image works only with data-centre GPUs and some "
                "older drivers.",
       .consequence = "No CUDA program starts.",
       .checks = {"gpu-driver"},
       .fix_now = "`nvidia-smi | head -4`; its CUDA version is the newest that this driver can; "
                  "take an image of that, or leave `cuda-compat` out of `LD_LIBRARY_PATH`",
       .fix_for_good = "A newer driver.",
       .sources = {{"https://docs.nvidia.com/deploy/cuda-compatibility/", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/daqiri/issues/242", Stated::kCause}},
       .explains = {}},
      {.id = "gpu-driver-absent",
       .program = Program::kCuda,
       .certainty = Certainty::kLikely,
       .title = "No GPU driver is loaded, or no GPU is visible here",
       .texts = {{"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver"},
                 {"NVIDIA-SMI has failed because it couldn"},
                 {"no CUDA-capable device is detected"},
                 {"CUDA_ERROR_NO_DEVICE"},
                 {"There are no available device(s) that support CUDA"},
                 {"No CUDA GPUs are available"},
                 {"Found no NVIDIA driver on your system"},
                 {"modinfo: ERROR: Module nvidia not found"},
                 {"modprobe: FATAL: Module nvidia not found"},
                 {"Failed to initialize NVML: Driver Not Loaded"},
                 {"Failed to initialize NVML: Not Found"},
                 {"Failed to initialize NVML: Insufficient Permissions"},
                 {"libcuda.so.1: cannot open shared object file"},
                 {"nvidia-container-cli: initialization error: nvml error: driver not loaded"},
                 {"cuInit{}returned 100"},
                 {"cuInit(0) returned 100"},
                 {"No devices were found{end}"}},
       .cause = "The driver's module is not loaded (no build for this kernel, Secure Boot, nouveau "
                "in its place), is in a container of its own (`/run/nvidia/driver`), or the "
                "container was started without GPUs. `Module nvidia not found`: for this kernel "
                "there is none in `/lib/modules`.",
       .consequence = "No CUDA program starts, and no peer-memory module can load.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`sudo modprobe nvidia`; `sudo dmesg | grep -E 'NVRM|nvidia' | tail`; "
                  "`ls /lib/modules/$(uname -r)/updates/dkms`; containers: `docker run --gpus all`",
       .fix_for_good = "The driver's packages with dkms and the kernel's headers.",
       .sources = {{"https://github.com/qixuema/envs/issues/4", Stated::kFix},
                   {"https://github.com/NVIDIA/nvidia-docker/issues/988", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

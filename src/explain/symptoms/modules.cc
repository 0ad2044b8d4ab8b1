// The peer-memory module, and why it will not load.
#include "explain/symptoms/tables.h"

namespace gdr::explain {
namespace {

constexpr const char* kLoadAtBoot =
    "`echo nvidia-peermem | sudo tee /etc/modules-load.d/nvidia-peermem.conf`";

}  // namespace

const Symptoms& module_symptoms() {
  static const Symptoms table = {
      {.id = "peermem-symbol-version",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The peer-memory module was built for another RDMA stack than the one running",
       .texts = {{"disagrees about version of symbol ib_register_peer_memory_client"},
                 {"disagrees about version of symbol ib_unregister_peer_memory_client"},
                 {"Unknown symbol ib_register_peer_memory_client (err -22)"},
                 {"disagrees about version of symbol nvidia_p2p_"}},
       .cause =
           "The RDMA drivers (MLNX_OFED, DOCA-OFED) or the GPU's driver were installed or updated "
           "after the module was built; or an operator's containers brought another release.",
       .consequence =
           "The module does not load: no GPUDirect RDMA by this way. dma-buf still works.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now = "`sudo dkms install --force nvidia/VERSION && sudo modprobe nvidia-peermem`; in "
                  "Kubernetes recreate the driver's pod.",
       .fix_for_good = "First the RDMA drivers, then NVIDIA's. Or dma-buf: open kernel modules, "
                       "Linux 5.12, CUDA 11.7, and no module at all.",
       .sources = {{"https://github.com/NVIDIA/gpu-operator/issues/2868", Stated::kCauseAndFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/39", Stated::kCause},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/8", Stated::kSymptom}},
       .explains = {"peermem-invalid-argument", "peermem-symbol-missing", "nccl-no-peer-memory",
                    "nvshmem-no-peermem", "mr-bad-address"}},
      {.id = "peermem-symbol-missing",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The running RDMA stack has no peer-memory interface for the module",
       .texts = {{"Unknown symbol ib_register_peer_memory_client (err 0)"},
                 {"Unknown symbol ib_register_peer_memory_client (err -2)"},
                 {"could not insert '{word}peer{word}': Unknown symbol in module"},
                 {"needs unknown symbol ib_register_peer_memory_client"}},
       .cause = "`ib_core` exports no `ib_register_peer_memory_client`: it is the kernel's own, "
                "not MLNX_OFED's or DOCA-OFED's (some distributions' kernels have it), or OFED was "
                "reinstalled beneath the module.",
       .consequence =
           "The module does not load: no GPUDirect RDMA by this way. dma-buf still works.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now =
           "`sudo grep ib_register_peer_memory_client /proc/kallsyms`; nothing there: use dma-buf.",
       .fix_for_good = "dma-buf (open kernel modules, Linux 5.12, CUDA 11.7), or DOCA-OFED and "
                       "then NVIDIA's driver anew.",
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/84", Stated::kCauseAndFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/79", Stated::kFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/80", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory", "nvshmem-no-peermem", "mr-bad-address"}},
      {.id = "peermem-invalid-argument",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "The peer-memory module will not load: Invalid argument",
       .texts = {{"could not insert 'nvidia_peermem': Invalid argument"},
                 {"could not insert 'nvidia-peermem': Invalid argument"},
                 {"could not insert 'nv_peer_mem': Invalid argument"},
                 {"could not insert module nv_peer_mem.ko: Invalid parameters"}},
       .cause = "The module was built where no peer-memory interface was found, so that it refuses "
                "to start without a word, or for another RDMA stack; dmesg tells the two apart.",
       .consequence = "No GPUDirect RDMA by this way. dma-buf still works.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now =
           "`sudo dmesg | grep -i peer`; `modinfo -F depends nvidia-peermem` must name `ib_core`.",
       .fix_for_good =
           "Install the RDMA drivers first and NVIDIA's driver after them, or use dma-buf.",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/pull/630", Stated::kCause},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/116", Stated::kSymptom},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/63", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory", "nvshmem-no-peermem", "mr-bad-address"}},
      {.id = "peermem-not-found",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "The peer-memory module is not installed where modprobe looks",
       .texts = {{"Module nvidia-peermem not found in directory"},
                 {"Module nvidia_peermem not found in directory"},
                 {"Module nv_peer_mem not found in directory"}},
       .cause = "On a host: the driver was installed without it, or the old `nv_peer_mem` is asked "
                "for, which `nvidia-peermem` replaced in driver 465. In the GPU operator: a pod "
                "that found the driver loaded installed the libraries alone.",
       .consequence = "No GPUDirect RDMA by this way; the operator's pod restarts for ever.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now = "`sudo modprobe nvidia-peermem`; a driver in a container: `sudo chroot "
                  "/run/nvidia/driver modprobe nvidia-peermem`; the operator: delete the driver's "
                  "pod so that it installs anew.",
       .fix_for_good = kLoadAtBoot,
       .sources = {{"https://github.com/NVIDIA/gpu-operator/issues/2619", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/deepops/issues/1300", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory", "nvshmem-no-peermem", "mr-bad-address"}},
      {.id = "module-signature",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "Secure Boot refuses the driver: its module is not signed by a known key",
       .texts = {{"could not insert 'nvidia{}': Key was rejected by service"},
                 {"could not insert 'nvidia{}': Required key not available"},
                 {"could not insert 'nv_peer_mem': Required key not available"},
                 {"Loading of unsigned module is rejected"}},
       .cause = "The kernel accepts signed modules only, and the module was built here with a key "
                "that the firmware does not know.",
       .consequence = "No GPU driver, or no peer-memory module.",
       .checks = {"lockdown"},
       .fix_now = "`sudo mokutil --import /var/lib/shim-signed/mok/MOK.der`, then reboot and enrol "
                  "the key in the blue screen.",
       .fix_for_good = "The distribution's signed modules (Ubuntu: `linux-modules-nvidia-*`).",
       .sources = {{"https://github.com/NVIDIA/gpu-operator/issues/1726", Stated::kCause},
                   {"https://github.com/acidanthera/bugtracker/issues/2237", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory", "mr-bad-address"}},
      {.id = "gpu-other-driver",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "Another driver holds the GPU",
       .texts = {{"NVRM: GPU {word} is already bound to"},
                 {"NVRM: The NVIDIA probe routine was not called for"},
                 {"Kernel driver in use: nouveau"}},
       .cause = "nouveau or nova took the GPU at boot; or it is set aside for virtual machines "
                "(`vfio-pci`).",
       .consequence = "CUDA does not see this GPU.",
       .checks = {"gpus"},
       .fix_now = "`lspci -k -d 10de:` shows which driver holds each GPU.",
       .fix_for_good = "`echo 'blacklist nouveau' | sudo tee /etc/modprobe.d/nouveau.conf` (nova: "
                       "`nova_core`, `nova_drm`), then the initramfs and a reboot.",
       .sources = {{"https://github.com/beclab/Olares/pull/3963", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gpu-operator/issues/8", Stated::kFix},
                   {"https://github.com/negativo17/nvidia-driver/issues/73", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

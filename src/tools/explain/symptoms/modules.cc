// The peer-memory module, and why it will not load.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& module_symptoms() {
  static const Symptoms table = {
      {.id = "peermem-symbol-version",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The peer-memory module was built for another RDMA stack than the one running",
       .texts = {{"disagrees about version of symbol ib_register_peer_memory_client"},
                 {"disagrees about version of symbol ib_unregister_peer_memory_client"},
                 {"Unknown symbol ib_register_peer_memory_client (err -22)"},
                 {"Unknown symbol ib_unregister_peer_memory_client (err -22)"}},
       .cause =
           "The RDMA drivers (MLNX_OFED, DOCA-OFED) were installed or updated after the module "
           "was built; or an operator's containers brought another release.",
       .consequence =
           "The module does not load: no GPUDirect RDMA by this way. dma-buf still works.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now = "Build one that fits both: `gdr peermem build && sudo gdr peermem install "
                  "nvidia-peermem.ko`. Or "
                  "rebuild the module that the line begins with. nvidia-peermem: "
                  "`sudo dkms install --force nvidia/$(modinfo -F version nvidia)`; then "
                  "`sudo modprobe nvidia-peermem`; nv_peer_mem: "
                  "`sudo dkms install --force nv_peer_mem/$(modinfo -F version nv_peer_mem)`; in "
                  "Kubernetes recreate the driver's pod",
       .fix_for_good = "First the RDMA drivers, then NVIDIA's. Or dma-buf: open kernel modules, "
                       "Linux 5.12, CUDA 11.7, and no module at all.",
       .sources = {{"https://github.com/NVIDIA/gpu-operator/issues/2868", Stated::kCauseAndFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/39", Stated::kCause},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/8", Stated::kSymptom}},
       .explains = {"peermem-invalid-argument", "peermem-symbol-missing", "nccl-no-peer-memory",
                    "nvshmem-no-peermem", "mr-bad-address", "peermem-gpu-symbols",
                    "peermem-not-loaded", "operator-waits"}},
      {.id = "peermem-gpu-symbols",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title =
           "A module (peer memory, GDRCopy) was built for another GPU driver than the one loaded",
       .texts = {{"disagrees about version of symbol nvidia_p2p_"},
                 {"Unknown symbol nvidia_p2p_{word} (err"},
                 {"needs unknown symbol nvidia_p2p_"},
                 {"error, incompatible dma mapping version"},
                 {"{peermem} && incompatible page table version"}},
       .cause = "The GPU's driver was updated after the module was built. For `nv_peer_mem` on "
                "kernels from 5.19 on also freshly built: its script reads the driver's symbol "
                "versions wrongly there. With err 0 or -2 the GPU's driver is not loaded, or is a "
                "data-centre driver's container that this modprobe does not see.",
       .consequence = "The module that the line begins with does not load. gdrdrv: no GDRCopy, "
                      "which GPUDirect "
                      "RDMA does not need. A peer-memory module: dma-buf still works.",
       .checks = {"peer-memory-loading", "gpu-driver"},
       .fix_now =
           "The line's first word is the module. nv_peer_mem: use the driver's own in its "
           "place: `sudo modprobe nvidia-peermem`, or build one for this driver: "
           "`gdr peermem build && sudo gdr peermem install nvidia-peermem.ko`; gdrdrv: rebuild it: "
           "`sudo dkms install --force gdrdrv/$(modinfo -F version gdrdrv)`; "
           "`sudo modprobe gdrdrv`",
       .fix_for_good = "`sudo apt-get purge nvidia-peer-memory-dkms`; drivers from 465 on bring "
                       "`nvidia-peermem`, which is always built with them.",
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/8", Stated::kCauseAndFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/116", Stated::kFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/113", Stated::kSymptom}},
       .explains = {"peermem-invalid-argument", "nccl-no-peer-memory", "nvshmem-no-peermem",
                    "mr-bad-address", "peermem-not-loaded", "operator-waits", "rdma-stack-mixed",
                    "gdrcopy-absent"}},
      {.id = "peermem-symbol-missing",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The running RDMA stack has no peer-memory interface for the module",
       .texts = {{"Unknown symbol ib_register_peer_memory_client (err 0)"},
                 {"Unknown symbol ib_register_peer_memory_client (err -2)"},
                 {"Unknown symbol ib_unregister_peer_memory_client (err 0)"},
                 {"Unknown symbol ib_unregister_peer_memory_client (err -2)"},
                 {"could not insert '{peermem}': Unknown symbol in module"},
                 {"could not insert '{word}peer{word}': Unknown symbol in module"},
                 {"could not insert module {peermem}.ko: Unknown symbol"},
                 {"needs unknown symbol ib_register_peer_memory_client"},
                 {"needs unknown symbol ib_unregister_peer_memory_client"},
                 {"module compiled without IB peer memory symbols"}},
       .cause =
           "`ib_core` exports no `ib_register_peer_memory_client`: it is the kernel's own, not "
           "MLNX_OFED's or DOCA-OFED's (of the distributions' kernels only Ubuntu's generic "
           "ones from 5.4 to 6.5 and linux-nvidia have it), or OFED was reinstalled beneath "
           "the module. Debian builds the module without it always.",
       .consequence =
           "The module does not load: no GPUDirect RDMA by this way. dma-buf still works.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now = "`sudo grep ib_register_peer_memory_client /proc/kallsyms`; nothing there: use "
                  "dma-buf, which needs no module",
       .fix_for_good = "dma-buf (open kernel modules, Linux 5.12, CUDA 11.7), or DOCA-OFED and "
                       "then NVIDIA's driver anew.",
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/84", Stated::kCauseAndFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/79", Stated::kFix},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/80", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory", "nvshmem-no-peermem", "mr-bad-address",
                    "peermem-not-loaded", "operator-waits"}},
      {.id = "peermem-invalid-argument",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "The peer-memory module will not load: Invalid argument",
       .texts = {{"could not insert '{peermem}': Invalid argument"},
                 {"could not insert {peermem}: Invalid argument"},
                 {"could not insert module {peermem}.ko: Invalid parameters"},
                 {"could not insert module {word}{peermem}.ko: Invalid parameters"},
                 {"error inserting {peermem} ({word}): Invalid argument"},
                 {"nv_mem_client_init -- error while registering"},
                 {"error while registering {}client && {peermem}"},
                 {"nv_mem_client_init{}{fails}"}},
       .cause = "The module was built where no peer-memory interface was found, so that it refuses "
                "to start without a word, or for another RDMA stack; dmesg tells the two apart.",
       .consequence = "No GPUDirect RDMA by this way. dma-buf still works.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now = "`sudo dmesg | grep -i peer`; `modinfo -F depends nvidia-peermem`; the second "
                  "must name `ib_core` or `ib_uverbs`",
       .fix_for_good =
           "Install the RDMA drivers first and NVIDIA's driver after them, or use dma-buf.",
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/pull/630", Stated::kCause},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/116", Stated::kSymptom},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/63", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory", "nvshmem-no-peermem", "mr-bad-address",
                    "peermem-not-loaded", "operator-waits"}},
      {.id = "peermem-not-loaded",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "A program says that the peer-memory module nvidia-peermem is not loaded",
       .texts = {{"DMA BUF supported required for GPU RDMA"},
                 {"GPU RDMA without nvidia-peermem"},
                 {"Couldn't enable GPUDirect RDMA. Please make sure"},
                 {"GDAKI not supported, please load Nvidia peermem driver"},
                 {"failed to load {peermem} module"},
                 {"{peermem}{}is not loaded"},
                 {"{peermem}{}is NOT loaded"},
                 {"{peermem} module not loaded"},
                 {"{peermem} module in not loaded"},
                 {"{peermem} not loaded"},
                 {"{peermem}{}isn't loaded"},
                 {"Failed to load {peermem}"},
                 {"no {peermem} module"},
                 {"the following required module is not loaded:"}},
       .cause = "`nvidia-peermem` is not loaded on this host (a container sees the host's), or its "
                "loading failed; dmesg says why. Where dma-buf works and the program can use it, "
                "it is not needed.",
       .consequence = "No GPUDirect RDMA by this way: the program stops, or copies through host "
                      "memory.",
       .checks = {"peer-memory", "peer-memory-loading", "registration-path"},
       .fix_now = kLoadPeermem,
       .fix_for_good = kPeermemAtBoot,
       .sources = {{"https://github.com/kvcache-ai/Mooncake/pull/3538", Stated::kCause},
                   {"https://github.com/openucx/ucx/blob/master/src/uct/ib/base/ib_md.c",
                    Stated::kCause}},
       .explains = {"mr-bad-address", "nccl-no-peer-memory", "nic-not-usable"}},
      {.id = "peermem-invalid-context",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "nvidia-peermem reports an invalid context: harmless, gone with driver 560",
       .texts = {{"nv_get_p2p_free_callback{}detected invalid context"},
                 {"nv_get_p2p_free_callback -- invalid"},
                 {"{peermem}{}ERROR detected invalid context"}},
       .cause =
           "Drivers from 535.129 to 550 print it when GPU memory is freed while the NIC lets go "
           "of it: a guard against a race, which driver 560 and later do without.",
       .consequence = "Nothing by itself.",
       .checks = {"gpu-driver", "peer-memory"},
       .fix_now = "",
       .fix_for_good = "Driver 560 or later, or dma-buf.",
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/120", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1474", Stated::kFix}},
       .explains = {}},
      {.id = "peermem-not-found",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "The peer-memory module is not installed where modprobe looks",
       .texts = {{"Module {peermem} not found"},
                 {"Module {peermem} does not exist"},
                 {"{peermem}.ko: No such file"},
                 {"{peermem}.ko not found"},
                 {"Failed to find module '{peermem}'"}},
       .cause = "On a host: the driver was installed without it, or the old `nv_peer_mem` is asked "
                "for, which `nvidia-peermem` replaced in driver 465. In the GPU operator: a pod "
                "that found the driver loaded installed the libraries alone.",
       .consequence = "No GPUDirect RDMA by this way; the operator's pod restarts for ever.",
       .checks = {"peer-memory", "peer-memory-loading"},
       .fix_now = "`sudo modprobe nvidia-peermem`; a driver in a container: "
                  "`sudo chroot /run/nvidia/driver modprobe nvidia-peermem`; the operator: delete "
                  "the driver's pod so that it installs anew",
       .fix_for_good = kPeermemAtBoot,
       .sources = {{"https://github.com/NVIDIA/gpu-operator/issues/2619", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/deepops/issues/1300", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory", "nvshmem-no-peermem", "mr-bad-address",
                    "peermem-not-loaded", "operator-waits"}},
      {.id = "module-absent",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "A module of the RDMA drivers is not there for the kernel that runs",
       .texts = {{"Module {rdma-module}{}not found"},
                 {"Module {rdma-module}{}does not exist"},
                 {"Failed to find module '{rdma-module}"},
                 {"could not find module {rdma-module}"},
                 {"Could not find {rdma-module}{}.ko"},
                 {"{rdma-module}{}.ko{}No such file"},
                 {"could not open moddep file"},
                 general("depmod: && nvidia && No such file"),
                 general("depmod: ERROR: && No such file"),
                 {"Module {rdma-module}{} not found in directory"}},
       .cause = "`/lib/modules` has no such module for this kernel: the kernel was updated and the "
                "RDMA drivers (MLNX_OFED, DOCA-OFED, a vendor's) were built for the one before; "
                "the distribution keeps it in another package (`linux-modules-extra`, "
                "`kernel-modules-extra`); or the kernel is older than the driver (irdma came with "
                "5.14).",
       .consequence = "What needs it has no NIC, or no RDMA on it.",
       .checks = {"rdma-nics"},
       .fix_now = "`uname -r`; `find /lib/modules -name 'ib_core.ko*' -o -name 'mlx5_core.ko*' -o "
                  "-name 'irdma.ko*'`; for another kernel only: `sudo dkms autoinstall`; or the "
                  "RDMA drivers installed anew; Ubuntu: `sudo apt-get install "
                  "linux-modules-extra-$(uname -r)`; then `sudo depmod -a`",
       .fix_for_good =
           "Drivers that are rebuilt with each kernel (dkms), or the distribution's own.",
       .sources = {{"https://github.com/spdk/spdk/issues/1724", Stated::kCause},
                   {"https://github.com/BarrinXu/FaaSMem/issues/1", Stated::kSymptom}},
       .explains = {"no-rdma-device", "rdma-stack-in-use", "gdrcopy-absent"}},
      {.id = "module-signature",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "Secure Boot refuses the driver: its module is not signed by a known key",
       .texts = {{"could not insert 'nvidia{}': Key was rejected by service"},
                 {"could not insert 'nvidia{}': Required key not available"},
                 {"could not insert '{peermem}': Required key not available"},
                 {"could not insert '{peermem}': Key was rejected by service"},
                 {"could not insert '{peermem}': Operation not permitted"},
                 {"could not insert 'nvidia{}': Operation not permitted"},
                 {"could not insert '{rdma-module}{}': Operation not permitted"},
                 {"could not insert '{rdma-module}{}': Key was rejected"},
                 {"could not insert '{rdma-module}{}': Required key"},
                 {"could not insert module {}: Key was rejected"},
                 {"could not insert module {}: Required key"},
                 general("Secure Boot enabled && MOK"),
                 general("Secure Boot && modules && not signed"),
                 {"PKCS#7 signature not signed with a trusted key"},
                 {"Loading of unsigned module is rejected"},
                 {"unsigned module loading is restricted"},
                 general("secureboot && {fails} && module"),
                 general("secure boot && {fails} && module"),
                 general("secure boot && rejected && module"),
                 {"Loading of module with unavailable key is rejected"}},
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
                 {"Kernel driver in use: nouveau"},
                 {"nouveau, rivafb, nvidiafb or rivatv"},
                 {"The Nouveau kernel driver is currently in use by your system"}},
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
       .explains = {"gpu-driver-absent"}},
  };
  return table;
}

}  // namespace gdr::explain

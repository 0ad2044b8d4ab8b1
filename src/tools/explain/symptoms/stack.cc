// The RDMA drivers and modules beside them: built for another kernel or stack, mixed, in use.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& stack_symptoms() {
  static const Symptoms table = {
      {.id = "peermem-build",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title =
           "The peer-memory module cannot be built: a driver's sources are missing or do not fit",
       .texts = {{"rdma/peer_mem.h: No such file"},
                 {"peer_mem.h: No such file or directory"},
                 {"nv-p2p.h: No such file"},
                 {"create_nv.symvers.sh: line {number}:"},
                 {"Cannot locate nvidia modules!"},
                 {"CUDA driver must be installed before installing this package"},
                 {"contains relative CRCs, cannot get symbols from it"},
                 {"Could not get list of nvidia symbols"},
                 {"create_nv.symvers.sh && {fails}"},
                 {"nv.symvers{}Error {number}"},
                 {"gen_nv_symvers{}{fails}"},
                 {"parse error in symbol dump file"},
                 {"nv_peer_mem{}error:"},
                 {"nv_mem_client_ex && incomplete type"},
                 {"peer_memory_client && {fails}"},
                 {"peer_memory_client{}has no member"},
                 general("find && struct peer_memory_client"),
                 general("struct peer_memory_client_ex"),
                 general("cannot stat && /Module.symvers"),
                 {"nvidia-peermem.c{}error:"},
                 {"nvidia_p2p_{word}{}nv_peer_mem.ko{}undefined"},
                 {"modpost: 'ib_register_peer_memory_client'{}undefined"},
                 {"modpost: 'ib_unregister_peer_memory_client'{}undefined"}},
       .cause =
           "`rdma/peer_mem.h` comes with MLNX_OFED or DOCA-OFED only, `nv-p2p.h` and the "
           "symbols with the sources and the module of NVIDIA's driver. A release of `nv_peer_mem` "
           "that "
           "is newer than the RDMA drivers asks for types that they do not have, and one that is "
           "older cannot read the kernel's symbol files (parse error). From kernel 5.19 on "
           "`create_nv.symvers.sh` reads symbol versions wrongly, so that the module builds "
           "and is then refused.",
       .consequence = "No `nv_peer_mem`. It is not needed: drivers from 465 on bring "
                      "`nvidia-peermem`, and with dma-buf neither is.",
       .checks = {"registration-path", "peer-memory-loading"},
       .fix_now =
           "`modinfo nvidia-peermem`; if that finds the module, use it: `nv_peer_mem` is then not "
           "needed, and `sudo apt-get purge nvidia-peer-memory-dkms` removes it",
       .fix_for_good = kEitherWay,
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/86", Stated::kCause},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/85", Stated::kSymptom}},
       .explains = {"dkms-build", "peermem-not-found", "nccl-no-peer-memory"}},
      {.id = "dkms-build",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "dkms could not build a driver's module for this kernel",
       .texts = {{"Bad return status for module build on kernel"},
                 {"does not appear to have module source located within it"},
                 {"dkms{}autoinstall{}failed"},
                 {"Your kernel headers for kernel {}cannot be found"},
                 {"installed nvidia-peer-memory-dkms package post-installation script subprocess "
                  "returned error"},
                 {"error processing package nvidia-peer-memory"},
                 {"error processing package nvidia-dkms"},
                 {"error processing package nvidia-kernel"}},
       .cause =
           "The kernel's headers are missing, the sources are too old for this kernel, or (for "
           "`nv_peer_mem`) no RDMA drivers with the peer-memory interface are installed. The "
           "line itself only points to the log.",
       .consequence = "The module is missing, and the package stays half installed.",
       .checks = {"peer-memory-loading", "gpu-driver"},
       .fix_now = "`tail -40 /var/lib/dkms/*/*/build/make.log`; `sudo apt-get install "
                  "linux-headers-$(uname -r)`; `sudo dkms autoinstall`",
       .fix_for_good = "A driver release that knows the kernel. `nv_peer_mem` is not needed with "
                       "drivers from 465 on: `sudo apt-get purge nvidia-peer-memory-dkms`.",
       .sources = {{"https://github.com/Mellanox/nv_peer_memory/issues/119", Stated::kSymptom},
                   {"https://github.com/Mellanox/nv_peer_memory/issues/85", Stated::kSymptom}},
       .explains = {"peermem-not-found"}},
      {.id = "ofed-build",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "MLNX_OFED, DOCA-OFED or a NIC's driver cannot be built for this kernel",
       .texts = {{"Failed to build MLNX_OFED"},
                 {"Failed executing {}install.pl"},
                 {"Failed executing {}mlnx_add_kernel_support"},
                 {"MLNX_OFED_SRC && {fails}"},
                 {"mlnxofedinstall && {fails}"},
                 {"mlnx_add_kernel_support{}{fails}"},
                 {"mlnx-ofed{} && Bad return status"},
                 {"doca-kernel-support && {fails}"},
                 {"doca-kernel && {fails}"},
                 {"current MLNX_OFED_LINUX is intended for"},
                 {"MLNX_OFED_LINUX{}does not support"},
                 {"The current MLNX_OFED{}is not supported"},
                 {"does not have{}MLNX_OFED{}kernel"},
                 {"Failed to install {}mlnx"},
                 {"Failed to build {}mlnx"},
                 {"Failed to build {}ofa_kernel"},
                 {"ofa_kernel{}{fails}"},
                 {"mlnx-ofa_kernel{}{fails}"},
                 {"mlnx-ofed-kernel{}{fails}"},
                 {"mlnx-ofed-kernel{}Bad return status"},
                 {"error processing package mlnx-"},
                 {"error processing package doca-"},
                 {"kernel{}is not supported by MLNX_OFED"},
                 {"error processing package {rdma-module}"},
                 {"building {rdma-module}{}{fails}"},
                 {"{rdma-module}{}.c:{number}:{number}: error:"},
                 {"configure: error: {}kernel{}OFED"}},
       .cause = "The release is older than the kernel (4.9 LTS ends at 5.x kernels, each later one "
                "lists its own), the kernel's headers or the compiler that built the kernel are "
                "missing, or the kernel is one of no distribution. The installer names a log in "
                "/tmp that has the first error.",
       .consequence = "The old modules stay, or none fit this kernel: NICs may be gone after a "
                      "reboot.",
       .checks = {"rdma-nics"},
       .fix_now = "`uname -r`; `ls -d /lib/modules/$(uname -r)/build`; `grep -m5 -E 'error:' "
                  "/tmp/*/*.log`; then a release that lists this kernel; or the distribution's "
                  "own RDMA drivers, with which GPUDirect RDMA goes by dma-buf",
       .fix_for_good = "DOCA-OFED that supports the kernel, or the kernel held at one that it "
                       "supports.",
       .sources = {{"https://github.com/uclasystem/hermit/issues/8", Stated::kSymptom},
                   {"https://github.com/Mellanox/doca-driver-build", Stated::kSymptom}},
       .explains = {"dkms-build"}},
      {.id = "rdma-stack-in-use",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "The RDMA or GPU drivers cannot be restarted: another module holds them",
       .texts = {{"Module {word} is in use by: && {peermem}"},
                 {"rmmod: ERROR: Module ib_{}is in use"},
                 {"rmmod: ERROR: Module rdma_{}is in use"},
                 {"rmmod: ERROR: Module mlx5_{}is in use"},
                 {"rmmod: ERROR: Module mlx_compat is in use"},
                 {"rmmod: ERROR: Module nvidia{}is in use"},
                 {"modprobe: FATAL: Module nvidia{}is in use"},
                 {"modprobe: FATAL: Module mlx5_{}is in use"},
                 {"modprobe: FATAL: Module ib_{}is in use"},
                 {"could not insert '{rdma-module}{}': Device or resource busy"},
                 {"could not insert '{peermem}{}': Device or resource busy"},
                 {"Unloading {word} [FAILED]"},
                 {"Failed loading kernel module mlx5_ib"},
                 {"Loading Mellanox MLX5_IB HCA driver:{}FAILED"},
                 {"Loading HCA driver and Access Layer:{}FAILED"},
                 {"Could not unload NVIDIA driver kernel modules, driver is in use"},
                 {"modules are loaded for current driver{}terminating"},
                 {"UNLOAD_THIRD_PARTY_RDMA_MODULES not set"},
                 {"is used and will FAIL driver reload"},
                 {"Previous NVIDIA driver installation cannot be removed"},
                 general("{fails} && restart driver && {rdma-module}"),
                 general("failed to restart driver"),
                 general("mlnxofedctl && {fails}"),
                 general("auxiliary module && {fails}"),
                 general("{fails} && unload && {rdma-module}"),
                 general("{fails} && unload && {peermem}")},
       .cause = "`nvidia_peermem` (or storage over RDMA, Lustre, ksmbd) uses `ib_core` and "
                "`ib_uverbs`; `nvidia_peermem`, `gdrdrv` and `nvidia_uvm` use the GPU's driver. Or "
                "the modules that were just installed are of another build than those loaded.",
       .consequence = "Old and new modules are mixed: NICs may be gone until a reboot.",
       .checks = {"rdma-nics", "peer-memory-loading"},
       .fix_now =
           "`lsmod | grep -E 'ib_core|ib_uverbs|^nvidia'`; `sudo modprobe -r nvidia_peermem`; "
           "`sudo /etc/init.d/openibd restart`; `sudo modprobe nvidia-peermem`",
       .fix_for_good = "Reboot after an update of the RDMA drivers. Network operator: "
                       "`UNLOAD_THIRD_PARTY_RDMA_MODULES`, and the GPU driver's pod after it.",
       .sources = {{"https://github.com/Mellanox/doca-driver-build/pull/481", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gpu-driver-container/pull/869", Stated::kCause},
                   {"https://github.com/cifsd-team/ksmbd/issues/574", Stated::kSymptom},
                   {"https://github.com/Mellanox/doca-driver-build/issues/52", Stated::kSymptom}},
       .explains = {}},
      {.id = "rdma-stack-mixed",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "RDMA modules of two different releases are mixed",
       .texts = {{"disagrees about version of symbol ib_{word}", 0, Scope::kGeneral},
                 {"disagrees about version of symbol __ib_{word}", 0, Scope::kGeneral},
                 {"disagrees about version of symbol rdma_{word}", 0, Scope::kGeneral},
                 {"disagrees about version of symbol mlx5_{word}", 0, Scope::kGeneral},
                 {"disagrees about version of symbol mlx4_{word}", 0, Scope::kGeneral},
                 general("exports duplicate symbol ib_"),
                 general("exports duplicate symbol rdma_"),
                 general("exports duplicate symbol mlx"),
                 {"mlx5_ib: Unknown symbol"},
                 {"ib_uverbs: Unknown symbol"},
                 {"rdma_cm: Unknown symbol"},
                 {"ib_core: Unknown symbol"},
                 {"mlx5_ib: disagrees about version of symbol"},
                 {"ib_uverbs: disagrees about version of symbol"},
                 {"ib_core: disagrees about version of symbol"},
                 {"rdma_cm: disagrees about version of symbol"},
                 {"mlx5_core: disagrees about version of symbol"},
                 {"mlx5_core: Unknown symbol"},
                 {"could not insert '{rdma-module}{}': Unknown symbol"},
                 {"could not insert '{rdma-module}{}': Invalid argument"},
                 {"could not insert module {}{rdma-module}{}: Unknown symbol"},
                 {"could not insert module {}{rdma-module}{}: Invalid parameters"},
                 {"{rdma-module}{word}: Unknown symbol {word} (err", 0, Scope::kGeneral},
                 {"{rdma-module}: Unknown symbol", 0, Scope::kGeneral}},
       .cause = "MLNX_OFED or DOCA-OFED replaced `ib_core` and its like, and a module of the "
                "kernel's own (or one built before) wants the others; or the other way round after "
                "a kernel update.",
       .consequence = "The module named in the line does not load.",
       .checks = {"rdma-nics", "peer-memory-loading"},
       .fix_now = "`modinfo -F filename ib_core mlx5_core mlx5_ib ib_uverbs`; all must be of one "
                  "place; `sudo depmod -a`; `sudo update-initramfs -u`; then reboot",
       .fix_for_good = "Install OFED again for this kernel (`--add-kernel-support` or dkms), and "
                       "build what uses it (nvidia-peermem, Lustre, drbd) after it.",
       .sources = {{"https://github.com/namjaejeon/ksmbd/issues/485", Stated::kSymptom},
                   {"https://github.com/LINBIT/drbd/issues/59", Stated::kSymptom}},
       .explains = {"no-rdma-device", "other-module-version"}},
      {.id = "module-for-other-kernel",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The module was built for another kernel",
       .texts = {{"could not insert 'nvidia{}': Exec format error"},
                 {"could not insert '{peermem}': Exec format error"},
                 {"could not insert '{rdma-module}{}': Exec format error"},
                 {"could not insert module {}: Invalid module format"},
                 {"could not insert '{rdma-module}{}': Invalid module format"},
                 {"insmod: ERROR: {}Invalid module format"},
                 {"nvidia: version magic"},
                 {"{peermem}: version magic"},
                 general("disagrees about version of symbol module_layout"),
                 general("module_layout && {fails}"),
                 {"{rdma-module}: version magic"},
                 {"{rdma-module}{word}: version magic"}},
       .cause = "The kernel was updated and the module not built anew, or another compiler's build "
                "options do not fit.",
       .consequence = "The module does not load.",
       .checks = {"gpu-driver", "peer-memory-loading"},
       .fix_now = "`uname -r`; `modinfo -F vermagic nvidia`; `sudo dkms autoinstall`; a reboot "
                  "into the kernel it was built for does as well",
       .fix_for_good = "Packages with dkms, or with modules for each kernel (Ubuntu: "
                       "`linux-modules-nvidia-*`).",
       .sources = {{"https://github.com/DDMAL/Rodan/issues/1170", Stated::kSymptom}},
       .explains = {"gpu-driver-absent"}},
      {.id = "peermem-licence",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The kernel refuses the peer-memory module because of licences",
       .texts = {{"GPL-incompatible module {}uses GPL-only symbol"},
                 {"GPL-incompatible module {}tries to use"},
                 {"{peermem}: module using GPL-only symbols uses symbols{}from proprietary module"},
                 {"{peermem}: Unknown symbol debugfs_"}},
       .cause = "The GPU driver's symbols may be used by GPL-compatible modules only (open driver "
                "from 535.146 and 550 on), or a module beside the proprietary driver inherits its "
                "taint and may then use no GPL-only symbol of the kernel.",
       .consequence = "The module named in the line is not built or does not load.",
       .checks = {"peer-memory-loading", "gpu-driver"},
       .fix_now =
           "`modinfo -F license nvidia nvidia-peermem`; use the `nvidia-peermem` of the same "
           "driver package in place of `nv_peer_mem`",
       .fix_for_good = kEitherWay,
       .sources = {{"https://github.com/NVIDIA/open-gpu-kernel-modules/blob/main/kernel-open/"
                    "nvidia-peermem/nvidia-peermem.c",
                    Stated::kCause}},
       .explains = {"peermem-symbol-missing", "peermem-gpu-symbols", "taint-note",
                    "module-proprietary"}},
      {.id = "taint-note",
       .program = Program::kKernel,
       .certainty = Certainty::kPossible,
       .title = "A note, no error: a module uses the proprietary GPU driver (inheriting taint)",
       .texts = {{"from proprietary module nvidia, inheriting taint"},
                 {"from proprietary module{}inheriting taint"}},
       .cause = "The kernel (5.9 and later) marks each module that uses symbols of a proprietary "
                "one. The module loads; only one that also uses GPL-only symbols is refused, with "
                "another line.",
       .consequence = "None.",
       .checks = {"peer-memory"},
       .fix_now = "`lsmod | grep peermem`; it is loaded",
       .fix_for_good = "",
       .sources = {{"https://github.com/torvalds/linux/blob/master/kernel/module/main.c",
                    Stated::kCause}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

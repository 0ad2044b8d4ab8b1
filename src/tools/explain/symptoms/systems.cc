// What a system lacks or names otherwise: kernel options, repositories, an installer that does not
// know the distribution, cards that a release dropped, limits of services, names of devices.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& system_symptoms() {
  static const Symptoms table = {
      {.id = "kernel-config",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The kernel was built without a part that RDMA or dma-buf needs (CONFIG_...)",
       .texts = {{"CONFIG_INFINIBAND is not"},
                 {"CONFIG_INFINIBAND_USER_ACCESS is not"},
                 {"CONFIG_INFINIBAND_IRDMA is not"},
                 {"CONFIG_INFINIBAND_BNXT_RE is not"},
                 {"Failed to open NETLINK_RDMA socket"},
                 {"NETLINK_RDMA) = -1 EPROTONOSUPPORT"},
                 {"CONFIG_MLX5_INFINIBAND is not"},
                 {"CONFIG_MLX5_CORE is not"},
                 {"CONFIG_PCI_P2PDMA is not"},
                 {"CONFIG_DMABUF_MOVE_NOTIFY is not"},
                 {"CONFIG_DMA_SHARED_BUFFER is not"},
                 {"CONFIG_HSA_AMD_P2P is not"},
                 {"CONFIG_RDMA_RXE is not"},
                 {"CONFIG_ZONE_DEVICE is not"},
                 general("CONFIG_INFINIBAND && missing"),
                 general("CONFIG_PCI_P2PDMA && missing"),
                 general("kernel && without CONFIG_INFINIBAND"),
                 general("kernel && without CONFIG_PCI_P2PDMA")},
       .cause = "Small kernels (Talos, Flatcar, cloud and WSL2 kernels, one's own) leave drivers "
                "out. RDMA needs `CONFIG_INFINIBAND`, `_USER_ACCESS` and the NIC's "
                "(`CONFIG_MLX5_INFINIBAND`, `CONFIG_INFINIBAND_IRDMA`); dma-buf from AMD GPUs "
                "`CONFIG_PCI_P2PDMA`, `CONFIG_DMABUF_MOVE_NOTIFY` and `CONFIG_HSA_AMD_P2P`.",
       .consequence = "That driver or way is not there, whatever is installed above the kernel.",
       .checks = {"rdma-nics", "registration-path"},
       .fix_now = "`grep -E 'INFINIBAND|P2PDMA|DMABUF_MOVE|HSA_AMD_P2P' /boot/config-$(uname -r)`; "
                  "or `zcat /proc/config.gz`; then the distribution's ordinary kernel (Ubuntu: "
                  "`linux-image-generic` with `linux-modules-extra-$(uname -r)`; Talos: its "
                  "extension), or that option and a new build",
       .fix_for_good = "",
       .sources = {{"https://github.com/siderolabs/pkgs/pull/1300", Stated::kCauseAndFix},
                   {"https://docs.kernel.org/driver-api/pci/p2pdma.html", Stated::kCause}},
       .explains = {"module-absent", "no-rdma-device"}},
      {.id = "package-not-found",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The package manager knows no such package: its repository is not set up here",
       .texts = {{"Unable to locate package {rdma-package}"},
                 {"has no installation candidate && {rdma-package}"},
                 {"No match for argument: {rdma-package}"},
                 {"No package {rdma-package}"},
                 {"Unable to find a match: {rdma-package}"},
                 {"'{rdma-package}{} not found in package names"},
                 general("repository{}linux.mellanox.com && not signed"),
                 general("linux.mellanox.com && {fails}"),
                 general("linux.mellanox.com && 404")},
       .cause = "`rdma-core`, `perftest` and `ibverbs-utils` are in the distribution (Ubuntu: "
                "universe; RHEL: AppStream and CRB); `doca-ofed`, `mlnx-ofed-all` and `mlnx-` are "
                "in NVIDIA's own repository for exactly this distribution, which is not set up, "
                "or its key is not known. The names differ between Debian (`libibverbs-dev`) and "
                "RHEL (`rdma-core-devel`, `libibverbs-utils`).",
       .consequence = "Nothing was installed.",
       .checks = {},
       .fix_now = "`cat /etc/os-release | grep -E '^(ID|VERSION_ID)'`; `sudo apt-get update`; "
                  "Ubuntu: `sudo add-apt-repository universe`; RHEL: `sudo dnf config-manager "
                  "--set-enabled crb`; DOCA-OFED: install the doca-host package for this "
                  "distribution first, then `sudo apt-get install doca-ofed`",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/networking/display/ofed", Stated::kFix}},
       .explains = {"verbs-call", "driver-container"}},
      {.id = "ofed-installer-os",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "MLNX_OFED's installer is not made for this distribution or kernel",
       .texts = {{"Current operation system is not supported"},
                 {"current installer does not support OS"},
                 {"installer is not supported on your platform"},
                 {"Unsupported OS && distro"},
                 {"--skip-distro-check"},
                 general("MLNX_OFED && not support && Ubuntu"),
                 general("MLNX_OFED && unsupported && distro"),
                 general("mlnxofedinstall && unsupported")},
       .cause = "Each archive of MLNX_OFED is for one release of one distribution, and the last of "
                "them (24.10) knows none that came later. With `--skip-distro-check` it installs "
                "libraries that may not start there.",
       .consequence = "Nothing was installed.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`cat /etc/os-release`; `uname -r`; then DOCA-OFED for this distribution (it follows "
           "MLNX_OFED), or the distribution's own drivers: `sudo apt-get install rdma-core "
           "ibverbs-providers`, with which GPUDirect RDMA goes by dma-buf",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/networking/display/ofed", Stated::kCauseAndFix}},
       .explains = {"ofed-build"}},
      {.id = "ofed-dropped-card",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "This release of OFED no longer drives the card (ConnectX-3, Connect-IB)",
       .texts = {general("ConnectX-3 && no longer support"),
                 general("ConnectX-3 && not support && OFED"), general("ConnectX-3 && OFED && 4.9"),
                 general("ConnectX-3 && OFED 5"), general("Connect-IB && no longer support"),
                 general("mlx4 && removed from {}OFED"), general("mlx4 && OFED 5 && {fails}"),
                 general("RDMA experimental verbs libraries")},
       .cause = "MLNX_OFED 5.1 and later and DOCA-OFED have no mlx4 driver: ConnectX-3, ConnectX-3 "
                "Pro and Connect-IB end with MLNX_OFED 4.9 (LTS), which knows kernels up to 5.8 or "
                "so. The kernel's own mlx4 driver still drives them, without peer memory for GPUs.",
       .consequence = "With the new OFED the card has no driver.",
       .checks = {"rdma-nics"},
       .fix_now = "`lspci -nnk -d 15b3:`; keep the distribution's drivers (`sudo "
                  "/usr/sbin/ofed_uninstall.sh --force`; `sudo modprobe -a mlx4_ib mlx4_en`), or "
                  "MLNX_OFED 4.9 on a kernel that it knows; GPUDirect RDMA needs a ConnectX-4 or "
                  "later here",
       .fix_for_good = "",
       .sources = {{"https://github.com/geerlingguy/raspberry-pi-pcie-devices/issues/143",
                    Stated::kCause}},
       .explains = {"ofed-build"}},
      {.id = "efa-installer",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "AWS's EFA installer stops: no driver for this kernel, or packages of another",
       .texts = {{"Failed to install EFA"},
                 {"Error: EFA kernel module"},
                 general("efa_installer && {fails}"),
                 general("EFA installer && {fails}"),
                 general("Instance type {word} does not support EFA"),
                 general("EFA && kmod && {fails}")},
       .cause = "The installer builds the module efa for the running kernel with dkms: its headers "
                "are missing, the kernel is newer than the installer, or rdma-core of the "
                "distribution is held. In a container the kernel's part belongs to the host.",
       .consequence = "No EFA device, or libfabric without its provider.",
       .checks = {"rdma-nics"},
       .fix_now = "`uname -r`; `sudo apt-get install linux-headers-$(uname -r)`; or `sudo yum "
                  "install kernel-devel-$(uname -r)`; the newest installer: `sudo "
                  "./efa_installer.sh -y`; in a container: `./efa_installer.sh -y --skip-kmod "
                  "--skip-limit-conf --no-verify`; then `fi_info -p efa`",
       .fix_for_good = "",
       .sources = {{"https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html",
                    Stated::kFix}},
       .explains = {"dkms-build", "kernel-headers"}},
      {.id = "libc-older",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "The program was built on a newer distribution than this one (GLIBC, GLIBCXX)",
       .texts = {{"version 'GLIBC_{word} not found"},
                 {"version 'GLIBCXX_{word} not found"},
                 {"version 'CXXABI_{word} not found"}},
       .cause = "The binary wants a newer C or C++ library than this host or image has. It was "
                "copied from, or mounted out of, a newer system; or conda's older libstdc++ stands "
                "before the system's.",
       .consequence = "The program or library is not loaded; RDMA is not concerned.",
       .checks = {},
       .fix_now = "`ldd --version | head -1`; `strings $(ldconfig -p | awk '/libstdc..so.6 /{print "
                  "$NF; exit}') | grep GLIBCXX | tail -1`; then the program built here, a package "
                  "of this distribution, or a newer image; conda: `conda install -c conda-forge "
                  "libstdcxx-ng`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man8/ld.so.8.html", Stated::kSymptom}},
       .explains = {}},
      {.id = "gpu-architecture",
       .program = Program::kOther,
       .certainty = Certainty::kCertain,
       .title = "The code for the GPU was built for other GPUs, or by a CUDA that does not know it",
       .texts = {{"Unsupported gpu architecture"},
                 {"no kernel image is available"},
                 {"CUDA_ERROR_NO_BINARY_FOR_GPU"},
                 {"cudaErrorNoKernelImageForDevice"},
                 {"device kernel image is invalid"},
                 {"CMAKE_CUDA_ARCHITECTURES must be non-empty"},
                 {"is not compatible with the current PyTorch installation"}},
       .cause = "A CUDA program has code for the architectures named when it was built "
                "(`TORCH_CUDA_ARCH_LIST`, `CMAKE_CUDA_ARCHITECTURES`): 8.0 is A100, 9.0 H100, 10.0 "
                "B200, 12.0 RTX 50. nvcc knows those that were there when it was released: 9.0a "
                "from CUDA 12.0, 10.0 from 12.8 on.",
       .consequence = "The program stops before any transfer; RDMA is not concerned.",
       .checks = {"gpus"},
       .fix_now = "`nvidia-smi --query-gpu=name,compute_cap --format=csv`; `nvcc --version`; then "
                  "build with that number: `TORCH_CUDA_ARCH_LIST=9.0 pip install "
                  "--no-build-isolation .`, or a newer CUDA",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/index.html",
                    Stated::kCause}},
       .explains = {}},
      {.id = "gpu-driver-build",
       .program = Program::kCuda,
       .certainty = Certainty::kLikely,
       .title = "NVIDIA's driver is not built or loaded for this kernel",
       .texts = {{"Unable to load the kernel module 'nvidia"},
                 {"Unable to build the NVIDIA kernel module"},
                 {"Unable to build the nvidia-peermem"},
                 {"The NVIDIA kernel module was not created"},
                 {"/var/lib/dkms/nvidia{}error:"},
                 {"/nvidia-drm/nvidia-drm{}.c:{number}:{number}: error"},
                 {"kernel-open/nvidia{}error:"},
                 {"/var/lib/dkms/nvidia{} Error {number}"},
                 {"An error occurred while performing the step: 'Building kernel modules'"},
                 {"dkms/nvidia/{word}/build/make.log"}},
       .cause = "The driver is older than the kernel (a name that the kernel dropped is `implicit "
                "declaration` or `no member`), the kernel's headers or its compiler are not there, "
                "nouveau or another NVIDIA module holds the GPU, or Secure Boot refuses the new "
                "module.",
       .consequence = "No GPU, and no `nvidia-peermem`.",
       .checks = {"gpu-driver", "lockdown"},
       .fix_now = "`grep -m3 -E 'error:' /var/lib/dkms/nvidia/*/build/make.log`; `tail -40 "
                  "/var/log/nvidia-installer.log`; `sudo apt-get install linux-headers-$(uname "
                  "-r)`; `mokutil --sb-state`; then a driver release that knows this kernel",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/index.html",
                    Stated::kCause}},
       .explains = {"dkms-build", "gpu-driver-absent"}},
      {.id = "mlx5-driver-old",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "mlx5_core is too old for this card's firmware: it does not start it (error -22)",
       .texts = {{"mlx5_core{}handle_hca_cap failed"},
                 {"mlx5_core{}mlx5_load_one failed with error code -22"},
                 {"mlx5_core{}set_hca_cap failed"},
                 {"mlx5_core{}failed to set hca cap"}},
       .cause = "At its start the driver sets the card's capabilities (number of queue pairs and "
                "the like), and the firmware refuses values that are out of its range: kernels "
                "before 4.20 or so with firmware of 2021 and later, or a virtual function whose "
                "host gives it less.",
       .consequence = "The function has no network interface and no RDMA device.",
       .checks = {"rdma-nics", "nic-firmware"},
       .fix_now = "`uname -r`; `modinfo -F filename mlx5_core`; then a newer kernel or DOCA-OFED; "
                  "where the kernel is fixed, an mlx5_core built for it or older firmware "
                  "(`mstflint`)",
       .fix_for_good = "",
       .sources = {{"https://github.com/PeterSuh-Q3/tinycore-redpill/issues/9", Stated::kCause},
                   {"https://github.com/pocopico/rp-ext/issues/129", Stated::kFix}},
       .explains = {"nic-firmware", "nic-driver-error", "no-rdma-device"}},
      {.id = "ipc-lock-non-root",
       .program = Program::kContainers,
       .certainty = Certainty::kCertain,
       .title = "IPC_LOCK does nothing for a container that does not run as root",
       .texts = {general("IPC_LOCK && non-root"), general("IPC_LOCK && runs as root"),
                 general("IPC_LOCK && as UID"), general("IPC_LOCK && not root"),
                 general("IPC_LOCK && CapEff"), general("IPC_LOCK && does not help"),
                 general("IPC_LOCK && cap lost"), general("containerd && LimitMEMLOCK && {fails}"),
                 general("Kubernetes never sets RLIMIT_MEMLOCK"),
                 general("RLIMIT_MEMLOCK && container && inherits")},
       .cause = "A capability that Kubernetes adds is effective for root only: a process of "
                "another user keeps the limit of locked memory that the container inherits from "
                "containerd (8 MiB, or 64 KiB on old kernels). Kubernetes has no field for limits.",
       .consequence = "`ibv_reg_mr` fails with Cannot allocate memory; NCCL goes over TCP.",
       .checks = {"locked-memory"},
       .fix_now = "`grep -E 'CapEff|locked' /proc/self/status /proc/self/limits`; on the node: "
                  "`LimitMEMLOCK=infinity` in a drop-in of containerd's unit, then `sudo systemctl "
                  "daemon-reload` and `sudo systemctl restart containerd`; and the pod anew; or "
                  "`runAsUser: 0`",
       .fix_for_good =
           "The drop-in in the nodes' image, or an NRI or OCI hook that sets the limit.",
       .sources = {{"https://github.com/NVIDIA/nvidia-container-toolkit/issues/2037",
                    Stated::kCauseAndFix},
                   {"https://github.com/kubesphere/kubekey/pull/2609", Stated::kFix}},
       .explains = {"locked-memory", "mr-refused"}},
      {.id = "service-limits",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "RDMA works from a shell and not from a service: systemd gives it other limits",
       .texts = {{"verbs provider was", 1},
                 {"verbs provider is", 1},
                 {"via systemd", 2},
                 {"as a systemd service", 2},
                 general("verbs && via systemd"),
                 general("systemd && verbs && {nothing}"),
                 general("systemd && rdma && {nothing}"),
                 general("systemd service && {register} && {fails}"),
                 general("{register} && {fails} && systemd"),
                 general("systemd && infiniband && {nothing}")},
       .cause = "A unit has the limit of locked memory of systemd (8 MiB or 64 KiB) and not that "
                "of a login, and may be fenced off from devices (`PrivateDevices`, `DeviceAllow`) "
                "or started before the NIC is up.",
       .consequence = "Memory is not registered, or the verbs provider is left out.",
       .checks = {"locked-memory", "devices"},
       .fix_now = "`systemctl show UNIT -p LimitMEMLOCK -p PrivateDevices -p DeviceAllow`; then "
                  "`sudo systemctl edit UNIT` with `LimitMEMLOCK=infinity` below `[Service]`, and "
                  "`sudo systemctl restart UNIT`",
       .fix_for_good = "`After=rdma-hw.target` and `Wants=rdma-hw.target` in the unit as well.",
       .sources = {{"https://github.com/daos-stack/daos/pull/4610", Stated::kCauseAndFix}},
       .explains = {"mr-refused", "locked-memory"}},
  };
  return table;
}

}  // namespace gdr::explain

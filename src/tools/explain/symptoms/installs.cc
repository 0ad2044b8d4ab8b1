// Installing drivers and firmware: packages that exclude each other, headers of another kernel, the
// firmware tools, and what health checks say of the result.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& install_symptoms() {
  static const Symptoms table = {
      {.id = "rdma-packages",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title =
           "RDMA packages of two sources exclude each other (distribution, MLNX_OFED, DOCA-OFED)",
       .texts = {{"Depends: libibverbs{}but "},
                 {"Depends: ibverbs-providers{}but "},
                 {"Depends: librdmacm{}but "},
                 {"Depends: libibumad{}but "},
                 {"Depends: rdma-core{}but "},
                 {"Depends: mlnx-{}but "},
                 {"Depends: doca-{}but "},
                 {"Depends: ucx{}but "},
                 {"Conflicts: libibverbs"},
                 {"Conflicts: rdma-core"},
                 {"Breaks: libibverbs"},
                 {"Breaks: rdma-core"},
                 {"libibverbs{}is needed by"},
                 {"librdmacm{}is needed by"},
                 {"rdma-core{}is needed by"},
                 {"libibumad{}is needed by"},
                 {"mlnx-{}is needed by"},
                 {"conflicts with file from package libib"},
                 {"conflicts with file from package librdmacm"},
                 {"conflicts with file from package rdma-core"},
                 {"conflicts with file from package mlnx"},
                 {"conflicts with file from package ucx"},
                 {"which is also in package {}ibverbs"},
                 {"which is also in package rdma-core"},
                 {"which is also in package mlnx"},
                 {"which is also in package librdmacm"},
                 {"depends on mlnx-{}however"},
                 {"depends on libibverbs{}however"},
                 {"depends on rdma-core{}however"},
                 {"prevent configuration of mlnx-"},
                 {"prevent configuration of doca-"},
                 {"prevent configuration of libibverbs"},
                 {"nothing provides libibverbs"},
                 {"nothing provides librdmacm"},
                 {"nothing provides libmlx5"},
                 {"cannot install both libibverbs"},
                 {"cannot install both rdma-core"},
                 {"cannot install the best {}libibverbs"},
                 {"cannot install the best {}rdma-core"},
                 {"Error: Package:", 1},
                 {"Requires: libib", 2},
                 {"Requires: librdmacm", 2},
                 {"Requires: rdma-core", 2},
                 {"Requires: mlnx-", 2},
                 general("OFED && forces the removal"),
                 general("librdmacm && conflict"),
                 general("libibverbs && conflict"),
                 general("rdma-core && conflict")},
       .cause = "libibverbs, librdmacm, rdma-core, UCX and Open MPI come from the distribution and "
                "from MLNX_OFED or DOCA-OFED, in versions that each want only their own. An "
                "update, or a package of the one beside those of the other, cannot be resolved.",
       .consequence = "The update stops, or takes the RDMA drivers away.",
       .checks = {"rdma-nics"},
       .fix_now = "`dpkg -l | grep -E 'ibverbs|rdma|ofed|doca|ucx'`; or `rpm -qa | grep -E "
                  "'ibverbs|rdma|ofed|doca|ucx'`; then all of one source: with OFED remove the "
                  "distribution's (`/usr/sbin/ofed_uninstall.sh` goes the other way), and take UCX "
                  "and MPI from the OFED's repository",
       .fix_for_good =
           "Keep the other source's packages out of updates: `exclude=rdma-core* libibverbs* "
           "librdmacm*` in the repository's file of yum, or a pin below `/etc/apt/preferences.d`.",
       .sources = {{"https://github.com/xcat2/xcat-core/issues/549", Stated::kCause},
                   {"https://github.com/openucx/ucx/issues/6662", Stated::kCause},
                   {"https://github.com/openhpc/ohpc/issues/1856", Stated::kCause}},
       .explains = {"ofed-build", "dkms-build"}},
      {.id = "nvidia-packages",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title =
           "Packages of NVIDIA's GPU driver are of two versions or sources and exclude each other",
       .texts = {{"Depends: nvidia-{}but "},
                 {"Depends: libnvidia-{}but "},
                 {"Depends: cuda-drivers{}but "},
                 {"Conflicts: nvidia-"},
                 {"conflicts with file from package nvidia"},
                 {"which is also in package nvidia-"},
                 {"which is also in package libnvidia-"},
                 {"nvidia{}conflicts with nvidia"},
                 {"cannot install both nvidia-"},
                 {"cannot install the best {}nvidia-"}},
       .cause =
           "The driver's parts (module, libraries, fabric manager, peer memory) want one and the "
           "same version. Ubuntu's packages and those of NVIDIA's repository have different names "
           "and versions, and a driver of the `.run` file is known to neither.",
       .consequence =
           "The update stops, and libraries and module may be left at different versions.",
       .checks = {"gpu-driver"},
       .fix_now = "`dpkg -l | grep -i nvidia`; or `rpm -qa | grep -i nvidia`; `cat "
                  "/proc/driver/nvidia/version`; then all of one source and version: remove the "
                  "others, install again, reboot",
       .fix_for_good = "One source, and its branch held (`apt-mark hold`, `dnf versionlock`).",
       .sources = {{"https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/index.html",
                    Stated::kFix}},
       .explains = {"dkms-build", "driver-mismatch"}},
      {.id = "kernel-headers",
       .program = Program::kModules,
       .certainty = Certainty::kLikely,
       .title = "The headers of the running kernel are missing, or are those of another kernel",
       .texts = {{"Unable to find the kernel source tree for the currently running kernel"},
                 {"The kernel source path '{word}' is invalid"},
                 {"Kernel headers for target kernel"},
                 {"was skipped since the kernel headers for this kernel do"},
                 {"build/scripts is required for the Installation"},
                 {"The Module.symvers file is missing"},
                 {"One or more required packages for installing MLNX_OFED are missing"},
                 {"required for the Installation && /lib/modules"},
                 general("mismatching kernel version"),
                 general("kernel-headers && mismatch"),
                 general("kernel headers && mismatch"),
                 general("/lib/modules/{word}/build: No such file")},
       .cause = "A driver's module is built with the headers of the kernel that runs (`uname -r`). "
                "They are not installed, the repository only has those of a newer kernel, or an "
                "image has several kernels and boots another than it was built for. Inside of a "
                "container the kernel is the host's, and no module can or need be built.",
       .consequence = "dkms, MLNX_OFED, DOCA-OFED and NVIDIA's driver build nothing.",
       .checks = {"gpu-driver", "rdma-nics"},
       .fix_now = "`uname -r`; `sudo apt-get install linux-headers-$(uname -r)`; or `sudo dnf "
                  "install kernel-devel-$(uname -r) kernel-headers`; not to be had: update the "
                  "kernel and reboot into it first. In a container the libraries only: "
                  "`./mlnxofedinstall --user-space-only --without-fw-update --force`",
       .fix_for_good = "One kernel in the image, with its headers.",
       .sources = {{"https://github.com/clustervision/trinity/issues/510", Stated::kCauseAndFix},
                   {"https://github.com/apptainer/singularity/issues/809", Stated::kSymptom}},
       .explains = {"dkms-build", "ofed-build", "driver-container"}},
      {.id = "fabric-manager-version",
       .program = Program::kCuda,
       .certainty = Certainty::kCertain,
       .title = "The fabric manager is not of the GPU driver's version",
       .texts = {{"driver interface version{}match with driver version"},
                 {"Please update with matching NVIDIA driver package"}},
       .cause = "Both must be of exactly the same version; the line names the two. One of them was "
                "updated alone (apt-get upgrade; a driver of the `.run` file beside a packaged "
                "fabric manager).",
       .consequence =
           "The fabric manager does not run, and no CUDA program starts on a board with NVSwitch.",
       .checks = {"gpus", "gpu-driver"},
       .fix_now = "`modinfo -F version nvidia`; `apt-cache madison nvidia-fabricmanager "
                  "nvidia-fabricmanager-570`; install the fabric manager of that very version (or "
                  "the driver of its), then `sudo systemctl restart nvidia-fabricmanager`",
       .fix_for_good = "Both held at one version: `apt-mark hold`, or updated together.",
       .sources = {{"https://github.com/NVIDIA/gpu-driver-container/issues/735", Stated::kCause},
                   {"https://github.com/Azure/azhpc-images/pull/86", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/gpu-operator/issues/544", Stated::kSymptom}},
       .explains = {"fabric-manager"}},
      {.id = "mst-unsupported-card",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The firmware tool does not know this card: it is too old for the tool's release",
       .texts = {{"MFE_CR_ERROR"},
                 {"MFE_OLD_DEVICE_TYPE"},
                 {"MFE_UNSUPPORTED_DEVICE"},
                 {"-E- Unsupported device"}},
       .cause = "mstflint and MFT drop old cards: ConnectX-2 and InfiniHost left with mstflint 4, "
                "ConnectX-3 with MFT 4.23. 'MFE_CR_ERROR' is also said of a newer card whose "
                "registers cannot be read (lockdown, a virtual function, a hung firmware).",
       .consequence = "Firmware and settings of this card cannot be read or changed.",
       .checks = {"rdma-nics", "lockdown"},
       .fix_now = "`lspci -nn -d 15b3:`; `mstflint --version`; ConnectX-3: MFT 4.22 (LTS); "
                  "ConnectX-2 and older: mstflint 3.8; a newer card: `sudo mstflint -d ADDRESS "
                  "query` as root on the host, with the address of the first function",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/mstflint/issues/4", Stated::kCauseAndFix},
                   {"https://github.com/Mellanox/mstflint/issues/737", Stated::kSymptom}},
       .explains = {"mst-tools"}},
      {.id = "mst-semaphore",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "Another tool holds the NIC's flash, or left its semaphore set",
       .texts = {{"Can not obtain Flash semaphore"},
                 {"MFE_SEM_LOCKED"},
                 {"ME_SEM_LOCKED"},
                 {"to force semaphore unlock"},
                 general("flash semaphore && {fails}"),
                 general("-E- && semaphore")},
       .cause = "One program at a time may use the card's flash. mlxup, mlxconfig, a monitoring "
                "agent or the operator is at it, or was killed while it was.",
       .consequence = "Firmware and settings cannot be read or changed until it is free.",
       .checks = {},
       .fix_now = "`pgrep -af 'mlx|mst|flint'`; nothing of them runs: `sudo flint -d DEVICE "
                  "-clear_semaphore`",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/mstflint", Stated::kFix}},
       .explains = {"mst-tools"}},
      {.id = "mst-psid",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "The firmware image is not for this card (PSID)",
       .texts = {{"PSID mismatch"},
                 {"differs from image PSID"},
                 {"Could not find matching firmware images"},
                 {"might not have requested PSID"}},
       .cause =
           "Each card has a PSID that says whose product it is. Cards of server makers (Dell, HPE, "
           "Lenovo, clouds) have their own, for which NVIDIA's images and mlxup have no firmware.",
       .consequence = "The firmware stays as it was.",
       .checks = {},
       .fix_now =
           "`sudo mstflint -d ADDRESS query | grep PSID`; then the image for that PSID from the "
           "server's maker. Another PSID's image (`-allow_psid_change`) can make the card unusable",
       .fix_for_good = "",
       .sources =
           {{"https://docs.nvidia.com/networking/display/mftv4300/flint+-+firmware+burning+tool",
             Stated::kCause}},
       .explains = {"mst-tools"}},
      {.id = "mst-setting",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "The NIC's firmware has no such setting (mlxconfig, mstconfig)",
       .texts = {{"Device doesn't support {word} parameter"},
                 {"Device doesn't support any configuration changes"},
                 {"-E- Unknown Parameter"},
                 {"Failed to parse configuration parameters"}},
       .cause = "The name is mistyped, belongs to another model, or to a newer firmware. Cards of "
                "clouds and some server makers lock their settings.",
       .consequence = "No setting of this command was changed.",
       .checks = {},
       .fix_now = "`sudo mlxconfig -d ADDRESS show_confs | less`; lists what this card has; `sudo "
                  "mlxconfig -d ADDRESS query`; then the right name, or newer firmware first",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/mstflint/tree/master/mlxconfig", Stated::kCause}},
       .explains = {"mst-tools"}},
      {.id = "health-ports",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A health check finds fewer active InfiniBand ports than it expects",
       .texts = {{"LinkUp ports found"},
                 {"not enough LinkUp ports"},
                 {"port(s) are active and >="},
                 {"only {number} port(s) are active"},
                 {"IB port(s) down"},
                 {"ib_port_drop"},
                 {"ib_port_flap"},
                 {"check_hw_ib: No IB"},
                 {"check_hw_ib: {}not"},
                 general("InfiniBand port && flap"),
                 general("ib port && flap")},
       .cause = "Ports are down (the line or `ibstat` names them): no cable or a bad one, the "
                "switch's port disabled, no subnet manager; a port that comes and goes has a bad "
                "cable or transceiver. Or the expectation is wrong: an unused or Ethernet port is "
                "counted, or a rate is expected that these ports do not have.",
       .consequence = "The node is cordoned or drained; NICs whose ports are active can be used.",
       .checks = {"port-state", "port-errors", "subnet-manager"},
       .fix_now = "`ibstat | grep -E \"^CA|State|Physical|Rate\"`; `rdma link`; `sudo ibdiagnet "
                  "--pc`; a port that is to be Ethernet: `sudo mlxconfig -d ADDRESS set "
                  "LINK_TYPE_P1=2`; else the number and rate that the check expects",
       .fix_for_good = "",
       .sources = {{"https://github.com/dsx-ai-factory/infra-controller/issues/3624",
                    Stated::kCauseAndFix},
                   {"https://github.com/leptonai/gpud/pull/482", Stated::kSymptom}},
       .explains = {"port-not-active", "no-active-port"}},
      {.id = "gdrcopy-build",
       .program = Program::kShmem,
       .certainty = Certainty::kLikely,
       .title = "GDRCopy, or a program that uses it, does not build",
       .texts = {general("make && *** && gdrcopy"),
                 general("make && *** && gdrdrv"),
                 general("make && *** && gdrapi"),
                 general("gdrcopy && recipe for target"),
                 general("gdrdrv && Bad return status"),
                 general("gdrdrv-dkms && error processing"),
                 {"gdrcopy{}.c:{number}:{number}: error"},
                 {"/gdrcopy{}fatal error: && No such file"},
                 {"gdrdrv.c:{number}:{number}: error"},
                 {"/gdrdrv/{} Error {number}"},
                 {"gdrdrv{}.o is truncated"}},
       .cause = "The compiler's first error says what is missing: CUDA's or the GPU driver's "
                "headers (`CUDA=`, nv-p2p.h), the headers of the running kernel, or GDRCopy's own "
                "library in the search path. An old GDRCopy does not know a new kernel or driver.",
       .consequence =
           "No GDRCopy: small messages are slower; GPUDirect RDMA itself does not need it.",
       .checks = {"gpu-driver"},
       .fix_now =
           "`grep -m3 -B2 -E 'error:' make.log`; `ls -d /lib/modules/$(uname -r)/build "
           "/usr/src/nvidia-*`; `make CUDA=/usr/local/cuda all`; with a current release of GDRCopy",
       .fix_for_good = "The packages gdrdrv-dkms and libgdrapi.",
       .sources = {{"https://github.com/NVIDIA/gdrcopy#build-and-installation", Stated::kFix}},
       .explains = {"gdrcopy-pin", "dkms-build", "ofed-build"}},
      {.id = "health-umad",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A health check does not find ib_umad's version file and takes it for a mismatch "
                "of OFED",
       .texts = {{"Version mismatch between kernel OFED drivers and userspace OFED libraries"}},
       .cause =
           "NHC's check_hw_ib reads `/sys/class/infiniband_mad/abi_version`. The file is missing "
           "where `ib_umad` is not loaded, or where no InfiniBand adapter is found any more.",
       .consequence =
           "The node is taken out of service; programs that use verbs are not concerned.",
       .checks = {"rdma-nics", "devices"},
       .fix_now = "`sudo modprobe ib_umad`; `cat /sys/class/infiniband_mad/abi_version`; `lspci -d "
                  "15b3:`; an adapter that is missing there: reseat or replace it",
       .fix_for_good = "`echo ib_umad | sudo tee /etc/modules-load.d/rdma-umad.conf`",
       .sources = {{"https://github.com/mej/nhc/issues/175", Stated::kCause}},
       .explains = {}},
      {.id = "efa-security-group",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "EFA does not reach the peer: the security group lets no traffic to itself",
       .texts = {{"Unable to insert remote address into address vector"},
                 general("EFA && security group && {fails}")},
       .cause =
           "EFA's traffic is let through only by rules whose source and target are the security "
           "group itself, inbound and outbound; a rule for 0.0.0.0/0 is not enough. Where they are "
           "right: instances in different subnets, or libfabric and aws-ofi-nccl of two releases.",
       .consequence = "NCCL stops when it connects; TCP between the hosts works.",
       .checks = {},
       .fix_now = "`aws ec2 describe-security-groups --group-ids GROUP`; add to inbound and "
                  "outbound: all traffic, source and destination this group; `fi_pingpong -p efa` "
                  "and `fi_pingpong -p efa ADDRESS` try it",
       .fix_for_good = "",
       .sources = {{"https://github.com/aws/aws-ofi-nccl/issues/663", Stated::kCauseAndFix},
                   {"https://github.com/awslabs/awsome-distributed-ai/issues/519",
                    Stated::kSymptom}},
       .explains = {"ofi-call", "nccl-warning", "nccl-class"}},
  };
  return table;
}

}  // namespace gdr::explain

// The NICs' drivers and the RDMA core write these lines into the kernel's log, beside failed
// commands.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& kernel_nic_symptoms() {
  static const Symptoms table = {
      {.id = "nic-overheats",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The NIC is too hot",
       .texts = {{"mlx5_core{}High temperature on sensors"},
                 {"mlx5_core{}Temperature threshold"},
                 {"mlx5_core{}High temperature event"},
                 {"mlx5_core{}synd{}High temperature"},
                 {"bnxt_en{}Chip temperature has gone above"},
                 {"temperature is above {}threshold && {nic-driver}"},
                 {"overheat && {nic-driver}"}},
       .cause = "A sensor of the NIC's chip, board or module is above its limit: too little air "
                "through the slot (cards for servers have no fan), a fan that stands still, or a "
                "module that is hotter than the cage allows.",
       .consequence = "The NIC slows down, drops its link, and at the end switches itself off.",
       .checks = {"nic-firmware", "port-state"},
       .fix_now =
           "`sudo mget_temp -d ADDRESS`; `sensors | grep -A4 -E 'mlx5|bnxt'`; `sudo ipmitool "
           "sdr type fan`; more air, or the fans' profile of the board",
       .fix_for_good = "Airflow as the card's data sheet wants it, and modules or cables of less "
                       "power.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/net/ethernet/mellanox/"
                    "mlx5/core/events.c",
                    Stated::kCause}},
       .explains = {"nic-cable", "nic-firmware", "port-not-active", "nic-driver-error"}},
      {.id = "nic-being-reset",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The NIC is being reset (a firmware update, or its recovery): RDMA on it stops",
       .texts = {{"PCI Sync FW Update Reset"},
                 {"Sync Reset now. Device is going to reset"},
                 {"Sync Reset Unload"},
                 {"FW sync reset timeout"},
                 {"timeout waiting for sync reset"},
                 {"mlx5_sync_pci_reset failed"},
                 {"Sync reset did not complete"},
                 {"Sync reset still in progress"},
                 {"Sync reset negotiation timeout"},
                 {"Sync reset unload timeout"},
                 {"Sync reset failed"},
                 {"Sync reset command failed"},
                 {"One of the hosts disabled reset"},
                 {"FW reset is not supported as HotPlug"},
                 {"during firmware reset"},
                 {"FW activate aborted"},
                 {"reset reload flow aborted"},
                 {"bnxt_en{}firmware reset event"},
                 {"bnxt_en{}Firmware reset aborted"},
                 {"bnxt_en{}initiating reset"},
                 {"bnxt_en{}firmware reset has not completed"},
                 {"ionic{}FW Down"},
                 {"ionic{}Surprise FW stop"},
                 {"ionic{}FW in reset"},
                 {"ionic{}FW is down"}},
       .cause = "A tool on this host, or another host or DPU that shares the card, has the "
                "firmware reset (`mlxfwreset`, `mstfwreset`, `devlink dev reload`), or the driver "
                "recovers it after a fault. Nack, timeout, 'disabled' or 'not supported': not all "
                "who share the card agreed, so that the reset did not take place.",
       .consequence = "All queues and registered memory of this NIC are lost; programs see flushed "
                      "work or a fatal event and have to be started again.",
       .checks = {"nic-firmware", "port-state"},
       .fix_now =
           "`sudo dmesg -T | grep -E 'mlx5_core|bnxt_en|ionic' | tail -50`; `sudo devlink "
           "health show`; jobs off this NIC before a firmware update; a reset that is refused: "
           "a cold start of the host",
       .fix_for_good = "Firmware updated while no job runs, with the other hosts of a shared card "
                       "off.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/net/ethernet/mellanox/"
                    "mlx5/core/fw_reset.c",
                    Stated::kCause}},
       .explains = {"nic-firmware", "nic-driver-error", "nic-command-timeout", "work-flushed",
                    "nic-event", "port-not-active", "eswitch-mode"}},
      {.id = "nic-interrupts",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The NIC's driver gets too few interrupt vectors (MSI-X)",
       .texts = {{"Unable to allocate {number} MSIX vectors"},
                 {"Requested MSI-X vectors insufficient"},
                 {"not enough {}MSI-X vectors"},
                 {"MSI-X vectors && {fails} && {nic-driver}"},
                 {"MSIX vectors && {fails} && {nic-driver}"},
                 {"MSI-X && {fails} && {nic-driver}"},
                 {"irq vectors && {fails} && {nic-driver}"},
                 {"alloc_irq && {fails} && {nic-driver}"},
                 {"maximum number of vectors is allocated && {nic-driver}"},
                 {"No irq handler for vector"},
                 {"{nic-driver} && Not enough rings available"}},
       .cause = "Each queue for completions wants an interrupt. The function has few of them (a "
                "virtual function, see `sriov_vf_total_msix`), the virtual machine has few "
                "processors or its hypervisor few vectors, or the processor's own are used up "
                "(many devices and virtual functions, no x2apic or interrupt remapping).",
       .consequence =
           "The driver does not start this function, or it has fewer queues and no RDMA.",
       .checks = {"rdma-nics", "iommu"},
       .fix_now =
           "`sudo lspci -vvs ADDRESS | grep MSI-X`; `grep -c mlx5 /proc/interrupts`; `nproc`; "
           "fewer virtual functions or channels (`ethtool -L INTERFACE combined N`)",
       .fix_for_good = "More vectors for each function in the card's settings (mlxconfig "
                       "`NUM_VF_MSIX`, `NUM_PF_MSIX`), x2apic and interrupt remapping on.",
       .sources = {{"https://docs.kernel.org/PCI/msi-howto.html", Stated::kCause}},
       .explains = {"nic-driver-error", "no-rdma-device", "nic-resources"}},
      {.id = "gid-not-entered",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "An interface's address could not be entered in the NIC's GID table",
       .texts = {{"unable to add gid"},
                 {"GID add failed port="},
                 {"bnxt_re{}Failed to add GID"},
                 {"bnxt_re{}Failed to add gid"},
                 {"set GID failed"},
                 {"gid table is full"},
                 {"GID table is full"}},
       .cause = "error=-28 (or 'full'): the table has no free place: too many addresses, VLANs or "
                "containers on this interface; a virtual function has few places. Else the NIC "
                "refused it, as it does during a reset.",
       .consequence = "RoCE does not work by this address; the others stay.",
       .checks = {"roce-gid"},
       .fix_now = "`show_gids`; `ip -br addr`; take addresses and VLANs away that nobody needs; "
                  "then the interface down and up",
       .fix_for_good = "",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/infiniband/core/cache.c",
                    Stated::kSymptom}},
       .explains = {"wrong-gid", "nic-driver-error", "nic-resources"}},
      {.id = "port-speed-unknown",
       .program = Program::kKernel,
       .certainty = Certainty::kPossible,
       .title = "The speed of an RDMA port is a guess, since its interface reports none: a note",
       .texts = {{"speed is unknown, defaulting to"}},
       .cause = "The network interface below the RDMA device has no link yet, or is one that knows "
                "no speed (virtio, a bridge, some bonds). The kernel then shows 1 or 10 Gb/s.",
       .consequence = "None for transfers. Programs that choose NICs or paths by the rate (NCCL) "
                      "may choose badly.",
       .checks = {"port-state"},
       .fix_now =
           "`rdma link`; `ethtool INTERFACE | grep -E 'Speed|Link detected'`; a link that is "
           "up and still of unknown speed: `NCCL_IB_HCA` names the NICs to be used",
       .fix_for_good = "",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/infiniband/core/verbs.c",
                    Stated::kCause}},
       .explains = {}},
      {.id = "verbs-other-user",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title =
           "The kernel refuses verbs of a process that has changed its user since it opened them",
       .texts = {{"changed security contexts after opening file descriptor"}},
       .cause = "The process opened `/dev/infiniband` and then changed its user or capabilities "
                "(setuid, `su`, a daemon that drops its rights), or handed the file to another "
                "process. The old way of commands (write) is then forbidden; it is used by an "
                "rdma-core before 20 or a provider without ioctl.",
       .consequence = "Every verb of this process fails with 'permission denied' (EACCES).",
       .checks = {"devices"},
       .fix_now = "Open the NIC after the change of user; or a current rdma-core: `ibv_devinfo "
                  "--version`, `dpkg -l libibverbs1`",
       .fix_for_good = "",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/infiniband/core/"
                    "uverbs_main.c",
                    Stated::kCause}},
       .explains = {"mr-permission", "queue-permission", "rdma-device-closed"}},
      {.id = "vf-without-guid",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "A virtual function has no node GUID: rdma_cm does not work on it",
       .texts = {{"RDMA_CM will not function properly for this VF"},
                 {"node GUID{}RDMA_CM will not function"}},
       .cause = "Virtual functions start without a GUID; the host has to give each its own. On "
                "InfiniBand the subnet manager does not bring the port up without one.",
       .consequence = "rdma_cm and programs that tell NICs apart by GUID fail on this function.",
       .checks = {"port-state"},
       .fix_now = "On the host that owns the card: `ip link set dev PF vf N node_guid GUID`; "
                  "InfiniBand also `port_guid`; then unbind and bind the function's driver.",
       .fix_for_good =
           "Kubernetes: the SR-IOV operator, or `guid` by ib-kubernetes; `ib-sriov-cni`.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/net/ethernet/mellanox/"
                    "mlx5/core/eswitch.c",
                    Stated::kCause}},
       .explains = {"no-active-port", "rdma-cm"}},
      {.id = "eswitch-mode",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The NIC's embedded switch could not change its mode (legacy, switchdev)",
       .texts = {{"change E-Switch mode"},
                 {"Can't change mode, E-Switch is busy"},
                 {"Failed setting eswitch to"},
                 {"Can't change eswitch mode"},
                 {"E-Switch must either disabled or non switchdev"},
                 {"only supported in eswitch switchdev mode"},
                 {"E-Switch: Failed to enable"},
                 general("eswitch mode && {fails}"),
                 general("set eSwitch to && {fails}"),
                 general("switchdev && {fails}"),
                 general("devlink dev eswitch && {fails}")},
       .cause = "The mode cannot change while rules, virtual functions in use (by a driver, a pod "
                "or a virtual machine), IPsec or a bond (LAG) hold it, or where firmware or kernel "
                "have no switchdev for this NIC; scalable functions need switchdev. The words "
                "behind the driver's name say which.",
       .consequence = "The mode stays as it was; representors or scalable functions are missing.",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo devlink dev eswitch show pci/ADDRESS`; `echo 0 | sudo tee "
                  "/sys/bus/pci/devices/ADDRESS/sriov_numvfs`; then `sudo devlink dev eswitch set "
                  "pci/ADDRESS mode switchdev`; and the functions made anew",
       .fix_for_good = "",
       .sources = {{"https://docs.kernel.org/networking/devlink/mlx5.html", Stated::kCause}},
       .explains = {"nic-driver-error", "sriov-vfs-not-created", "vf-restore"}},
      {.id = "memory-key-update",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The NIC could not update a memory key (mlx5 UMR)",
       .texts = {{"reg umr failed"},
                 {"UMR post send failed"},
                 {"couldn't recover UMR"},
                 {"UMR recovery"},
                 {"modify UMR QP"},
                 {"unable to map DMA during XLT update"},
                 {"async reg mr failed"}},
       .cause = "mlx5_ib changes translations of registered memory by work of its own (UMR). That "
                "work came back with an error: the NIC could not read the list of pages or is in "
                "an error state, or the memory below it (a GPU's, by dma-buf) moved or was freed.",
       .consequence = "The registration fails; on older kernels all later ones as well, until the "
                      "driver is loaded anew.",
       .checks = {"nic-firmware", "iommu"},
       .fix_now =
           "`sudo dmesg -T | grep -E 'mlx5|AMD-Vi|DMAR|NVRM' | tail -50`; an IOMMU fault or "
           "a health line beside it is the cause; then the driver loaded anew: `sudo modprobe "
           "-r mlx5_ib`; `sudo modprobe mlx5_ib`",
       .fix_for_good = "A kernel or DOCA-OFED of 2024 or later, which recovers by itself, and the "
                       "NIC's current firmware.",
       .sources =
           {{"https://github.com/torvalds/linux/blob/master/drivers/infiniband/hw/mlx5/umr.c",
             Stated::kSymptom}},
       .explains = {"mr-refused", "mr-device-limit", "nic-driver-error", "post-refused"}},
      {.id = "ice-safe-mode",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "Intel's NIC runs in safe mode without its DDP package: no RDMA",
       .texts = {{"Entering Safe Mode"},
                 {"Device is in Safe Mode"},
                 {"DDP package && {fails} && ice"},
                 {"intel/ice/ddp/ice{}{fails}"},
                 {"not compatible with the DDP package"},
                 {"DDP package that is not supported by the driver"}},
       .cause = "The driver `ice` did not find `/lib/firmware/intel/ice/ddp/ice.pkg` (also in the "
                "initramfs), or the package is older or newer than driver and NVM image.",
       .consequence = "One queue, no offloads, and `irdma` finds no device.",
       .checks = {"rdma-nics", "nic-firmware"},
       .fix_now = "`ls -l /lib/firmware/intel/ice/ddp/`; `sudo apt-get install "
                  "firmware-misc-nonfree` (Ubuntu, Fedora: linux-firmware); `sudo update-initramfs "
                  "-u`; `sudo modprobe -r irdma ice`; `sudo modprobe ice`",
       .fix_for_good = "Driver, DDP package and NVM image of one release, as Intel lists them.",
       .sources = {{"https://docs.kernel.org/networking/device_drivers/ethernet/intel/ice.html",
                    Stated::kCauseAndFix}},
       .explains = {"nic-driver-error", "no-rdma-device"}},
      {.id = "pause-storm",
       .program = Program::kKernel,
       .certainty = Certainty::kLikely,
       .title = "The NIC is held back by pause frames without end (pause or PFC storm)",
       .texts = {{"Pause Storm detected"},
                 {"caused by PFC storm"},
                 {"PFC storm detected"},
                 {"PFC watchdog && storm"},
                 {"rx_prio{number}_pause_storm_error_events: {above-zero}"},
                 {"rx_pause_storm_error_events: {above-zero}"},
                 {"tx_pause_storm_error_events: {above-zero}"}},
       .cause = "A receiver that does not take its packets (a host that hangs, a GPU or PCIe path "
                "that is too slow for the NIC) sends pause after pause, and the switch hands it on "
                "to all who send through it.",
       .consequence = "Transfers of many hosts stand still; packets are dropped where a watchdog "
                      "ends it.",
       .checks = {"lossless", "port-errors", "pcie-link"},
       .fix_now = "`ethtool -S INTERFACE | grep -E 'pause|prio'`; on all hosts: the one whose "
                  "tx_prio pause counters grow is the cause; its PCIe path by `gdr topo`",
       .fix_for_good = "PFC's watchdog on in the switches, and ECN with DCQCN so that PFC is the "
                       "last resort.",
       .sources = {{"https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/"
                    "counters.html",
                    Stated::kCause}},
       .explains = {"nic-driver-error", "packet-loss"}},
  };
  return table;
}

}  // namespace gdr::explain

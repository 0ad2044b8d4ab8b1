// Programs and libraries: those that do not load or do not fit, and those that use RDMA in a way
// that it does not allow.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& library_symptoms() {
  static const Symptoms table = {
      {.id = "library-absent",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "A program does not start: the loader does not find one of its libraries",
       .texts = {{"Cannot open UCX library"},
                 general("error while loading shared libraries: {rdma-library}"),
                 general("{rdma-library}{}cannot open shared object file"),
                 general("{rdma-library}{}.so{}=> not found"),
                 general("{fails} && dlopen {rdma-library}"),
                 general("{fails} && load {rdma-library}"),
                 general("error while loading shared libraries: libcuda"),
                 general("error while loading shared libraries: libnvidia"),
                 general("libcudart.so{}cannot open shared object file")},
       .cause =
           "The library is not installed here (mostly in a container image), or lies in a folder "
           "that the loader does not search. A `.h` file or `cannot find -l…`: the package for "
           "development is missing where the program is built.",
       .consequence = "The program, or the plugin that wants it, is not loaded.",
       .checks = {},
       .fix_now = "`ldd PROGRAM | grep 'not found'`; `ldconfig -p | grep -E 'ibverbs|rdmacm|ucp|"
                  "fabric|nccl'`; `sudo apt-get install libibverbs1 librdmacm1 ibverbs-providers`; "
                  "to build: `sudo apt-get install libibverbs-dev librdmacm-dev`; a folder of your "
                  "own: `LD_LIBRARY_PATH`, or a file in `/etc/ld.so.conf.d` and `sudo ldconfig`",
       .fix_for_good = "The same packages in the image in which the program runs.",
       .sources = {{"https://man7.org/linux/man-pages/man8/ld.so.8.html", Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "library-version",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "Libraries of different releases are mixed: a symbol or version is missing",
       .texts = {general("version 'IBVERBS_{word} not found"),
                 general("version 'MLX5_{word} not found"),
                 general("version 'RDMACM_{word} not found"),
                 general("version 'FABRIC_{word} not found"),
                 general("version 'EFA_{word} not found"),
                 general("undefined symbol: ibv_"),
                 general("undefined symbol: mlx5dv_"),
                 general("undefined symbol: rdma_"),
                 general("undefined symbol: ucp_"),
                 general("undefined symbol: uct_"),
                 general("undefined symbol: ucs_"),
                 general("undefined symbol: fi_"),
                 general("undefined symbol: efadv_"),
                 general("undefined symbol: nccl"),
                 general("undefined symbol: gdr_"),
                 general("undefined symbol: efa"),
                 general("undefined symbol: ucm_"),
                 general("undefined symbol: nixl"),
                 general("undefined symbol: cuFile"),
                 {"symbol mlx5dv_{word}, version {word} not defined"},
                 {"symbol ibv_{word}, version {word} not defined"},
                 {"symbol rdma_{word}, version {word} not defined"},
                 general("dlvsym failed on ibv_"),
                 general("UCX library version{}mismatch"),
                 general("UCP version is incompatible"),
                 general("UCX version {}incompatible"),
                 general("UCP API version {}incompatible"),
                 general("ibv_exp_{word} && {ENOSYS}")},
       .cause =
           "The program or provider was built for another release of the library than the loader "
           "finds: MLNX_OFED's or DOCA-OFED's beside the distribution's, a wheel's or conda's "
           "copy before the system's, an image older than the program. `ibv_exp_` calls that are "
           "not implemented: the program was built with MLNX_OFED 4's own verbs, and runs with "
           "the libibverbs of another.",
       .consequence = "The program or the provider of the NIC is not loaded.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`ldconfig -p | grep -E 'libibverbs|libmlx5|librdmacm|libucp|libfabric|libnccl'`; "
           "`ldd PROGRAM`; `LD_DEBUG=libs PROGRAM 2>&1 | grep 'trying file' | tail -20`; one "
           "of each must be left, and as new as the program wants",
       .fix_for_good = "libibverbs, librdmacm and the providers of one source (all of the "
                       "distribution, or all of DOCA-OFED), and no second copy in "
                       "`LD_LIBRARY_PATH`.",
       .sources = {{"https://man7.org/linux/man-pages/man8/ld.so.8.html", Stated::kSymptom}},
       .explains = {"library-absent", "no-rdma-provider", "nccl-no-libibverbs", "queue-unsupported",
                    "nic-query"}},
      {.id = "memory-not-registered",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "A program hands the NIC memory that it has not registered",
       .texts = {{"No translation for ptr"},
                 {"Could not find translation for"},
                 general("memory not registered"),
                 general("memory is not registered"),
                 general("not registered for rdma"),
                 general("buffer not registered"),
                 general("buffer is not registered"),
                 general("region not registered"),
                 general("address not registered"),
                 general("is not a registered"),
                 general("not found in {}registered"),
                 general("No registered memory"),
                 general("unregistered memory"),
                 general("unregistered buffer"),
                 general("no MR found"),
                 general("no mr for"),
                 general("{fails} && find {}lkey"),
                 general("{fails} && find {}rkey"),
                 general("{fails} && find {}mr for"),
                 general("{fails} && find {}memory region"),
                 general("MR not found"),
                 general("memory region not found")},
       .cause = "The buffer was allocated before RDMA was started in the process, is of another "
                "allocator than the registered one, or its registration failed earlier (that line "
                "is then the cause). The NIC takes registered memory only.",
       .consequence = "This request fails; the connection is mostly closed.",
       .checks = {},
       .fix_now =
           "The first line about registering in the same log. Else the program's order: brpc: "
           "`GlobalRdmaInitializeOrDie` before any buffer, `RegisterMemoryForRdma` for your "
           "own; Mooncake: `registerLocalMemory` for the whole range",
       .fix_for_good = "",
       .sources = {{"https://github.com/apache/brpc/blob/master/docs/en/rdma.md", Stated::kFix},
                   {"https://github.com/apache/brpc/issues/1995", Stated::kSymptom}},
       .explains = {}},
      {.id = "rdma-fork",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "RDMA and fork: ibv_fork_init came too late, or cannot protect the memory",
       .texts = {general("ibv_fork_init && {fails}"),
                 general("fork_init && {fails}"),
                 general("ibv_fork_init && in progress"),
                 {"A process has executed an operation involving a call"},
                 {"EFA provider to work safely when fork()"},
                 general("fork() {}to be created && RDMA"),
                 general("IBV_FORK_SAFE && {fails}"),
                 general("RDMAV_FORK_SAFE && {fails}"),
                 general("RDMAV_HUGEPAGES_SAFE && {fails}"),
                 general("fork support && {fails}")},
       .cause = "`ibv_fork_init` must run before anything of RDMA is used in the process; with a "
                "library that has registered memory already (another transport, a plugin) it "
                "fails. Huge pages and memory of a GPU cannot be protected by it.",
       .consequence = "A child process may see, or change, memory that the NIC uses.",
       .checks = {},
       .fix_now =
           "`RDMAV_FORK_SAFE=1` in the environment from the start; or Linux 5.12 and rdma-core "
           "35 or later, where registered memory is copied at the fork and the call is not "
           "needed",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man3/ibv_fork_init.3.html", Stated::kCause},
                   {"https://github.com/apache/brpc/issues/2566", Stated::kSymptom}},
       .explains = {}},
      {.id = "verbs-call",
       .program = Program::kPerftest,
       .certainty = Certainty::kPossible,
       .title = "Something of RDMA failed; its error number says which kind of cause it is",
       .texts = {last("ibv_{word} && {fails}"), last("{rdma-word} && {fails}"),
                 last("NET/IB && {fails}"), last("efadv_{word} && {fails}"),
                 last("ibv_{word} && errno"), last("ibv_{word} returned")},
       .cause = "1, 13: a right that the container or user lacks (`IPC_LOCK`, `NET_RAW`, "
                "`/dev/infiniband`). 11, 12: locked memory, or the NIC has no room left. 16: still "
                "in use. 19, 5: the NIC was reset or removed. 22: a value that this NIC, port or "
                "driver does not take, or library and driver of different releases. 38, 93, 95: "
                "not in this NIC or driver. 110, 121, 125: the NIC's firmware did not answer, or "
                "refused.",
       .consequence = "What the program says next follows from it.",
       .checks = {"rdma-nics", "devices", "locked-memory"},
       .fix_now =
           "`ibv_devinfo -v`; `ulimit -l`; `sudo dmesg | tail -30`; where the error number is "
           "not printed, `strace -f -e trace=ioctl,write PROGRAM` shows it",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man7/rdma_cm.7.html", Stated::kSymptom},
                   {"https://github.com/linux-rdma/rdma-core/tree/master/libibverbs/man",
                    Stated::kSymptom}},
       .explains = {}},
      {.id = "ofi-call",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "A call of libfabric failed; the provider's own line says why",
       .texts = {last("fi_{word} failed"), last("fi_{word} && error"),
                 last("fi_{word}{}returned error"), last("failed && fi_{word}"),
                 last("libfabric{}<error>"), last("libfabric{}<critical>"), last("NET/OFI{}fail"),
                 last("NET/OFI{}unable"), last("NET/OFI{}could not"), last("NET/OFI{}couldn't"),
                 last("OFI {word} && failed"), last("libfabric error"),
                 last("verbs;ofi_rxm && {fails}")},
       .cause =
           "-61 or No data available: no provider fits what was asked for (another NIC, a "
           "libfabric built without it, a missing `/dev/infiniband`). -12, -11: locked memory, "
           "or the NIC has no room left. -22: values that the provider does not take, or a "
           "libfabric of another release than the program. -38, -95: not in this provider. "
           "-107, -110, -111: the peer is gone or not reached.",
       .consequence = "The library above goes over TCP, or stops.",
       .checks = {"rdma-nics", "devices", "locked-memory"},
       .fix_now =
           "`fi_info -l`; `fi_info --version`; `FI_LOG_LEVEL=warn` in the environment of a run: "
           "the provider's own lines name the cause",
       .fix_for_good = "",
       .sources = {{"https://ofiwg.github.io/libfabric/main/man/fi_errno.3.html", Stated::kCause}},
       .explains = {"verbs-call"}},
      {.id = "ucx-call",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title =
           "UCX reports an error of its own; the lines before it name the transport and reason",
       .texts = {last("ucp_{word} && {fails}"), last("uct_{word} && {fails}"), last("UCX ERROR"),
                 last("UCX FATAL"), last("UCX WARN{}fail"), last("ucs_{word} && failed"),
                 last("UCXError"), last("UCXXError"), last("UCX error")},
       .cause = "Of UCX's codes, Input/output error and No such device come from the NIC or its "
                "settings, Out of memory and No resources from locked memory or the NIC's room, "
                "Unsupported operation and Invalid parameter from two releases of UCX or a UCX "
                "without CUDA, Destination is unreachable and the like from the network.",
       .consequence = "The program above stops or tries another way.",
       .checks = {"mpi-ucx", "rdma-nics", "locked-memory"},
       .fix_now =
           "`UCX_LOG_LEVEL=info` in the environment of a run, on both sides; the first ERROR or "
           "WARN to `gdr explain`; `ucx_info -v`; `ucx_info -d | grep -E 'Transport|Device'`",
       .fix_for_good = "",
       .sources = {{"https://openucx.readthedocs.io/en/master/faq.html", Stated::kSymptom}},
       .explains = {"verbs-call"}},
      {.id = "umad",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A program of the InfiniBand fabric cannot use management packets (umad)",
       .texts = {general("can't open UMAD port"), general("can't init UMAD library"),
                 general("umad && {fails}"), general("mad_rpc_open_port && {fails}"),
                 general("ibwarn: && {fails}"), general("ibpanic: && {fails}"),
                 general("ibpanic: && Failed to open"), general("opensm && {fails}"),
                 general("/dev/infiniband/umad && {fails}"),
                 general("/dev/infiniband/issm && {fails}"), general("OpenSM && {fails}"),
                 general("stat of IB device && {fails}"), general("sminfo && {fails}"),
                 general("ibstat: panic"), general("iberror: failed"),
                 general("perfquery && {fails}")},
       .cause = "ibstat, sminfo, ibnetdiscover, opensm and the like need `ib_umad` "
                "(`/dev/infiniband/umadN`) and the right to use it (root, or the group rdma). On "
                "RoCE there is no subnet manager and most of them have nothing to do. Data "
                "transfers need none of it.",
       .consequence = "The fabric cannot be looked at from here.",
       .checks = {"devices", "subnet-manager", "rdma-nics"},
       .fix_now =
           "`sudo modprobe ib_umad`; `ls -l /dev/infiniband`; `ibv_devinfo | grep link_layer`; "
           "then the command again with `sudo` and `-C mlx5_0 -P 1`",
       .fix_for_good = "`echo ib_umad | sudo tee /etc/modules-load.d/ib_umad.conf`",
       .sources = {{"https://docs.kernel.org/infiniband/user_mad.html", Stated::kCause}},
       .explains = {}},
      {.id = "mst-tools",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "The firmware tools (mst, mlxconfig, flint) cannot reach the NIC",
       .texts = {general("-E- Failed to query device"), general("-E- Failed to open device"),
                 general("-E- Cannot open"), general("-E- Failed to open"),
                 general("-E- Failed to identify the device"),
                 general("-E- Failed to query {word}"), general("/dev/mst/ && {fails}"),
                 general("Failed to send access register"), general("mst might be stopped"),
                 general("mlxconfig && {fails}"), general("mlxfwreset && {fails}"),
                 general("mstflint && {fails}"), general("mstconfig && {fails}"),
                 general("-E- Burning FS"), general("-E- && PSID"),
                 general("Loading MST PCI module && {fails}"), general("-E- && flint"),
                 general("semaphore && mst")},
       .cause = "`mst start` has not run (or its module is refused by Secure Boot), the address or "
                "name is not that of the NIC's first function, the process is not root or is in a "
                "container, kernel lockdown forbids the access, or the card's firmware hangs.",
       .consequence = "Settings and firmware of the card cannot be read or changed.",
       .checks = {"lockdown", "rdma-nics"},
       .fix_now = "`sudo mst start`; `sudo mst status -v`; without mst: `sudo mstconfig -d ADDRESS "
                  "query`; `lspci -d 15b3:`; `cat /sys/kernel/security/lockdown`",
       .fix_for_good = "",
       .sources = {{"https://github.com/Mellanox/mstflint/blob/master/README", Stated::kFix}},
       .explains = {}},
      {.id = "soft-roce",
       .program = Program::kPerftest,
       .certainty = Certainty::kLikely,
       .title = "A software NIC (rxe, siw) cannot be added to this interface",
       .texts = {general("rxe_newlink"),
                 general("rdma_rxe: && {fails}"),
                 general("rdma_rxe: not"),
                 general("rdma link add && {fails}"),
                 general("rxe_cfg && {fails}"),
                 general("siw: && {fails}"),
                 {"rxe creation allowed on top of a real device"},
                 {"rxe: already configured on {word}"},
                 general("Failed to add RDMA link"),
                 general("RTNETLINK && rdma link"),
                 general("rxe_add && {fails}"),
                 general("rdma: error: ")},
       .cause =
           "The interface is down, is a bridge, bond or virtual interface that rxe does not take, "
           "has one already, or the modules `rdma_rxe` and `ib_uverbs` are not there for this "
           "kernel. A software NIC moves host memory only: no GPUDirect RDMA.",
       .consequence = "No RDMA device appears.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`sudo modprobe rdma_rxe`; `ip -br link`; `sudo rdma link add rxe0 type rxe netdev "
           "INTERFACE`; `rdma link`",
       .fix_for_good = "",
       .sources = {{"https://man7.org/linux/man-pages/man8/rdma-link.8.html", Stated::kFix}},
       .explains = {"nic-driver-error"}},
      {.id = "mpi-network",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "MPI could not start, or lost, its network layer (UCX, OFI, openib)",
       .texts = {last("pml_ucx{}{fails}"),
                 // MVAPICH.
                 last("[{word}:mpi_rank_{number}]{}{fails}"), last("mtl_ofi{}{fails}"),
                 last("btl_openib{}{fails}"), last("btl_ofi{}{fails}"), last("btl_uct{}{fails}"),
                 last("osc_ucx{}{fails}"), last("pml_ucx{}Error:"), last("PML add procs failed"),
                 last("MPI_INIT failed for some reason"), last("pml_ucx{}worker"),
                 last("MPIDI_OFI_{}failed"), last("MPIDI_UCX_{}failed"),
                 last("OFI {word} failed ("), last("OFI endpoint open failed"),
                 last("UCX {}failed with status"),
                 last("ucx function returned with failed status")},
       .cause =
           "The layer below MPI failed and said why in lines of its own (UCX ERROR, libfabric, "
           "verbs) before this one; or MPI was built without it, or is told to use one that "
           "is not there.",
       .consequence = "The job stops, or goes over TCP.",
       .checks = {"mpi-ucx", "rdma-nics", "locked-memory"},
       .fix_now =
           "`UCX_LOG_LEVEL=info` or `FI_LOG_LEVEL=warn` in the environment of a run, and its "
           "whole output to `gdr explain`; `ompi_info | grep -E 'ucx|ofi'`; `ucx_info -d`; "
           "`fi_info`",
       .fix_for_good = "",
       .sources = {{"https://docs.open-mpi.org/en/main/tuning-apps/networking/index.html",
                    Stated::kCause}},
       .explains = {"verbs-call"}},
      {.id = "nic-driver-error",
       .program = Program::kKernel,
       .certainty = Certainty::kPossible,
       .title = "The NIC's driver reports a failure of its own in the kernel's log",
       .texts = {last("{nic-driver} && {fails}"), last("{nic-driver} && aborting"),
                 // Azure numbers its PCI domains otherwise than 0000.
                 last("mana {word}:{word}:{word}: && {fails}"),
                 last("mana {word}:{word}:{word}: && timed out"), last("{nic-driver} && timed out"),
                 last("{nic-driver} && timeout"),

                 last("nvidia-peermem && {fails}"), last("nvidia_peermem && {fails}")},
       // Broadcom's driver says so of a NIC that is well.
       .unless = {"Error recovery info:"},
       .cause =
           "The words behind the driver's name say what it wanted. Mostly: a firmware older or "
           "newer than the driver, too few interrupts, queues or addresses for this function "
           "(many virtual functions, a small virtual machine), or a NIC that was reset or "
           "does not answer. A feature that the driver goes on without is harmless.",
       .consequence = "This function of the NIC is missing or lacks a feature.",
       .checks = {"rdma-nics", "nic-firmware", "port-state"},
       .fix_now =
           "`sudo dmesg -T | grep -E 'mlx5|bnxt|irdma|efa|ib_' | head -40`; the first line of "
           "them counts; `rdma link`; `ethtool -i INTERFACE`",
       .fix_for_good = "Driver and firmware of one release, as the card's vendor pairs them.",
       .sources = {{"https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/"
                    "index.html",
                    Stated::kCause}},
       .explains = {"verbs-call"}},
  };
  return table;
}

}  // namespace gdr::explain

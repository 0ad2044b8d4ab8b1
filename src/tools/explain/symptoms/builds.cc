// Programs and modules whose parts do not fit: built without RDMA, for another interface of the
// kernel, under another licence; and what they check themselves.
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& build_symptoms() {
  static const Symptoms table = {
      {.id = "built-without-rdma",
       .program = Program::kTransfer,
       .certainty = Certainty::kLikely,
       .title = "The program was built without RDMA",
       .texts = {{"unsupported van type: 1"},
                 {"NVMe trtype {number} {}not available"},
                 {"Transport type 'RDMA' unavailable"},
                 {"Transport type RDMA unavailable"},
                 {"RDMA transport is not available"},
                 general("built without RDMA"),
                 general("built without {}verbs support"),
                 general("compiled without RDMA"),
                 general("compiled without {}ibverbs"),
                 general("not compiled with RDMA"),
                 general("not built with RDMA"),
                 general("RDMA support is not compiled"),
                 general("RDMA support not compiled"),
                 general("RDMA support is not enabled"),
                 general("RDMA is not supported in this build"),
                 general("without RDMA support"),
                 general("{fails} && unknown transport{}rdma"),
                 general("{fails} && unsupported transport{}rdma"),
                 general("engine rdma not loadable")},
       .cause =
           "RDMA is an option of its build (SPDK: `--with-rdma`, trtype 1; Ceph, brpc, fio and "
           "others: the headers of libibverbs and librdmacm must be there when it is built), "
           "or its plugin for RDMA is another package. No NIC has been asked yet.",
       .consequence = "The program has no RDMA transport, whatever the host has.",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo apt-get install libibverbs-dev librdmacm-dev`; then build it again with "
                  "RDMA (SPDK: `./configure --with-rdma`; and `make`), or install its RDMA "
                  "plugin's package",
       .fix_for_good = "",
       .sources = {{"https://github.com/spdk/spdk/issues/145", Stated::kCauseAndFix}},
       .explains = {"rdma-storage", "verbs-call"}},
      {.id = "rdma-headers-absent",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "A program cannot be built: RDMA's headers or libraries are not found",
       .texts = {general("cannot find -libverbs"),
                 general("cannot find -lrdmacm"),
                 general("cannot find -lmlx5"),
                 general("cannot find -lucp"),
                 general("cannot find -lfabric"),
                 {"infiniband/{word}.h: No such file"},
                 {"infiniband/{word}.h' file not found"},
                 {"rdma/{word}.h: No such file"},
                 {"rdma/{word}.h' file not found"},
                 {"checking for infiniband/verbs.h... no"},
                 {"checking for ibv_{word} in -libverbs... no"},
                 {"No package 'libibverbs' found"},
                 {"No package 'librdmacm' found"},
                 {"configure: error: {}ibverbs"},
                 {"configure: error: {}rdmacm"},
                 {"configure: error: libibumad not found"},
                 {"RDMACM requested but"},
                 {"devx requested but not found"},
                 {"EFA device support requested but"},
                 {"requested but IB/verbs support is not available"},
                 {"requested but MLX5, MLX5 MMO, DEVX, or RC support"},
                 {"Infiniband MAD library or headers not found"},
                 {"MLX5 provider not found"},
                 {"MLX5 Direct Verbs not found"},
                 {"IBVerbs not found. Install"},
                 {"Fail to find ibverbs"},
                 {"Not compiling with ibverbs support"},
                 {"--with-rdma requires libverbs"},
                 {"Could NOT find {}verbs"},
                 {"Could NOT find RDMA"},
                 {"Package libibverbs was not found"},
                 {"Package librdmacm was not found"},
                 {"Package libmlx5 was not found"},
                 {"Dependency 'libibverbs' not found"},
                 {"Dependency 'librdmacm' not found"},
                 {"custom build command for 'rdma-sys"},
                 {"please install libibverbs-dev"},
                 {"<infiniband/driver.h> not found"},
                 {"custom build command for 'rdma-mummy"},
                 {"custom build command for 'librdmacm"},
                 {"mlx5dv.h' file not found"},
                 {"infiniband/{word}.hpp: No such file"},
                 general("cannot find -libumad"),
                 general("cannot find -lefa")},
       .cause = "libibverbs and librdmacm themselves are there on most hosts; what the compiler "
                "needs (`infiniband/verbs.h`, `rdma/rdma_cma.h`, `libibverbs.so`) is in packages "
                "of their own, which are missing, or lie below another folder than the one that "
                "is searched (MLNX_OFED built for another distribution, a prefix of your own).",
       .consequence = "The program is not built, or built without RDMA.",
       .checks = {},
       .fix_now = "`sudo apt-get install libibverbs-dev librdmacm-dev`; Fedora, RHEL: `sudo dnf "
                  "install rdma-core-devel`; then configure and build anew",
       .fix_for_good = "",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/README.md", Stated::kFix}},
       .explains = {"library-version", "library-absent", "verbs-call"}},
      {.id = "provider-abi",
       .program = Program::kPerftest,
       .certainty = Certainty::kCertain,
       .title = "The NIC's user-space library and its kernel driver speak different versions (ABI)",
       .texts = {general("kernel ABI && provider"),
                 general("libibverbs ABI"),
                 {"does not support the kernel ABI of"},
                 {"kernel ABI version {number} doesn't match"},
                 {"kernel ABI version {number} does not match"},
                 {"Invalid userspace driver version detected"},
                 general("older libmlx5 && host"),
                 general("container && older rdma-core"),
                 general("image && older rdma-core"),
                 general("OFED && inside {}container && host && differ"),
                 general("OFED version {}container && host")},
       .cause = "rdma-core (libibverbs and its provider) and the kernel's driver are of different "
                "ages: the line names what each of them speaks. Mostly an image or a build of "
                "one's own beside an old kernel, or MLNX_OFED's or a vendor's library beside the "
                "kernel's own driver.",
       .consequence = "libibverbs leaves this NIC out.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`uname -r`; `dpkg -l rdma-core libibverbs1 ibverbs-providers`; then rdma-core of "
           "the age of the kernel, or a newer kernel",
       .fix_for_good = "libibverbs with its providers and the kernel's driver of one source: both "
                       "of the distribution, or both of the card's vendor.",
       .sources = {{"https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/init.c",
                    Stated::kCause},
                   {"https://github.com/SoftRoCE/rxe-dev/issues/74", Stated::kSymptom}},
       .explains = {"no-rdma-device", "no-rdma-provider", "queue-invalid"}},
      {.id = "module-proprietary",
       .program = Program::kModules,
       .certainty = Certainty::kCertain,
       .title = "The kernel lets no GPL module use NVIDIA's proprietary module",
       .texts = {{"module using GPL-only symbols uses symbols {}from proprietary module nvidia"},
                 {"module using GPL-only symbols uses symbols from proprietary module"}},
       .cause =
           "The line's first word (nvidia-fs, or another module under the GPL) wants symbols of "
           "the GPU's driver, which is loaded in its proprietary flavour. Linux 5.9 and later "
           "refuse that.",
       .consequence = "That module does not load.",
       .checks = {"gpu-driver"},
       .fix_now = "`modinfo -F license nvidia`; Dual MIT/GPL is the open flavour: install that in "
                  "place of the proprietary one (Turing and later GPUs), or an older release of "
                  "the module that is made for the proprietary one",
       .fix_for_good = "NVIDIA's open kernel modules (`nvidia-open`) on this host.",
       .sources = {{"https://github.com/torvalds/linux/blob/master/kernel/module/main.c",
                    Stated::kCause},
                   {"https://github.com/NVIDIA/gds-nvidia-fs/issues/41", Stated::kSymptom}},
       .explains = {"peermem-gpu-symbols", "gpudirect-storage", "gdrcopy-absent",
                    "peermem-not-found"}},
      {.id = "rxe-crc",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "Soft-RoCE (rxe) does not find the kernel's crc32",
       .texts = {{"failed to allocate crc algorithm"}, {"failed to init crc32 algorithm"}},
       .cause = "rxe checks its packets with the kernel's crypto module crc32, and that is neither "
                "built in nor loadable here (a small kernel or initramfs). Error -2 is: no such "
                "algorithm.",
       .consequence = "No rxe device appears.",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo modprobe crc32_generic`; `sudo modprobe rdma_rxe`",
       .fix_for_good = "The kernel with `CONFIG_CRYPTO_CRC32`, and the module in the initramfs.",
       .sources = {{"https://github.com/rapido-linux/rapido/issues/138", Stated::kCauseAndFix},
                   {"https://github.com/torvalds/linux/blob/v6.1/drivers/infiniband/sw/rxe/"
                    "rxe_icrc.c",
                    Stated::kCause}},
       .explains = {"soft-roce"}},
      {.id = "rdma-mtu",
       .program = Program::kKernel,
       .certainty = Certainty::kCertain,
       .title = "The interface's MTU is too small for RDMA",
       .texts = {{"MTU setting [{number}] too low for RDMA"}},
       .cause = "Packets of RDMA need at least 576 bytes with IPv4 and 1280 with IPv6 "
                "(irdma says so when the MTU of its interface is set).",
       .consequence = "RDMA over this interface does not work.",
       .checks = {"rdma-nics"},
       .fix_now =
           "`ip -br link`; `sudo ip link set dev INTERFACE mtu 9000`; with the same value on "
           "the other hosts and the switch",
       .fix_for_good = "",
       .sources = {{"https://github.com/torvalds/linux/blob/master/drivers/infiniband/hw/irdma/"
                    "main.c",
                    Stated::kCause}},
       .explains = {"nic-driver-error"}},
      {.id = "deepep-assertion",
       .program = Program::kTransfer,
       .certainty = Certainty::kPossible,
       .title = "DeepEP stops at a check of its own: this number of ranks, sizes or buffers",
       .texts = {{"Assertion error {}deep_ep"},
                 {"Assertion error {}DeepEP"},
                 {"EPException: Assertion error"},
                 {"Assertion error {}internode"},
                 {"Assertion error {}intranode"},
                 {"Failed: Assertion error {}.cu:"}},
       .cause =
           "The condition in quotes is what does not hold: most are about the shapes and types of "
           "the tensors that the program hands over. 'Unsupported hidden': a size for which no "
           "kernel was built. 'low_latency_mode': the buffer was created without it.",
       .consequence = "The program stops; RDMA and its drivers are not concerned.",
       .checks = {},
       .fix_now = "`nvidia-smi -L`; then as many ranks as DeepEP wants, 8 on each host, or "
                  "`low_latency_mode=True`; buffers by `get_rdma_size_hint` and "
                  "`get_nvl_size_hint`",
       .fix_for_good = "",
       .sources = {{"https://github.com/deepseek-ai/DeepEP/issues/104", Stated::kCause},
                   {"https://github.com/deepseek-ai/DeepEP/blob/main/csrc/deep_ep.cpp",
                    Stated::kCause}},
       .explains = {}},
      {.id = "library-crash",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "The program crashed inside a library of RDMA or MPI: its backtrace names which",
       .texts = {{"Segmentation fault", 1, Scope::kLast},
                 {"SIGSEGV", 1, Scope::kLast},
                 {"Caught signal 11", 1, Scope::kLast},
                 {"Signal: Bus error", 1, Scope::kLast},
                 {"mca_btl_{word}(", 2, Scope::kLast},
                 {"mca_pml_{word}(", 2, Scope::kLast},
                 {"mca_osc_{word}(", 2, Scope::kLast},
                 {"mca_mtl_{word}(", 2, Scope::kLast},
                 {"mca_coll_{word}(", 2, Scope::kLast},
                 // libucs is in each: it prints them.
                 {"libucp.so{word}(", 2, Scope::kLast},
                 {"libuct.so{word}(", 2, Scope::kLast},
                 {"libibverbs{word}(", 2, Scope::kLast},
                 {"libmlx5{word}(", 2, Scope::kLast},
                 {"librdmacm{word}(", 2, Scope::kLast},
                 {"libfabric{word}(", 2, Scope::kLast},
                 {"libnvshmem{word}(", 2, Scope::kLast},
                 {"libnccl{word}(", 2, Scope::kLast}},
       .cause = "The frame nearest to the crash whose library is one of these says where to look: "
                "mca_btl_openib: Open MPI's old transport, which it may take by itself for "
                "one-sided calls; libucp, libuct: UCX; libmlx5: the NIC's library. Mostly a GPU "
                "pointer given to a build without CUDA, two releases of one library, or a bug of "
                "that release.",
       .consequence = "The program ends.",
       .checks = {"mpi-ucx"},
       .fix_now =
           "`mpirun --mca pml ucx --mca osc ucx --mca btl ^openib PROGRAM`; where openib is in "
           "the backtrace; `ldd PROGRAM | grep -E 'ucp|ibverbs|mlx5|fabric|nccl'`; one of "
           "each, as new as the program wants",
       .fix_for_good = "",
       .sources = {{"https://github.com/open-mpi/ompi/issues/7107", Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "mpi-ucc",
       .program = Program::kMpi,
       .certainty = Certainty::kPossible,
       .title = "Open MPI leaves UCC or HCOLL (collectives) out",
       .texts = {{"[LOG_CAT_ML]"},
                 {"[LOG_CAT_P2P]"},
                 {"ml_discover_hierarchy exited with error"},
                 general("UCC library doesn't support"),
                 general("coll_ucc_{word} && {fails}"),
                 general("coll_ucc{}Error:"),
                 last("ucc_{word} && {fails}"),
                 last("UCC ERROR"),
                 last("hcoll && {fails}"),
                 last("{fails} && UCC {word} init")},
       .cause = "The UCC that is found was built without what this MPI asks for "
                "(MPI_THREAD_MULTIPLE: UCC is configured with `--enable-mt` by default since 1.0), "
                "or one of its own layers (tl_ucp, tl_nccl, tl_sharp) does not start: its lines "
                "before this one say why. HCOLL's `ucx_p2p is not available`: `UCX_TLS` leaves it "
                "no network transport.",
       .consequence =
           "Collectives go by MPI's own code: correct, perhaps slower. GPUDirect RDMA is "
           "not concerned.",
       .checks = {},
       .fix_now = "`mpirun --mca coll_ucc_enable 0 PROGRAM`; goes on without the message; "
                  "`ucc_info -v`",
       .fix_for_good = "UCC and MPI of one release (HPC-X), or UCC built with threads.",
       .sources = {{"https://github.com/NVIDIA/TensorRT-LLM/issues/4668", Stated::kSymptom}},
       .explains = {}},
  };
  return table;
}

}  // namespace gdr::explain

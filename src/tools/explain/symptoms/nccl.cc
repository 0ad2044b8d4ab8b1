// NCCL works, but does not use GPUDirect RDMA. What each connection of a log says is the work of
// `gdr nccl check`; here are the texts that people search for.
#include "explain/symptoms/advice.h"
#include "explain/symptoms/tables.h"

namespace gdr::explain {

const Symptoms& nccl_symptoms() {
  static const Symptoms table = {
      {.id = "nccl-no-peer-memory",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "NCCL leaves GPUDirect RDMA out: the NIC cannot register GPU memory",
       .texts = {general("not seeing && GDRDMA"),
                 general("not && NET/IB/{number}/GDRDMA && GPUDirect"),
                 general("GDRDMA && is not used"),
                 {"NET/IB{}GPU Direct RDMA Disabled for HCA {number} '{word}'"},
                 {"NET/IB{}GPU Direct RDMA Disabled for HCA {word}"},
                 {"GPU Direct RDMA Disabled for HCA {number} 'mlx"},
                 {"GPU Direct RDMA (nvidia-peermem){}disabled"},
                 {"GPUDirect RDMA{}disabled for HCA"}},
       .cause =
           "Neither is the module `nvidia-peermem` loaded, nor can the NIC's driver import the "
           "GPU's memory as a dma-buf. NCCL before 2.23 says the same with the module loaded where "
           "the kernel has no `/sys/kernel/mm/memory_peers` (Linux 6.4 and later).",
       .consequence = "Every transfer is copied through host memory; bandwidth between hosts is a "
                      "fraction of what the NIC can do. Nothing fails.",
       .checks = {"peer-memory", "registration-path"},
       .fix_now = kLoadPeermem,
       .fix_for_good = "`sudo gdr fix peer-memory --persist --apply`; or NVIDIA's open kernel "
                       "modules (515 or later), with which dma-buf needs no such module",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1343", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/897", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1412", Stated::kCauseAndFix}},
       .explains = {}},
      {.id = "nccl-before-peermem",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "This NCCL does not see the peer-memory module that is loaded",
       .texts = {{"GPU Direct RDMA Disabled for HCA {number} '{word}'", 1},
                 {"nvidia_peermem {number} {number}", 2},
                 {"/sys/kernel/mm/memory_peers/nv_mem{}version: No such file", 2}},
       .unless = {"memory_peers/amdkfd"},
       .cause = "NCCL up to 2.22 looks for the module in `/sys/kernel/mm/memory_peers` only, which "
                "kernels from 6.4 on and the inbox RDMA drivers do not have; it does not look in "
                "`/sys/module/nvidia_peermem`. perftest works meanwhile.",
       .consequence = "GPUDirect RDMA is left out although the host has it; one report went from "
                      "180 to 10 GB/s.",
       .checks = {"nccl-version", "peer-memory"},
       .fix_now = "Use NCCL 2.23 or later (in PyTorch: `torch.cuda.nccl.version()` shows which).",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1676", Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/1537", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl/issues/1939", Stated::kSymptom}},
       .explains = {"nccl-no-peer-memory"}},
      {.id = "nccl-distance",
       .program = Program::kNccl,
       .certainty = Certainty::kCertain,
       .title = "GPU and NIC are farther apart than NCCL allows",
       .texts = {{"GDRDMA is disabled on GH200"},
                 {"GDRDMA && disabled && GB200"},
                 {"GPU Direct RDMA Disabled for GPU{}(distance {number} > {number})"},
                 {"GPU Direct RDMA Disabled for GPU{}(distance {number} >= {number})"},
                 {"GPU Direct RDMA Disabled for GPU{}distance"}},
       .cause = "NCCL uses GPUDirect RDMA only between a GPU and a NIC below the same PCIe "
                "switches (PIX, PXB); this pair meets in a CPU or on two sockets.",
       .consequence = "These transfers are copied through host memory. Forced over the CPU they "
                      "may be slower still: CPUs forward PCIe traffic badly.",
       .checks = {"pair-grade"},
       .fix_now = "Let each GPU use its own NIC: `gdr topo`, then `NCCL_IB_HCA`; or allow the "
                  "distance with `NCCL_NET_GDR_LEVEL=SYS` and measure both.",
       .fix_for_good = "Put GPU and NIC below one PCIe switch; in virtual machines give NCCL the "
                       "provider's `NCCL_TOPO_FILE`.",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/1151", Stated::kCauseAndFix},
                   {"https://github.com/linux-rdma/perftest/issues/241", Stated::kSymptom}},
       .explains = {}},
      {.id = "nccl-no-libibverbs",
       .program = Program::kNccl,
       .certainty = Certainty::kPossible,
       .title = "NCCL finds no libibverbs: it cannot use any InfiniBand or RoCE NIC",
       .texts = {{"Failed to open libibverbs.so"},
                 {"Count not open libibverbs.so.1"},
                 {"libibverbs not found on the system"},
                 {"Unable to dlopen libibverbs"},
                 {"libibverbs.so.1: cannot open shared object file"},
                 {"libibverbs.so: cannot open shared object file"},
                 {"librdmacm.so.1: cannot open shared object file"}},
       .cause = "The library is not installed where the program runs, mostly a container image "
                "without rdma-core. Harmless on a single host without a NIC.",
       .consequence = "NCCL goes over TCP sockets.",
       .checks = {"rdma-nics"},
       .fix_now = "`sudo apt-get install libibverbs1 ibverbs-providers`",
       .fix_for_good = "Add both packages to the container image (Fedora: libibverbs).",
       .sources = {{"https://github.com/NVIDIA/nccl/issues/573", Stated::kSymptom},
                   {"https://github.com/kubeflow/trainer/issues/1168", Stated::kSymptom}},
       .explains = {}},
      {.id = "nccl-data-direct",
       .program = Program::kNccl,
       .certainty = Certainty::kPossible,
       .title = "NCCL finds no Data Direct interface of the NIC",
       .texts = {{"mlx5dv_{}get_data_direct_sysfs_path failed"},
                 {"dlvsym failed on mlx5dv_"},
                 {"undefined symbol: mlx5dv_get_data_direct_sysfs_path"}},
       .cause = "Data Direct is a feature of ConnectX-8 with a library as new (rdma-core 54). "
                "Other NICs and older libraries lack it, and NCCL goes on without: the line by "
                "itself explains nothing. In a virtual machine that is slow, look at ATS instead.",
       .consequence = "None, except on ConnectX-8 systems that are built for it. In virtual "
                      "machines peer-to-peer traffic takes the way through the CPU unless the host "
                      "has ATS on and ACS direct translation set.",
       .checks = {"virtualisation", "ats"},
       .fix_now = "In a virtual machine, on its host: `mlxconfig -d DEVICE set ATS_ENABLED=true`, "
                  "and restart the host.",
       .fix_for_good = "",
       .sources = {{"https://docs.nvidia.com/ai-enterprise/planning-resource/"
                    "optimizing-vm-configuration-ai-inference/latest/appendix.html",
                    Stated::kFix},
                   {"https://github.com/NVIDIA/nccl/issues/1866", Stated::kSymptom}},
       .explains = {}},
      {.id = "ofi-no-gpu-memory",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "libfabric or its NCCL plugin leaves GPUDirect RDMA out",
       .texts = {{"Libfabric provider does not support device buffers"},
                 {"FI_HMEM capability requires RDMA, which this device does not support"},
                 {"Could not disable CUDA API usage for HMEM, disabling GDR"},
                 {"Failed to register CUDA buffer with the EFA device"},
                 {"FI_HMEM transfers that require peer to peer support will fail"},
                 {"FI_HMEM_CUDA P2P support is not available"},
                 {"GDR disabled on GDR-supported instance type"},
                 {"GDR support reported to NCCL but then couldn't be configured"},
                 {"vrb_check_hints{}Unsupported capabilities"},
                 {"Requested: {}FI_HMEM", 1},
                 {"Unsupported capabilities", 2},
                 {"HG_OPNOTSUPPORTED && CUDA"},
                 {"NET/OFI{}GDR {}disabled"},
                 {"efa_nv_peermem{}{fails}"},
                 {"<warn> Hmem iface FI_HMEM_CUDA not supported"},
                 {"MR registration with HMEM failed"},
                 {"fi_mr_regattr (heap) failed"},
                 {"external_heap{}{fails}"},
                 general("FI_HMEM && not supported"),
                 general("FI_HMEM && {fails}"),
                 general("with HMEM && {register} && {fails}"),
                 {"HMEM support && not"},
                 general("cuda_hmem_{word}{}{fails}"),
                 {"does not support FI_HMEM"},
                 {"p2p {}not supported && hmem"},
                 {"P2P disabled{}hmem"}},
       .cause =
           "This EFA device, or the libfabric that is installed, cannot reach GPU memory: of "
           "Amazon's instance types only those with RDMA over EFA can, with `efa_nv_peermem` "
           "or dma-buf; other providers only when libfabric was built for this kind of GPU (CUDA, "
           "ROCm, Level Zero) and the NIC's driver takes its dma-buf (-38 and -95: it does "
           "not).",
       .consequence = "Every transfer is copied through host memory.",
       .checks = {"rdma-nics"},
       .fix_now = "`fi_info -p efa -c FI_HMEM`; `lsmod | grep efa`; an instance type whose EFA "
                  "supports RDMA reads (p4d, p5 and later), with the libfabric and plugin of the "
                  "current EFA installer",
       .fix_for_good = "",
       .sources = {{"https://github.com/aws/aws-ofi-nccl/issues/161", Stated::kSymptom},
                   {"https://github.com/NVIDIA/nccl-tests/issues/245", Stated::kSymptom}},
       .explains = {}},
      {.id = "nccl-mixed-links",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "NCCL was to connect InfiniBand with RoCE, or NICs of different kinds",
       .texts = {{"Attempted to connect incompatible devices"},
                 {"Attempted to merge incompatible devices"},
                 {"device is incompatible with the local"},
                 {"Try selecting NICs of only one link"},
                 {"NET/IB : Using && :1/IB && :1/RoCE", 1},
                 {"ibv_modify_qp && {fails}", 2}},
       .cause = "One rank's NIC has the link layer InfiniBand and the other's Ethernet: NCCL takes "
                "all NICs that are up unless it is told otherwise.",
       .consequence = "The program stops when it connects.",
       .checks = {"rdma-nics", "port-state"},
       .fix_now =
           "`ibv_devinfo | grep -E 'hca_id|link_layer'`; then `NCCL_IB_HCA` with those of one "
           "kind, on every host",
       .fix_for_good = "",
       .sources = {{"https://github.com/NVIDIA/nccl/blob/master/src/transport/net_ib/connect.cc",
                    Stated::kCauseAndFix},
                   {"https://github.com/NVIDIA/nccl/issues/302", Stated::kSymptom}},
       .explains = {"qp-values", "qp-timed-out", "qp-not-connected", "nccl-warning"}},
      {.id = "amd-peer-memory",
       .program = Program::kNccl,
       .certainty = Certainty::kLikely,
       .title = "AMD GPU: its memory cannot be registered (no peer memory in amdgpu, no dma-buf)",
       .texts = {{"memory_peers/amdkfd/version"},
                 {"amdgpu_peermem && {fails}"},
                 {"amdgpu_peermem && not loaded"},
                 general("RegisterRdmaMemoryRegion failed"),
                 {"Dmabuf feature disabled without NCCL_DMABUF_ENABLE=1", 1},
                 {"GPU Direct RDMA Disabled for HCA", 2},
                 {"ROCm && {register} && {fails}"},
                 {"HIP dmabuf MR registration disabled"},
                 {"RCCL version", 3},
                 {"GPU Direct RDMA Disabled for HCA", 4},
                 {"librccl", 5},
                 {"GPU Direct RDMA Disabled for HCA", 6}},
       .cause =
           "RCCL and others look for amdgpu's peer memory, which only AMD's dkms driver beside "
           "MLNX_OFED or DOCA-OFED has; the kernel's own amdgpu goes by dma-buf, which has to "
           "be asked for. `nvidia-peermem` has nothing to do with it. Invalid argument (22) with "
           "either "
           "in place: the NIC refuses a right that was asked for, as AMD's Pensando (ionic) does "
           "with remote atomics.",
       .consequence = "Transfers are copied through host memory, or the program stops.",
       .checks = {},
       .fix_now = "`NCCL_DMABUF_ENABLE=1` (RCCL), `MORI_ENABLE_DMABUF_REG=1` (MORI); "
                  "`zgrep -E 'CONFIG_(PCI_P2PDMA|DMABUF_MOVE_NOTIFY)=' /proc/config.gz "
                  "/boot/config-$(uname -r)`",
       .fix_for_good =
           "A kernel with `CONFIG_PCI_P2PDMA` and `CONFIG_DMABUF_MOVE_NOTIFY`, or AMD's "
           "amdgpu-dkms installed after the RDMA drivers.",
       .sources = {{"https://github.com/ROCm/mori/pull/481", Stated::kCauseAndFix},
                   {"https://github.com/ROCm/amdgpu/issues/102", Stated::kCause}},
       .explains = {"nccl-no-peer-memory", "mr-refused", "mr-invalid-argument", "mr-bad-address"}},
  };
  return table;
}

}  // namespace gdr::explain

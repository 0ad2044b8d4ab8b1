// Applies to a judgement what this host has and what is set on it: the driver half, NICs, variables
// of UCX.
#include <fmt/format.h>

#include "base/environment.h"
#include "mpi/judge.h"

namespace gdr::mpi {
namespace {

// UCX before this version looks for peer memory in /sys/kernel/mm/memory_peers only.
constexpr Version kFindsModule{1, 18, 0};
// UCX before this version registers no dma-bufs.
constexpr Version kDmaBuf{1, 14, 0};

// Makes staged of direct, for the verdict and for the one with the settings.
void lower(Judgement& judgement, const std::string& why) {
  if (judgement.with_settings == Verdict::kDirect) judgement.with_settings = Verdict::kStaged;
  if (judgement.verdict == Verdict::kDirect) {
    judgement.verdict = Verdict::kStaged;
    judgement.why.insert(judgement.why.begin(), why);
  } else {
    judgement.notes.push_back(why);
  }
}

void apply_to_ucx(const Ucx& ucx, const DriverHalf& half, Judgement& judgement) {
  const Version version = parse_version(ucx.version);
  if (!version.known() || !half.driver_loaded) return;
  const bool module = !half.peer_module.empty();
  const bool sees_module = half.memory_peers || (module && version >= kFindsModule);
  const bool uses_dma_buf = half.dma_buf != Tri::kNo && version >= kDmaBuf;
  if (sees_module || uses_dma_buf) return;
  if (module) {
    lower(judgement,
          fmt::format(
              "UCX {} looks for peer memory in /sys/kernel/mm/memory_peers only, which is not "
              "there, so it does not see {}.",
              ucx.version, half.peer_module));
    judgement.steps.push_back(
        {"use UCX 1.18 or later, which looks in /sys/module/nvidia_peermem, too", {}});
  } else {
    lower(
        judgement,
        fmt::format("UCX {} uses no dma-buf (UCX does from 1.14 on), and no peer-memory module is "
                    "loaded.",
                    ucx.version));
    judgement.steps.push_back(
        {"load a peer-memory module", text::Command("sudo modprobe nvidia-peermem")});
  }
}

// UCX_TLS names the transports that may be used, or, behind a '^', those that may not.
bool leaves_out_cuda(const std::string& transports) {
  if (transports.empty()) return false;
  const bool excludes = transports.front() == '^';
  bool cuda = false, all = false;
  const std::string names = transports.substr(excludes ? 1 : 0);
  for (const std::string_view name : split(names, ',')) {
    cuda |= name == "cuda" || name == "cuda_copy" || name == "\\cuda_copy";
    all |= name == "all";
  }
  return excludes ? cuda : !cuda && !all;
}

void apply_variables(const Variables& variables, Judgement& judgement) {
  const auto value_of = [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
  const Verdict before = judgement.verdict;
  const std::string transports = value_of("UCX_TLS"), direct = value_of("UCX_IB_GPU_DIRECT_RDMA");
  if (before != Verdict::kDirect && before != Verdict::kStaged) return;
  if (leaves_out_cuda(transports)) {
    judgement.verdict = Verdict::kNone;
    judgement.why.insert(
        judgement.why.begin(),
        "UCX_TLS is '" + transports +
            "', which leaves cuda_copy out: UCX takes a GPU pointer for host memory.");
    judgement.settings.push_back(
        {"let UCX choose, or add cuda_copy and cuda_ipc", text::Command("unset UCX_TLS")});
  } else if (before == Verdict::kDirect && (direct == "n" || direct == "no" || direct == "0")) {
    judgement.verdict = Verdict::kStaged;
    judgement.why.insert(judgement.why.begin(),
                         "UCX_IB_GPU_DIRECT_RDMA is '" + direct + "', which switches it off.");
    judgement.settings.push_back({"switch it on", text::Command("unset UCX_IB_GPU_DIRECT_RDMA")});
  } else {
    return;
  }
  judgement.with_settings = before;
}

// Before it had UCX, and in MVAPICH2, GPU memory is registered by its address alone.
bool needs_peer_module(const Installation& one, const Judgement& judgement) {
  return one.family == Family::kMvapich ? one.device.starts_with("ch3")
                                        : judgement.transport.ends_with("btl openib");
}

// pml ucx puts itself first only where one of its own devices is there.
void apply_nics(const Installation& one, const DriverHalf& half, Judgement& judgement) {
  const bool by_itself = judgement.transport.starts_with("pml ucx") &&
                         one.parameter("pml").empty() && one.parameter("pml_ucx_devices") == "mlx*";
  if (!by_itself || !half.rdma_nic || half.mellanox_nic) return;
  const Verdict before = judgement.with_settings;
  lower(judgement,
        "pml_ucx_devices is 'mlx*', and no RDMA NIC of this host is such a one: pml ob1 "
        "comes first and copies through host memory.");
  judgement.settings.push_back({"choose UCX", text::Command("mpirun --mca pml ucx")});
  judgement.with_settings = before;
}

void apply_driver_half(const Installation& one, const DriverHalf& half, Judgement& judgement) {
  if (judgement.verdict != Verdict::kDirect && judgement.with_settings != Verdict::kDirect) return;
  if (half.is_missing()) {
    lower(judgement, "This host's driver half is missing: no dma-buf (" + half.why_no_dma_buf +
                         ") and no peer-memory module is loaded.");
    judgement.steps.push_back(
        {half.remedy.empty() ? std::string("load a peer-memory module") : half.remedy,
         text::Command("gdr doctor --only registration-path,peer-memory")});
    return;
  }
  if (half.driver_loaded && half.peer_module.empty() && needs_peer_module(one, judgement)) {
    lower(judgement, "It knows no dma-buf, and no peer-memory module is loaded.");
    judgement.steps.push_back(
        {"load a peer-memory module", text::Command("sudo modprobe nvidia-peermem")});
    return;
  }
  if (one.ucx) apply_to_ucx(*one.ucx, half, judgement);
  apply_nics(one, half, judgement);
  if (half.gpu && !half.rdma_nic) {
    judgement.notes.push_back(
        "This host has no RDMA NIC, so here its programs use TCP, which copies through host "
        "memory.");
  }
}

}  // namespace

void apply_host(const Installation& one, const DriverHalf& half, const Variables& variables,
                Judgement& judgement) {
  if (judgement.transport.find("UCX") != std::string::npos) apply_variables(variables, judgement);
  apply_driver_half(one, half, judgement);
}

}  // namespace gdr::mpi

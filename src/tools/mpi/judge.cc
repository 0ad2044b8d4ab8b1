#include "mpi/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/environment.h"

namespace gdr::mpi {
namespace {

// UCX before this version looks for peer memory in /sys/kernel/mm/memory_peers only.
constexpr Version kFindsModule{1, 18, 0};
// UCX before this version registers no dma-bufs.
constexpr Version kDmaBuf{1, 14, 0};

void lower(Judgement& judgement, Verdict verdict, const std::string& why) {
  if (judgement.verdict != Verdict::kDirect) return;
  judgement.verdict = verdict;
  judgement.why.insert(judgement.why.begin(), why);
}

void apply_to_ucx(const Ucx& ucx, const DriverHalf& half, Judgement& judgement) {
  const Version version = parse_version(ucx.version);
  if (!version.known() || !half.driver_loaded) return;
  const bool module = !half.peer_module.empty();
  const bool sees_module = half.memory_peers || (module && version >= kFindsModule);
  const bool uses_dma_buf = half.dma_buf != Tri::kNo && version >= kDmaBuf;
  if (sees_module || uses_dma_buf) return;
  if (module) {
    lower(judgement, Verdict::kStaged,
          fmt::format(
              "UCX {} looks for peer memory in /sys/kernel/mm/memory_peers only, which is not "
              "there, so it does not see {}.",
              ucx.version, half.peer_module));
    judgement.steps.push_back(
        {"use UCX 1.18 or later, which looks in /sys/module/nvidia_peermem, too", ""});
  } else {
    lower(
        judgement, Verdict::kStaged,
        fmt::format("UCX {} uses no dma-buf (UCX does from 1.14 on), and no peer-memory module is "
                    "loaded.",
                    ucx.version));
    judgement.steps.push_back({"load a peer-memory module", "sudo modprobe nvidia-peermem"});
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
        {"let UCX choose, or add cuda_copy and cuda_ipc", "unset UCX_TLS"});
  } else if (before == Verdict::kDirect && (direct == "n" || direct == "no" || direct == "0")) {
    judgement.verdict = Verdict::kStaged;
    judgement.why.insert(judgement.why.begin(),
                         "UCX_IB_GPU_DIRECT_RDMA is '" + direct + "', which switches it off.");
    judgement.settings.push_back({"switch it on", "unset UCX_IB_GPU_DIRECT_RDMA"});
  } else {
    return;
  }
  judgement.with_settings = before;
}

void apply_driver_half(const Installation& one, const DriverHalf& half, Judgement& judgement) {
  const bool direct =
      judgement.verdict == Verdict::kDirect || judgement.with_settings == Verdict::kDirect;
  if (!direct) return;
  if (half.is_missing()) {
    lower(judgement, Verdict::kStaged,
          "This host's driver half is missing: no dma-buf (" + half.why_no_dma_buf +
              ") and no peer-memory module is loaded.");
    if (judgement.with_settings == Verdict::kDirect) judgement.with_settings = Verdict::kStaged;
    judgement.steps.push_back(
        {half.remedy.empty() ? std::string("load a peer-memory module") : half.remedy,
         "gdr doctor --only registration-path,peer-memory"});
    return;
  }
  if (one.ucx) apply_to_ucx(*one.ucx, half, judgement);
  if (half.gpu && !half.rdma_nic) {
    judgement.notes.push_back(
        "This host has no RDMA NIC, so here its programs use TCP, which copies "
        "through host memory.");
  }
}

void add_gdrcopy(const Installation& one, const DriverHalf& half, Judgement& judgement) {
  if (!one.ucx || one.ucx->cuda != Tri::kYes) return;
  if (one.ucx->gdrcopy == Tri::kNo) {
    judgement.notes.push_back(
        "Its UCX has no GDRCopy (configure --with-gdrcopy, package ucx-gdrcopy): short GPU "
        "messages "
        "take longer.");
  } else if (one.ucx->gdrcopy == Tri::kYes && half.driver_loaded && !half.gdrdrv) {
    judgement.notes.push_back(
        "Its UCX has GDRCopy, but the kernel module gdrdrv is not loaded: sudo modprobe gdrdrv");
  }
}

Judgement judge_family(const Installation& one, const Variables& variables) {
  switch (one.family) {
    case Family::kOpenMpi:
      return judge_open_mpi(one, variables);
    case Family::kMpich:
      return judge_mpich(one, variables);
    case Family::kMvapich:
      // Version 3 and later are MPICH with changes.
      return one.device.starts_with("ch4") ? judge_mpich(one, variables)
                                           : judge_vendor(one, variables);
    case Family::kIntel:
    case Family::kCray:
      return judge_vendor(one, variables);
    case Family::kUnknown:
      break;
  }
  Judgement judgement;
  judgement.why.push_back("It did not say which MPI it is.");
  return judgement;
}

}  // namespace

const char* name_of(Verdict verdict) {
  constexpr const char* kNames[] = {"unknown", "none", "partial", "staged", "direct"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const char* title_of(Verdict verdict) {
  constexpr const char* kTitles[] = {"UNKNOWN", "NO GPU MEMORY", "GPU MEMORY IN PART",
                                     "STAGED THROUGH THE HOST", "GPUDIRECT RDMA"};
  return kTitles[static_cast<std::size_t>(verdict)];
}

const char* meaning_of(Verdict verdict) {
  constexpr const char* kMeanings[] = {
      "What it does with GPU memory cannot be told.",
      "A GPU pointer passed to it crashes the program.",
      "Sends and receives of plain GPU buffers work; reductions and derived datatypes crash.",
      "It takes GPU pointers, and copies the data through host memory.",
      "It takes GPU pointers, and the NIC reads and writes GPU memory directly."};
  return kMeanings[static_cast<std::size_t>(verdict)];
}

void judge_ucx(const Ucx& ucx, Judgement& judgement) {
  const std::string name = "UCX" + (ucx.version.empty() ? "" : " " + ucx.version);
  if (ucx.cuda == Tri::kUnknown) {
    judgement.why.push_back("Whether its " + name + " has CUDA is not known" +
                            (ucx.library.empty() ? ": no libucp.so was found for it." : "."));
    return;
  }
  if (ucx.cuda == Tri::kNo) {
    judgement.verdict = Verdict::kNone;
    judgement.why.push_back("Its " + name + " has no CUDA (" + ucx.why_cuda +
                            "): it takes a GPU pointer for host memory.");
    return;
  }
  if (ucx.network == Tri::kNo) {
    judgement.verdict = Verdict::kStaged;
    judgement.why.push_back(
        "Its " + name + " has CUDA, but no transport for InfiniBand or RoCE: only TCP is left.");
    return;
  }
  judgement.verdict = Verdict::kDirect;
  judgement.why.push_back("Its " + name + " has CUDA (" + ucx.why_cuda +
                          "): cuda_copy finds GPU pointers, and its InfiniBand and RoCE transports "
                          "register GPU memory.");
}

void add_ucx_steps(const Ucx& ucx, Judgement& judgement) {
  if (ucx.cuda == Tri::kNo) {
    judgement.steps.push_back(
        {"UCX with CUDA: the package ucx-cuda of the same version (DOCA-OFED, "
         "MLNX_OFED), or build UCX",
         "./configure --with-cuda=/usr/local/cuda --with-gdrcopy --with-verbs "
         "--enable-mt"});
  } else if (ucx.cuda == Tri::kYes && ucx.network == Tri::kNo) {
    judgement.steps.push_back({"UCX with InfiniBand and RoCE: the package ucx-ib, or build UCX",
                               "./configure --with-cuda=/usr/local/cuda --with-verbs --enable-mt"});
  }
}

Judgement judge(const Installation& one, const DriverHalf& half, const Variables& variables) {
  Judgement judgement = judge_family(one, variables);
  judgement.launch = launch_of(one);
  if (judgement.with_settings == Verdict::kUnknown) judgement.with_settings = judgement.verdict;
  if (judgement.transport.find("UCX") != std::string::npos) apply_variables(variables, judgement);
  apply_driver_half(one, half, judgement);
  if (judgement.settings.empty()) judgement.with_settings = judgement.verdict;
  add_gdrcopy(one, half, judgement);
  if (one.origin == "HPC-X" && !one.in_use && one.module.empty()) {
    const std::string home = folder_of(one.prefix);
    judgement.notes.push_back("It is used once it is loaded: . " + home +
                              "/hpcx-init.sh; hpcx_load");
  }
  if (!one.hung.empty()) {
    judgement.notes.insert(judgement.notes.begin(),
                           one.hung + " did not answer in time and was stopped.");
  }
  return judgement;
}

}  // namespace gdr::mpi

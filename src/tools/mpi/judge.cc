#include "mpi/judge.h"

#include <unistd.h>

#include "mpi/libraries.h"
#include "text/command.h"

namespace gdr::mpi {
namespace {

void add_gdrcopy(const Installation& one, const DriverHalf& half, Judgement& judgement) {
  if (!one.ucx || one.ucx->cuda != Tri::kYes) return;
  if (one.ucx->gdrcopy == Tri::kNo) {
    judgement.notes.push_back(
        "Its UCX has no GDRCopy (configure --with-gdrcopy, package ucx-gdrcopy): short GPU "
        "messages take longer.");
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
         text::Command("./configure --prefix=/opt/ucx --with-cuda=/usr/local/cuda --with-gdrcopy "
                       "--with-verbs --enable-mt")});
  } else if (ucx.cuda == Tri::kYes && ucx.network == Tri::kNo) {
    judgement.steps.push_back(
        {"UCX with InfiniBand and RoCE: the package ucx-ib, or build UCX",
         text::Command("./configure --prefix=/opt/ucx --with-cuda=/usr/local/cuda --with-verbs "
                       "--enable-mt")});
  }
}

std::string ucx_prefix(const Installation& one) {
  const bool there = one.ucx && one.ucx->cuda == Tri::kYes && !one.ucx->library.empty();
  return there ? prefix_of_library(one.ucx->library) : "/opt/ucx";
}

Step step_to_ask(const Installation& one) {
  const text::Command check = one.launcher.empty()
                                  ? text::Command("gdr mpi check")
                                  : text::Command("gdr mpi check {}", one.launcher);
  if (!one.account.empty() && geteuid() == 0) {
    return {"to ask it as that account", text::Command("sudo -u {} {}", one.account, check)};
  }
  if (geteuid() == 0) return {"take the others' right to write, and ask again", check};
  return {"to ask it all the same", check};
}

Judgement judge(const Installation& one, const DriverHalf& half, const Variables& variables) {
  if (!one.not_asked.empty()) {
    Judgement judgement;
    judgement.why.push_back("Not asked: " + one.not_asked + ".");
    judgement.settings.push_back(step_to_ask(one));
    return judgement;
  }
  Judgement judgement = judge_family(one, variables);
  judgement.launch = launch_of(one);
  if (judgement.with_settings == Verdict::kUnknown) judgement.with_settings = judgement.verdict;
  apply_host(one, half, variables, judgement);
  if (judgement.settings.empty()) judgement.with_settings = judgement.verdict;
  add_gdrcopy(one, half, judgement);
  if (!one.in_use && !one.module.empty()) {
    judgement.load = text::Command("module load {}", one.module);
  } else if (!one.in_use && one.origin == "HPC-X") {
    judgement.load = text::Command(". {}\nhpcx_load", folder_of(one.prefix) + "/hpcx-init.sh");
  }
  if (!one.hung.empty()) {
    judgement.notes.insert(judgement.notes.begin(),
                           one.hung + " did not answer in time and was stopped.");
  }
  return judgement;
}

}  // namespace gdr::mpi

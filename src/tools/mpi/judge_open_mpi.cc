// Judges Open MPI by the components that take GPU memory between hosts.
#include <fmt/format.h>

#include "base/environment.h"
#include "mpi/judge.h"

namespace gdr::mpi {
namespace {

// A parameter that chooses components names some, or, behind a '^', those that may not be used.
enum class Choice : std::uint8_t { kOpen, kNamed, kLeftOut };

Choice choice_of(const Installation& one, const std::string& framework,
                 const std::string& component) {
  std::string value = one.parameter(framework);
  if (value.empty()) return Choice::kOpen;
  const bool excludes = value.front() == '^';
  if (excludes) value.erase(0, 1);
  for (const std::string_view name : split(value, ',')) {
    if (name == component) return excludes ? Choice::kLeftOut : Choice::kNamed;
  }
  return excludes ? Choice::kOpen : Choice::kLeftOut;
}

std::string source_of(const Installation& one, const std::string& name) {
  const auto found = one.parameters.find(name);
  if (found == one.parameters.end() || found->second.source.empty()) return "a parameter";
  return found->second.source == "environment" ? "the environment" : found->second.source;
}

// The switch for CUDA at run time, by the name that this version has for it.
std::string switched_off(const Installation& one) {
  for (const char* name : {"opal_cuda_support", "mpi_cuda_support"}) {
    if (one.flag(name) == Tri::kNo) return name;
  }
  return {};
}

text::Command configure_line(const Installation& one) {
  text::Command line("./configure --with-cuda=/usr/local/cuda");
  if (one.number() >= Version{5, 0, 0}) {
    line.with(text::Command("--with-cuda-libdir=/usr/local/cuda/lib64/stubs"));
  }
  return line.with(text::Command("--with-ucx={}", ucx_prefix(one)));
}

bool uses_ucx(const Installation& one) {
  if (!one.has("pml", "ucx") || choice_of(one, "pml", "ucx") == Choice::kLeftOut) return false;
  // Before 3.0 its priority is lower than that of ob1.
  return one.number() >= Version{3, 0, 0} || choice_of(one, "pml", "ucx") == Choice::kNamed;
}

void judge_openib(const Installation& one, Judgement& judgement) {
  judgement.transport = "pml ob1, btl openib";
  judgement.verdict = Verdict::kStaged;
  const Step want{"switch it on", text::Command("mpirun --mca btl_openib_want_cuda_gdr 1")};
  judgement.notes.push_back(
      "btl_openib_want_cuda_gdr is obsolete: from Open MPI 4.0 on pml ucx carries GPU memory, and "
      "5.0 "
      "has no openib.");
  if (one.flag("btl_openib_have_cuda_gdr") != Tri::kYes) {
    judgement.why.push_back(
        one.flag("btl_openib_have_cuda_gdr") == Tri::kNo
            ? "btl_openib_have_cuda_gdr is false: openib was built without GPUDirect RDMA."
            : "It does not say btl_openib_have_cuda_gdr: openib has GPUDirect RDMA from 1.7.4 on, "
              "built with CUDA 6 or later.");
    judgement.steps.push_back(
        {"Open MPI 1.7.4 or later built with CUDA 6 or later", configure_line(one)});
    return;
  }
  if (one.flag("btl_openib_have_driver_gdr") == Tri::kNo) {
    judgement.why.push_back(
        "btl_openib_have_driver_gdr is false: openib looks only for "
        "/sys/kernel/mm/memory_peers/nv_mem/version, the driver half, and it is not there.");
    judgement.steps.push_back(
        {"load the peer-memory module, on hosts with GPU and NIC; the file is "
         "there only with the RDMA stack of MLNX_OFED or DOCA-OFED",
         text::Command("sudo modprobe nvidia-peermem")});
    judgement.steps.push_back(want);
    judgement.steps.push_back(
        {"with nvidia-peermem on a kernel without that file: an Open MPI with "
         "UCX 1.18 or later, which looks elsewhere",
         {}});
    return;
  }
  if (one.flag("btl_openib_want_cuda_gdr") == Tri::kYes) {
    judgement.verdict = Verdict::kDirect;
    judgement.why.push_back(
        "btl_openib_want_cuda_gdr is on, and both halves are there (have_cuda_gdr, "
        "have_driver_gdr); messages above btl_openib_cuda_rdma_limit are staged.");
    return;
  }
  judgement.why.push_back(
      "btl_openib_want_cuda_gdr is false, as it is by default: GPUDirect RDMA is built in and not "
      "used.");
  judgement.settings.push_back(want);
  judgement.with_settings = Verdict::kDirect;
}

void judge_mtl(const Installation& one, Judgement& judgement) {
  if (one.has("mtl", "psm2") && choice_of(one, "mtl", "psm2") != Choice::kLeftOut && !one.ofi) {
    judgement.transport = "pml cm, mtl psm2";
    judgement.verdict = Verdict::kStaged;
    judgement.why.push_back("psm2 takes GPU memory only where it is told to.");
    judgement.settings.push_back({"with a libpsm2 that was built for CUDA",
                                  text::Command("mpirun -x PSM2_CUDA=1 -x PSM2_GPUDIRECT=1")});
    judgement.with_settings = Verdict::kDirect;
    return;
  }
  const Ofi ofi = one.ofi.value_or(Ofi());
  const std::string name = "libfabric" + (ofi.version.empty() ? "" : " " + ofi.version);
  judgement.transport = "pml cm, mtl ofi, " + name;
  judgement.verdict = Verdict::kStaged;
  if (one.number() < Version{5, 0, 0}) {
    judgement.why.push_back(
        "Before 5.0 mtl ofi copies GPU memory through the host, whatever "
        "libfabric can do.");
    judgement.steps.push_back({"Open MPI 5, or one with UCX", configure_line(one)});
  } else if (ofi.cuda == Tri::kYes) {
    judgement.verdict = Verdict::kDirect;
    judgement.why.push_back(
        "Its " + name + " has CUDA (" + ofi.why_cuda +
        "), and mtl ofi registers GPU memory with providers that can (efa, cxi, "
        "verbs).");
  } else if (ofi.cuda == Tri::kNo) {
    judgement.why.push_back("Its " + name + " has no CUDA (" + ofi.why_cuda + ").");
    judgement.steps.push_back(
        {"libfabric with CUDA",
         text::Command("./configure --prefix=/opt/libfabric --with-cuda=/usr/local/cuda")});
  } else {
    judgement.verdict = Verdict::kUnknown;
    judgement.why.push_back("Whether its " + name + " has CUDA is not known.");
  }
}

void add_ucx_by_choice(const Installation& one, Judgement& judgement) {
  if (!one.has("pml", "ucx") || !one.ucx || one.ucx->cuda != Tri::kYes) return;
  Judgement with;
  judge_ucx(*one.ucx, with);
  judgement.settings.push_back(
      {"it has pml ucx, with a UCX that has CUDA", text::Command("mpirun --mca pml ucx")});
  judgement.with_settings = with.verdict;
}

bool has_fast_mtl(const Installation& one) {
  const Choice cm = choice_of(one, "pml", "cm");
  if (!one.has("pml", "cm") || cm == Choice::kLeftOut) return false;
  for (const char* mtl : {"psm2", "ofi"}) {
    const Choice choice = choice_of(one, "mtl", mtl);
    if (!one.has("mtl", mtl) || choice == Choice::kLeftOut) continue;
    // Built into most packages for hosts with such NICs: only a choice makes it sure.
    if (choice == Choice::kNamed || cm == Choice::kNamed || one.number() >= Version{5, 0, 0}) {
      return true;
    }
    if (std::string(mtl) == "ofi" && one.origin == "AWS EFA installer") return true;
  }
  return false;
}

bool uses_openib(const Installation& one) {
  if (!one.has("btl", "openib") || choice_of(one, "btl", "openib") == Choice::kLeftOut)
    return false;
  return one.number() < Version{4, 0, 0} || one.flag("btl_openib_allow_ib") == Tri::kYes;
}

void judge_with_cuda(const Installation& one, Judgement& judgement) {
  if (uses_ucx(one)) {
    const Ucx ucx = one.ucx.value_or(Ucx());
    judgement.transport = "pml ucx, UCX" + (ucx.version.empty() ? "" : " " + ucx.version);
    judge_ucx(ucx, judgement);
    add_ucx_steps(ucx, judgement);
    if (judgement.verdict == Verdict::kNone) {
      judgement.settings.push_back(
          {"without UCX GPU memory is staged", text::Command("mpirun --mca pml ob1")});
      judgement.with_settings = Verdict::kStaged;
    }
    return;
  }
  if (uses_openib(one)) {
    judge_openib(one, judgement);
    if (judgement.settings.empty()) add_ucx_by_choice(one, judgement);
    return;
  }
  if (has_fast_mtl(one)) {
    judge_mtl(one, judgement);
  } else {
    judgement.transport = "pml ob1, btl tcp";
    judgement.verdict = Verdict::kStaged;
    judgement.why.push_back(
        "Nothing in it reaches an RDMA NIC with GPU memory: ob1 copies to host "
        "memory and sends that.");
    judgement.steps.push_back({"an Open MPI with UCX", configure_line(one)});
  }
  if (judgement.verdict != Verdict::kDirect) add_ucx_by_choice(one, judgement);
}

void judge_without_cuda(const Installation& one, Judgement& judgement) {
  judgement.verdict = Verdict::kNone;
  judgement.why.push_back("It is built without CUDA (" + one.why_cuda + ").");
  if (one.query == Tri::kYes) {
    judgement.notes.push_back(
        "It has MPIX_Query_cuda_support, which every build has: the function returns 0.");
  }
  const bool has_cuda_ucx = one.has("pml", "ucx") && one.ucx && one.ucx->cuda == Tri::kYes;
  if (uses_ucx(one) && has_cuda_ucx) {
    judgement.transport = "pml ucx, UCX " + one.ucx->version;
    judgement.verdict = Verdict::kPartial;
    judgement.why.push_back("Its UCX has CUDA, and carries what Open MPI itself does not touch.");
  } else if (uses_ucx(one)) {
    judgement.transport = "pml ucx";
  } else {
    judgement.transport = uses_openib(one) ? "pml ob1, btl openib" : "pml ob1, btl tcp";
    if (has_cuda_ucx) {
      judgement.settings.push_back({"sends and receives of plain GPU buffers work through its UCX",
                                    text::Command("mpirun --mca pml ucx")});
      judgement.with_settings = Verdict::kPartial;
    }
  }
  if (one.ucx) add_ucx_steps(*one.ucx, judgement);
  judgement.steps.insert(judgement.steps.begin(),
                         {"an Open MPI with CUDA: HPC-X, the one of the NVIDIA HPC SDK, conda's "
                          "(conda install -c conda-forge openmpi ucx), or build it",
                          configure_line(one)});
}

// A file or the environment may leave out a component that is built in.
void add_left_out(const Installation& one, Judgement& judgement) {
  if (!one.has("pml", "ucx") || choice_of(one, "pml", "ucx") != Choice::kLeftOut) return;
  judgement.why.push_back(fmt::format("pml is '{}' by {}, so it does not use its UCX.",
                                      one.parameter("pml"), source_of(one, "pml")));
}

}  // namespace

Judgement judge_open_mpi(const Installation& one, const Variables& /*variables*/) {
  Judgement judgement;
  if (one.cuda == Tri::kUnknown) {
    judgement.why.push_back(
        "Whether it is built with CUDA is not known" +
        std::string(one.hung.empty() ? ": it has no ompi_info that answers." : "."));
    return judgement;
  }
  if (one.cuda == Tri::kNo) {
    judge_without_cuda(one, judgement);
    add_left_out(one, judgement);
    return judgement;
  }
  if (one.has("pml", "pami")) {
    judgement.transport = "pml pami";
    judgement.verdict = Verdict::kNone;
    judgement.with_settings = Verdict::kDirect;
    judgement.why.push_back("Spectrum MPI takes GPU memory only where mpirun is told to.");
    judgement.settings.push_back({"switch it on", text::Command("mpirun -gpu")});
    return judgement;
  }
  judge_with_cuda(one, judgement);
  add_left_out(one, judgement);
  const std::string off = switched_off(one);
  // From 5.0 on it is false by default where there is no GPU.
  const bool by_default = one.number() >= Version{5, 0, 0} && source_of(one, off) == "default";
  if (off.empty() || by_default) return judgement;
  // The judgement so far is for when it is switched on.
  judgement.with_settings =
      judgement.settings.empty() ? judgement.verdict : judgement.with_settings;
  judgement.verdict = Verdict::kNone;
  judgement.why.insert(judgement.why.begin(),
                       fmt::format("CUDA is built in and switched off: {} is false by {}.", off,
                                   source_of(one, off)));
  std::vector<Step>& settings = judgement.settings;
  text::Command command("mpirun --mca {} 1", off);
  if (!settings.empty() && settings.front().command.text().starts_with("mpirun --mca ")) {
    command = settings.front().command.with_behind("mpirun", text::Command("--mca {} 1", off));
    settings.clear();
  }
  settings.insert(settings.begin(), {"switch it on", command});
  return judgement;
}

}  // namespace gdr::mpi

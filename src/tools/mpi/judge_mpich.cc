// Judges MPICH, and MVAPICH from version 3 on, which is made from it.
#include "mpi/judge.h"

namespace gdr::mpi {
namespace {

std::string variable(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

bool is_off(const std::string& value) { return value == "0" || value == "no" || value == "false"; }
bool is_on(const std::string& value) { return !value.empty() && !is_off(value); }

void judge_ofi(const Installation& one, const Variables& variables, Judgement& judgement) {
  const Ofi ofi = one.ofi.value_or(Ofi());
  const std::string name = "libfabric" + (ofi.version.empty() ? "" : " " + ofi.version);
  judgement.transport = "ch4:ofi, " + name;
  const bool asks = is_on(variable(variables, "MPIR_CVAR_CH4_OFI_ENABLE_HMEM"));
  const std::string reason = ofi.why_cuda.empty() ? std::string() : " (" + ofi.why_cuda + ")";
  judgement.verdict = Verdict::kStaged;
  if (ofi.cuda == Tri::kNo) {
    judgement.why.push_back("Its " + name + " has no CUDA" + reason +
                            ": MPICH copies GPU memory to host memory for it.");
    judgement.steps.push_back(
        {"libfabric with CUDA, for MPICH's --with-libfabric",
         text::Command(
             "./configure --prefix=/opt/libfabric --with-cuda=/usr/local/cuda --with-gdrcopy")});
    return;
  }
  if (asks) {
    judgement.verdict = ofi.cuda == Tri::kYes ? Verdict::kDirect : Verdict::kUnknown;
    judgement.why.push_back(
        "MPIR_CVAR_CH4_OFI_ENABLE_HMEM is set, and its " + name +
        (ofi.cuda == Tri::kYes ? " has CUDA" + reason + "." : " is not known to have CUDA."));
    return;
  }
  judgement.why.push_back(
      "MPIR_CVAR_CH4_OFI_ENABLE_HMEM is not set: MPICH copies GPU memory to host memory before it "
      "gives it to libfabric.");
  judgement.settings.push_back(
      {"let libfabric have GPU memory (providers cxi, efa and verbs;ofi_rxm)",
       text::Command("export MPIR_CVAR_CH4_OFI_ENABLE_HMEM=1")});
  judgement.with_settings = ofi.cuda == Tri::kYes ? Verdict::kDirect : Verdict::kUnknown;
}

text::Command configure_line(const Installation& one) {
  if (one.device.find("ofi") == std::string::npos) {
    return text::Command(
        "./configure --with-cuda=/usr/local/cuda --with-device=ch4:ucx --with-ucx={}",
        ucx_prefix(one));
  }
  return text::Command(
      "./configure --with-cuda=/usr/local/cuda --with-device=ch4:ofi "
      "--with-libfabric=/opt/libfabric");
}

void judge_without_cuda(const Installation& one, Judgement& judgement) {
  judgement.verdict = Verdict::kNone;
  judgement.transport = one.device;
  judgement.why.push_back("It is built without CUDA (" + one.why_cuda + ").");
  if (one.ucx && one.ucx->cuda == Tri::kYes) {
    judgement.verdict = Verdict::kPartial;
    judgement.why.push_back("Its UCX has CUDA, and carries what MPICH itself does not touch.");
  }
  judgement.steps.push_back(
      {"MPICH 3.4 or later with CUDA, over a UCX with CUDA", configure_line(one)});
  if (one.ucx) add_ucx_steps(*one.ucx, judgement);
}

}  // namespace

Judgement judge_mpich(const Installation& one, const Variables& variables) {
  Judgement judgement;
  if (one.device == "ch3:psp") {
    judgement.transport = one.device;
    judgement.why.push_back(
        "It is ParaStation MPI, whose library pscom carries GPU memory if it was built for that.");
    judgement.settings.push_back(
        {"switch it on, where pscom has its plugin cuda", text::Command("export PSP_CUDA=1")});
    return judgement;
  }
  if (one.device.starts_with("ch3")) {
    judgement.verdict = Verdict::kNone;
    judgement.transport = one.device;
    judgement.why.push_back("It is built for the device " + one.device +
                            ", which knows nothing of GPU memory; ch4 does.");
    judgement.steps.push_back({"MPICH for ch4, with CUDA", configure_line(one)});
    return judgement;
  }
  if (one.cuda == Tri::kUnknown) {
    judgement.why.push_back("Whether it is built with CUDA is not known.");
    return judgement;
  }
  if (one.cuda == Tri::kNo) {
    judge_without_cuda(one, judgement);
    return judgement;
  }
  if (one.device.find("ofi") != std::string::npos || (!one.ucx && one.ofi)) {
    judge_ofi(one, variables, judgement);
  } else if (one.ucx) {
    judgement.transport = "ch4:ucx, UCX" + (one.ucx->version.empty() ? "" : " " + one.ucx->version);
    judge_ucx(*one.ucx, judgement);
    add_ucx_steps(*one.ucx, judgement);
  } else {
    judgement.why.push_back(
        "It does not say over which library it sends: no device in mpichversion.");
  }
  for (const char* name : {"MPIR_CVAR_ENABLE_GPU", "MVP_ENABLE_GPU"}) {
    if (!is_off(variable(variables, name))) continue;
    judgement.with_settings = judgement.verdict;
    judgement.verdict = Verdict::kNone;
    judgement.why.insert(judgement.why.begin(),
                         std::string(name) + "=0 switches its GPU support off.");
    judgement.settings = {{"switch it on", text::Command("export {}=1", name)}};
  }
  return judgement;
}

}  // namespace gdr::mpi

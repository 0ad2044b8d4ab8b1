// Judges MVAPICH2, Intel MPI and Cray MPICH: each has a switch of its own for GPU memory, which is
// off by default.
#include "mpi/judge.h"

namespace gdr::mpi {
namespace {

bool is_on(const Variables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found != variables.end() && !found->second.empty() && found->second != "0";
}

void switch_on(Judgement& judgement, const std::string& variable, const text::Command& command,
               Verdict then) {
  judgement.verdict = Verdict::kNone;
  judgement.with_settings = then;
  judgement.why.insert(judgement.why.begin(),
                       variable + " is not set: it takes a GPU pointer for host memory.");
  judgement.settings.push_back({"switch it on", command});
}

Judgement judge_mvapich2(const Installation& one, const Variables& variables) {
  Judgement judgement;
  judgement.transport = one.device;
  if (one.cuda == Tri::kUnknown) {
    judgement.why.push_back("Whether it is built with CUDA is not known.");
    return judgement;
  }
  if (one.cuda == Tri::kNo) {
    judgement.verdict = Verdict::kNone;
    judgement.why.push_back("It is built without CUDA (" + one.why_cuda + ").");
    judgement.steps.push_back(
        {"the package MVAPICH2-GDR for this CUDA and RDMA stack "
         "(mvapich.cse.ohio-state.edu/downloads), or for staging build MVAPICH2",
         text::Command("./configure --enable-cuda --with-cuda=/usr/local/cuda")});
    return judgement;
  }
  // Older ones say it in their path only: /opt/mvapich2/gdr/2.2
  const bool gdr =
      one.product.find("GDR") != std::string::npos || one.prefix.find("/gdr/") != std::string::npos;
  const bool off =
      variables.contains("MV2_USE_GPUDIRECT") && !is_on(variables, "MV2_USE_GPUDIRECT");
  const Verdict works = gdr && !off ? Verdict::kDirect : Verdict::kStaged;
  judgement.why.push_back(works == Verdict::kDirect
                              ? "MVAPICH2-GDR registers GPU memory with the NIC by a peer-memory "
                                "module (" +
                                    one.why_cuda + ")."
                          : gdr ? std::string("MV2_USE_GPUDIRECT=0 switches GPUDirect RDMA off.")
                                : "MVAPICH2 with CUDA pipelines GPU memory through the host; "
                                  "MVAPICH2-GDR is the build with GPUDirect RDMA.");
  judgement.verdict = works;
  if (!gdr) {
    judgement.steps.push_back({"the package MVAPICH2-GDR for this CUDA and RDMA stack", {}});
  }
  if (!is_on(variables, "MV2_USE_CUDA")) {
    switch_on(judgement, "MV2_USE_CUDA", text::Command("export MV2_USE_CUDA=1"), works);
  }
  return judgement;
}

Judgement judge_intel(const Installation& one, const Variables& variables) {
  Judgement judgement;
  judgement.transport = "ofi";
  const Version version = one.number();
  if (!version.known()) {
    judgement.why.push_back("Its version is not known; NVIDIA GPUs need 2021.13 or later.");
    return judgement;
  }
  if (version < Version{2021, 13, 0}) {
    judgement.verdict = Verdict::kNone;
    judgement.why.push_back("Intel MPI " + one.version +
                            " takes memory of Intel's GPUs only; NVIDIA's need 2021.13 or later.");
    judgement.steps.push_back({"Intel MPI 2021.13 or later (oneAPI 2024.2)",
                               text::Command("sudo apt install intel-oneapi-mpi")});
    return judgement;
  }
  const bool rdma = is_on(variables, "I_MPI_OFFLOAD_RDMA");
  judgement.verdict = rdma ? Verdict::kDirect : Verdict::kStaged;
  judgement.why.push_back(rdma ? "I_MPI_OFFLOAD_RDMA is set: buffers of GPUs go to the NIC through "
                                 "libfabric."
                               : "I_MPI_OFFLOAD_RDMA is not set: buffers of GPUs are pipelined "
                                 "through host memory.");
  if (!is_on(variables, "I_MPI_OFFLOAD")) {
    switch_on(judgement, "I_MPI_OFFLOAD",
              text::Command("export I_MPI_OFFLOAD=1 I_MPI_OFFLOAD_MODE=cuda I_MPI_OFFLOAD_RDMA=1"),
              Verdict::kDirect);
  } else if (!rdma) {
    judgement.settings.push_back(
        {"let the NIC read and write GPU memory", text::Command("export I_MPI_OFFLOAD_RDMA=1")});
    judgement.with_settings = Verdict::kDirect;
  }
  judgement.notes.push_back(
      "Its libfabric needs a provider that registers GPU memory (mlx, verbs, "
      "psm3, efa): I_MPI_DEBUG=10 says which one is used.");
  return judgement;
}

Judgement judge_cray(const Installation& one, const Variables& variables) {
  Judgement judgement;
  judgement.transport = one.ucx ? "ucx" : "ofi";
  if (one.cuda != Tri::kYes) {
    judgement.verdict = one.cuda == Tri::kNo ? Verdict::kNone : Verdict::kUnknown;
    judgement.why.push_back(one.why_cuda.empty() ? "Whether it has libmpi_gtl_cuda is not known."
                                                 : one.why_cuda + ".");
    judgement.steps.push_back({"cray-mpich of a release with GPU support, for NVIDIA's GPUs",
                               text::Command("module load craype-accel-nvidia80")});
    return judgement;
  }
  judgement.verdict = Verdict::kDirect;
  judgement.why.push_back(one.why_cuda + ": the GPU transport layer gives GPU memory to " +
                          (one.ucx ? "UCX." : "libfabric (provider cxi)."));
  judgement.notes.push_back(
      "Programs must be linked with libmpi_gtl_cuda, which the module "
      "craype-accel-nvidia80 or -nvidia90 does.");
  if (!is_on(variables, "MPICH_GPU_SUPPORT_ENABLED")) {
    switch_on(judgement, "MPICH_GPU_SUPPORT_ENABLED",
              text::Command("export MPICH_GPU_SUPPORT_ENABLED=1"), Verdict::kDirect);
  }
  return judgement;
}

}  // namespace

Judgement judge_vendor(const Installation& one, const Variables& variables) {
  if (one.family == Family::kIntel) return judge_intel(one, variables);
  if (one.family == Family::kCray) return judge_cray(one, variables);
  return judge_mvapich2(one, variables);
}

}  // namespace gdr::mpi

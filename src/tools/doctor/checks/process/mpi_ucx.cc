// Can the MPI and UCX of this host use GPU memory?
#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/probes.h"
#include "host/registration/facts.h"

namespace gdr::doctor {
namespace mpi_ucx_check {

constexpr const char* kExplanation =
    "An MPI built without CUDA treats GPU memory as host memory and crashes; a UCX without its "
    "CUDA module copies through the host. The check asks ompi_info and ucx_info on PATH, for ten "
    "seconds each; if neither exists, it is skipped. A job may use other installations, from a "
    "module or a container: 'gdr mpi check' finds those, too, and tells for each which component "
    "carries GPU memory and what is missing. Hosts without a GPU are checked too, because people "
    "build programs and "
    "start jobs there.";

Finding slow(const std::string& program) {
  return unknown(program, "did not answer within 10 s", {{program, "killed"}});
}

std::optional<Finding> judge_mpi(Probes& probes) {
  const CommandAnswer answer = probes.command({"ompi_info", "--parsable", "--all"});
  if (!answer.found) return std::nullopt;
  if (answer.timed_out) return slow("ompi_info");
  constexpr std::string_view kLabel = "mpi_built_with_cuda_support:value:";
  const auto label = answer.output.find(kLabel);
  if (label == std::string::npos) {
    return unknown("Open MPI", "ompi_info does not say whether it was built with CUDA",
                   {{"ompi_info --parsable --all", "no mpi_built_with_cuda_support"}});
  }
  const bool yes = answer.output.compare(label + kLabel.size(), 4, "true") == 0;
  const Evidence evidence{"ompi_info, mpi_built_with_cuda_support", yes ? "true" : "false"};
  if (yes) return ok("Open MPI", "built with CUDA", {evidence});
  return warn(
      "Open MPI", "built without CUDA", {evidence},
      "Passing it a GPU address crashes, or goes through host memory if UCX has CUDA.",
      {to_type("gdr mpi check", "which MPI of this host takes GPU memory, and what is missing:"),
       to_do("install an Open MPI built with --with-cuda and --with-ucx (HPC-X has both)")});
}

std::optional<Finding> judge_ucx(Probes& probes) {
  const CommandAnswer answer = probes.command({"ucx_info", "-d"});
  if (!answer.found) return std::nullopt;
  if (answer.timed_out) return slow("ucx_info");
  const bool copies = answer.output.find("cuda_copy") != std::string::npos;
  const Evidence evidence{"ucx_info -d", copies ? "cuda_copy is there" : "no cuda_copy"};
  if (copies) return ok("UCX", "has its CUDA module", {evidence});
  return warn(
      "UCX", "has no CUDA module", {evidence},
      "It does not support GPU memory, and does not register it with a NIC.",
      {to_type("gdr mpi check", "which MPI of this host takes GPU memory, and what is missing:"),
       to_do("install the package ucx-cuda, or a UCX built with --with-cuda")});
}

Findings find(const Host& host) {
  if (host.inventory.gpus.empty() && host::has_amd_gpu(host.inventory)) {
    return does_not_apply("AMD GPUs, which do not use CUDA");
  }
  Findings findings = does_not_apply("neither ompi_info nor ucx_info on PATH");
  for (const auto judge : {judge_mpi, judge_ucx}) {
    if (std::optional<Finding> found = judge(*host.probes)) findings.push_back(*std::move(found));
  }
  return findings;
}

}  // namespace mpi_ucx_check

const Check kMpiUcx{"mpi-ucx", Area::kProcess, "MPI and UCX with CUDA", mpi_ucx_check::kExplanation,
                    90,        Cost::kProbe,   mpi_ucx_check::find};

}  // namespace gdr::doctor

#include <fmt/format.h>

#include "fabric/rendezvous/pmix.h"
#include "fabric/rendezvous/rendezvous.h"
#include "fabric/rendezvous/slurm.h"

namespace gdr::fabric {
namespace {

struct Foreign {
  const char* variable;
  const char* name;
  const char* advice;
};
// The first that is set is the launcher. They speak older protocols (PMI, PMI-2) or their own.
constexpr Foreign kForeign[] = {
    {"FLUX_TASK_RANK", "Flux", "flux run -o pmi=pmix gdr fabric, or gdr fabric --hosts HOSTS"},
    {"PALS_RANKID", "PALS", "gdr fabric --hosts HOSTS"},
    {"PMI_RANK", "a launcher with PMI (MPICH, Intel MPI)",
     "gdr fabric --hosts HOSTS, or mpirun of Open MPI"},
};

}  // namespace

Result<std::unique_ptr<Rendezvous>> find_rendezvous(const FindOptions& options) {
  const Environment& environment = options.environment;
  const bool is_step = is_slurm_step(environment);
  if (has_pmix(environment)) {
    Result<std::unique_ptr<Rendezvous>> joined = join_pmix(environment);
    if (joined || joined.error().code != ENOENT) return joined;
    if (!is_step || environment("OMPI_COMM_WORLD_RANK")) {
      return Error{ENOENT, "the launcher offers PMIx, but on this host " + joined.error().message +
                               "; install it, or type: gdr fabric --hosts HOSTS"};
    }
  }
  if (is_step) {
    Result<SlurmStep> step = slurm_step(environment);
    if (!step) return step.error();
    return join_slurm(*std::move(step), options.secret);
  }
  for (const Foreign& foreign : kForeign) {
    if (!environment(foreign.variable)) continue;
    return Error{ENOTSUP, fmt::format("started by {} ({} is set), by which ranks cannot find each "
                                      "other here; type: {}",
                                      foreign.name, foreign.variable, foreign.advice)};
  }
  if (const std::optional<std::string> job = environment("SLURM_JOB_ID")) {
    return Error{ENOTSUP, fmt::format("in Slurm job {}, but not started on its nodes; type: srun "
                                      "--ntasks-per-node=1 gdr fabric",
                                      *job)};
  }
  return std::unique_ptr<Rendezvous>();
}

}  // namespace gdr::fabric

// Launchers and the process management interface (PMI) that each MPI takes.
#include "mpi/judge.h"

namespace gdr::mpi {
namespace {

bool has_option(const Installation& one, const char* option) {
  return one.configure.find(option) != std::string::npos;
}

std::string launch_open_mpi(const Installation& one) {
  const Version version = one.number();
  if (version >= Version{5, 0, 0}) {
    return "mpirun (PRRTE), or srun --mpi=pmix: it needs PMIx 4 or later, and has no PMI-1 or "
           "PMI-2";
  }
  bool pmix = false;
  if (const auto found = one.components.find("pmix"); found != one.components.end()) {
    for (const std::string& name : found->second) {
      pmix |= name.starts_with("ext") || name.starts_with("pmix");
    }
  }
  const bool slurm = one.has("pmix", "s1") || one.has("pmix", "s2") ||
                     has_option(one, "--with-pmi=") || has_option(one, "--with-pmi ") ||
                     has_option(one, "--with-pmi'");
  std::string text = "mpirun (ORTE)";
  if (pmix || has_option(one, "--with-pmix")) text += ", srun --mpi=pmix (PMIx 1 to 3)";
  if (slurm) text += ", srun --mpi=pmi2 (Slurm's PMI-2)";
  if (!pmix && !slurm && !has_option(one, "--with-pmix") && one.components.contains("pmix")) {
    text += "; not by srun: it is built without PMIx and PMI-2 (configure --with-pmix)";
  }
  return text;
}

std::string launch_mpich(const Installation& one) {
  if (has_option(one, "--with-pmi=cray")) return "srun --mpi=cray_shasta, or PALS (PMI of Cray)";
  if (has_option(one, "--with-pmi=pmix") || has_option(one, "--with-pmix")) {
    return "srun --mpi=pmix (PMIx)";
  }
  if (has_option(one, "--with-pmi=pmi2") || has_option(one, "--with-pm=slurm") ||
      has_option(one, "--with-pm=no")) {
    return "srun --mpi=pmi2 (PMI-2)";
  }
  if (one.family == Family::kMvapich)
    return "mpirun_rsh or mpiexec (Hydra, PMI-1), or srun --mpi=pmi2";
  return "mpiexec (Hydra, PMI-1), or srun with PMI-1 of Slurm's libpmi";
}

}  // namespace

std::string launch_of(const Installation& one) {
  switch (one.family) {
    case Family::kOpenMpi:
      return launch_open_mpi(one);
    case Family::kMpich:
    case Family::kMvapich:
      return launch_mpich(one);
    case Family::kIntel:
      return "mpirun (Hydra, PMI-1), or srun --mpi=pmi2 with I_MPI_PMI_LIBRARY set to Slurm's "
             "libpmi2";
    case Family::kCray:
      return "srun --mpi=cray_shasta (PMI of Cray), or PALS; it has no mpirun of its own";
    case Family::kUnknown:
      break;
  }
  return {};
}

}  // namespace gdr::mpi

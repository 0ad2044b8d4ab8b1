// The rendezvous of processes whose launcher offers PMIx: mpirun of Open MPI and PRRTE, srun with
// --mpi=pmix. Rank 0 puts its invitation at its own host's PMIx server; that of each other rank
// asks there ("direct modex"). There is no fence.
#pragma once

#include <memory>

#include "fabric/rendezvous/rendezvous.h"

namespace gdr::fabric {

// A launcher has told this process where its PMIx server is.
bool has_pmix(const Environment& environment);

// ENOENT: this host has no libpmix. Anything else: the server does not answer.
Result<std::unique_ptr<Rendezvous>> join_pmix(const Environment& environment);

}  // namespace gdr::fabric

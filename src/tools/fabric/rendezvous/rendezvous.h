// Rendezvous: how the processes of one run find each other: by the launcher that started them. Rank
// 0 tells where its collector listens, the others learn it. No step waits for all ranks, so one
// that dies or never starts holds up nobody.
//
//   Result<std::unique_ptr<Rendezvous>> rendezvous = find_rendezvous(options);
//   if (*rendezvous == nullptr) return usage();                  // no launcher started this
//   if ((*rendezvous)->job().rank == 0) {
//     Result<Invitation> told = (*rendezvous)->publish({own_addresses(), port, random_token()});
//   } else {
//     Result<Invitation> invitation = (*rendezvous)->await(30 * kSecond);
//     Result<UniqueFd> connection = reach(*invitation, deadline);  // rendezvous/reach.h
//   }
//   (*rendezvous)->finish();  // rank 0: once all have come, or its patience is over
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "fabric/rendezvous/invitation.h"
#include "perf/secret.h"

namespace gdr::fabric {

struct Expected {
  std::uint32_t rank = 0;
  std::uint32_t node = 0;  // ranks of one host have the same; in the order of the first ranks
  std::string host;        // as the launcher calls it; empty: it does not tell
};

struct Job {
  std::uint32_t rank = 0, ranks = 1;
  std::string launcher;            // "srun, PMIx 4.2.2", "mpirun, PMIx 4.2.2", "srun without PMIx"
  std::vector<Expected> expected;  // every rank in order, also those that never come
  std::string job_id;              // Slurm's; empty: another launcher
};

class Rendezvous {
 public:
  virtual ~Rendezvous() = default;

  const Job& job() const { return job_; }

  // For rank 0, which listens already. Returns what the others will have: the token is made of the
  // secret, where the user gave one, and empty where none can be carried (srun with neither PMIx
  // nor MUNGE).
  virtual Result<Invitation> publish(const Invitation& invitation) = 0;
  // For the others. ETIMEDOUT: rank 0 has published nothing.
  virtual Result<Invitation> await(Nanoseconds timeout) = 0;
  // Takes leave of the launcher, so that it does not take the later death of one rank for the death
  // of all. Without effect the second time.
  virtual void finish() {}

 protected:
  explicit Rendezvous(Job job) : job_(std::move(job)) {}

 private:
  Job job_;
};

using Environment = std::function<std::optional<std::string>(const char* name)>;

struct FindOptions {
  Environment environment;  // set variables only
  // Known to all ranks, from a file of their user's: for srun without PMIx on a cluster without
  // MUNGE, which carries no token.
  std::optional<perf::Secret> secret;
};

// PMIx, or else what Slurm sets for a step; nullptr: no launcher started this process. ENOTSUP: one
// did that is not known here, or this is a batch script of Slurm and no step.
Result<std::unique_ptr<Rendezvous>> find_rendezvous(const FindOptions& options);

}  // namespace gdr::fabric

// Rendezvous: how the processes of one run find each other: by the launcher that started them. Rank
// 0 tells where its collector listens, the others learn it. No step waits for all ranks, so one
// that dies or never starts holds up nobody.
//
//   Result<std::unique_ptr<Rendezvous>> rendezvous = find_rendezvous(options);
//   if (*rendezvous == nullptr) return usage();                  // no launcher started this
//   if ((*rendezvous)->job().rank == 0) {
//     listen, on wished_port() if there is one; (*rendezvous)->publish(invitation);
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
  // Where rank 0 has to listen, because the others will look there. Nothing: any port will do.
  virtual std::optional<std::uint16_t> wished_port() const { return std::nullopt; }

  // For rank 0.
  virtual Result<void> publish(const Invitation& invitation) = 0;
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
  // Known to all ranks, from a file of their user's: the token where the launcher carries none
  // (srun without PMIx). Empty: there is none.
  std::string secret;
};

// PMIx, or else what Slurm sets for a step; nullptr: no launcher started this process. ENOTSUP: one
// did that is not known here, or this is a batch script of Slurm and no step.
Result<std::unique_ptr<Rendezvous>> find_rendezvous(const FindOptions& options);

}  // namespace gdr::fabric

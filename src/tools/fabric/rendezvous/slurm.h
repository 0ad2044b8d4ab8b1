// The rendezvous of a Slurm step without PMIx: rank 0 is on the first node of the step's list, and
// can be asked there at ports that all ranks derive from the job's and the step's number.
//
//   Result<SlurmStep> step = slurm_step(environment);
//   step->job.rank, step->place.host, step->place.ports
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "fabric/rendezvous/meeting_point.h"
#include "fabric/rendezvous/rendezvous.h"

namespace gdr::fabric {

// Below the ports that kernels give away by themselves (32768 and up).
constexpr std::uint16_t kFirstSlurmPort = 20000;
constexpr std::uint32_t kSlurmPorts = 10000;
// One after another, in case another program has some of them.
constexpr std::uint32_t kSlurmChoices = 4;

struct SlurmStep {
  Job job;
  // Its ports: those of SLURM_STEP_RESV_PORTS, where the cluster reserves ports for steps; else
  // kSlurmChoices between kFirstSlurmPort and kFirstSlurmPort + kSlurmPorts - 1.
  Place place;
};

// srun started this process, as part of a step. False in batch scripts and the shell of salloc.
bool is_slurm_step(const Environment& environment);

// EINVAL: variables that srun sets are missing, or contradict each other.
Result<SlurmStep> slurm_step(const Environment& environment);

// {2, 1, 1, 1} of "2,1(x3)".
Result<std::vector<std::uint32_t>> tasks_per_node(std::string_view text);

std::unique_ptr<Rendezvous> join_slurm(SlurmStep step, std::optional<perf::Secret> secret);

}  // namespace gdr::fabric

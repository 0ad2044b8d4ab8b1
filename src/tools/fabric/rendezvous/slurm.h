// The rendezvous of a Slurm step without PMIx: rank 0 is on the first node of the step's list, and
// listens at a port that all ranks derive from the job's and the step's number.
//
//   Result<SlurmStep> step = slurm_step(environment);
//   step->job.rank, step->first_host, step->port
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "fabric/rendezvous/rendezvous.h"

namespace gdr::fabric {

// Below the ports that kernels give away by themselves (32768 and up).
constexpr std::uint16_t kFirstSlurmPort = 20000;
constexpr std::uint32_t kSlurmPorts = 10000;

struct SlurmStep {
  Job job;
  std::string first_host;
  // The first of SLURM_STEP_RESV_PORTS, where the cluster reserves ports for steps; else between
  // kFirstSlurmPort and kFirstSlurmPort + kSlurmPorts - 1.
  std::uint16_t port = 0;
};

// srun started this process, as part of a step. False in batch scripts and the shell of salloc.
bool is_slurm_step(const Environment& environment);

// EINVAL: variables that srun sets are missing, or contradict each other.
Result<SlurmStep> slurm_step(const Environment& environment);

// {2, 1, 1, 1} of "2,1(x3)".
Result<std::vector<std::uint32_t>> tasks_per_node(std::string_view text);

std::unique_ptr<Rendezvous> join_slurm(SlurmStep step, std::string secret);

}  // namespace gdr::fabric

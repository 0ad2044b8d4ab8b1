// Probes: what only the machine this program runs on can be asked, by starting CUDA, NVML, an RDMA
// NIC or a program. Each question is asked once, when the first check needs it, and the answer
// kept. Tests answer in the machine's place.
//
//   if (const Result<NvmlFacts>& nvml = host.probes->nvml()) ...
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "doctor/probe/command.h"
#include "doctor/probe/cuda_facts.h"
#include "doctor/probe/nvml_facts.h"
#include "proof/report.h"

namespace gdr::doctor {

// A GPU and a NIC that are proved together, the NIC against itself.
struct Pairing {
  int gpu = 0;  // CUDA's ordinal
  std::string nic;
  unsigned port = 1;
  bool operator==(const Pairing&) const = default;
};

class Probes {
 public:
  virtual ~Probes() = default;
  // An error: the driver crashed or hung, or its process could not be started.
  virtual const Result<CudaFacts>& cuda() = 0;
  virtual const Result<NvmlFacts>& nvml() = 0;
  virtual const Result<ExportTrials>& exports() = 0;
  // Registers memory of the GPU with the NIC in both ways, and moves bytes through what works.
  virtual Result<proof::Report> prove(const Pairing& pairing) = 0;
  virtual CommandAnswer command(const std::vector<std::string>& words) = 0;
};

}  // namespace gdr::doctor

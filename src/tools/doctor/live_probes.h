// The probes of this machine.
//
//   LiveProbes probes;
//   Host host{files, inventory, environment, &probes};
#pragma once

#include "doctor/probes.h"

namespace gdr::doctor {

class LiveProbes : public Probes {
 public:
  const Result<CudaFacts>& cuda() override;
  const Result<NvmlFacts>& nvml() override;
  const Result<ExportTrials>& exports() override;
  Result<proof::Report> prove(const Pairing& pairing) override;
  CommandAnswer command(const std::vector<std::string>& words) override;

 private:
  std::optional<Result<CudaFacts>> cuda_;
  std::optional<Result<NvmlFacts>> nvml_;
  std::optional<Result<ExportTrials>> exports_;
};

}  // namespace gdr::doctor

// The verdict: a pure function of what was found.
#pragma once

#include <optional>

#include "proof/report.h"

namespace gdr::proof {

// What kept the proof from being made at all.
struct Obstacle {
  std::string seen;
  std::vector<std::string> causes;
  std::string next;
};

struct VerdictInput {
  bool machine_has_nic = false;
  bool machine_has_gpu = false;
  bool soft_requested = false;
  bool hardware_required = false;
  std::optional<Obstacle> obstacle;
};

Verdict decide(const VerdictInput& input, const Report& report);

std::string headline(const Verdict& verdict);

}  // namespace gdr::proof

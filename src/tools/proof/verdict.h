// The verdict: a pure function of what was found.
#pragma once

#include <optional>

#include "proof/obstacle.h"
#include "proof/report.h"

namespace gdr::proof {

struct VerdictInput {
  bool machine_has_nic = false;
  bool machine_has_gpu = false;
  bool soft_requested = false;
  std::optional<Obstacle> obstacle;
  std::optional<Obstacle> replaced;    // see replaced_hardware()
  std::string address_space_shortage;  // what it is; empty: this process may map what it needs
  bool may_lift_shortage = false;
};

Verdict decide(const VerdictInput& input, const Report& report);

std::string headline(const Verdict& verdict);

}  // namespace gdr::proof

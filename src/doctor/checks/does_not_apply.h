// For a check that finds nothing to judge, with the reason in a few words.
//
//   if (host.inventory.gpus.empty()) return does_not_apply("no GPU");
#pragma once

#include <string>

#include "doctor/check.h"

namespace gdr::doctor {

inline Findings does_not_apply(const std::string& /*why*/) { return {}; }

}  // namespace gdr::doctor

// Every check there is, in the order of their ranks.
#pragma once

#include <vector>

#include "doctor/check.h"

namespace gdr::doctor {

const std::vector<const Check*>& all_checks();
// Null: no check has this id.
const Check* find_check(const std::string& id);

}  // namespace gdr::doctor

// Every check there is, in the order of their ranks. A new one is a file of its own that includes
// this header and defines its constant, a line in list.inc and one in CMakeLists.txt.
#pragma once

#include <string>
#include <vector>

#include "doctor/check.h"

namespace gdr::doctor {

#define GDR_CHECK(name) extern const Check name;
#include "doctor/checks/list.inc"
#undef GDR_CHECK

const std::vector<const Check*>& all_checks();
// Null: no check has this id.
const Check* find_check(const std::string& id);

}  // namespace gdr::doctor

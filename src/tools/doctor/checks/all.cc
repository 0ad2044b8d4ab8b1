#include "doctor/checks/all.h"

#include <algorithm>

namespace gdr::doctor {

const std::vector<const Check*>& all_checks() {
  static const std::vector<const Check*> checks = [] {
    std::vector<const Check*> all = {
#define GDR_CHECK(name) &name,
#include "doctor/checks/list.inc"
#undef GDR_CHECK
    };
    std::sort(all.begin(), all.end(), [](const Check* a, const Check* b) {
      return a->rank != b->rank ? a->rank < b->rank : std::string(a->id) < b->id;
    });
    return all;
  }();
  return checks;
}

const Check* find_check(const std::string& id) {
  for (const Check* check : all_checks()) {
    if (id == check->id) return check;
  }
  return nullptr;
}

}  // namespace gdr::doctor

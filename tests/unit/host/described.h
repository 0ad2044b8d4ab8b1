// What the tests of descriptions of machines share.
#pragma once

#include <string>

#include "host/grade.h"
#include "host/inventory.h"

namespace gdr::host {

inline std::string grade(const Inventory& machine, const std::string& a, const std::string& b) {
  const PciFunction *one = machine.pci.find(a), *other = machine.pci.find(b);
  if (one == nullptr || other == nullptr) return "absent";
  const auto path = path_between(machine.pci, *one, *other);
  return path ? name_of(*path) : "unknown";
}

inline std::string error_of(const Result<Inventory>& result) {
  return result ? "none" : result.error().message;
}

}  // namespace gdr::host

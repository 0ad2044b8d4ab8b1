// What the tests of descriptions of machines share.
#pragma once

#include <string>

#include "host/grade.h"
#include "host/inventory.h"
#include "host/nccl_grade.h"

namespace gdr::host {

inline std::string grade(const PciTree& tree, const std::string& a, const std::string& b) {
  const PciFunction *one = tree.find(a), *other = tree.find(b);
  if (one == nullptr || other == nullptr) return "absent";
  const auto path = path_between(tree, *one, *other);
  return path ? name_of(*path) : "unknown";
}
inline std::string grade(const Inventory& machine, const std::string& a, const std::string& b) {
  return grade(machine.pci, a, b);
}

// As NCCL sees it.
inline std::string nccl_grade(const PciTree& tree, const std::string& a, const std::string& b) {
  const PciFunction *one = tree.find(a), *other = tree.find(b);
  if (one == nullptr || other == nullptr) return "absent";
  const auto path = nccl_path_between(tree, *one, *other);
  return path ? name_of(*path) : "unknown";
}

inline std::string error_of(const Result<Inventory>& result) {
  return result ? "none" : result.error().message;
}

}  // namespace gdr::host

// PciTree: every PCI function of a machine by its address, and what lies above it.
//
//   for (const PciFunction* port : tree.above(*nic)) ...   // from the function's own parent
//   upwards
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/pci/function.h"

namespace gdr::host {

class PciTree {
 public:
  void add(PciFunction function);
  // Null: not there.
  const PciFunction* find(const std::string& address) const;
  PciFunction* find(const std::string& address);
  // In order of their addresses.
  const std::map<std::string, PciFunction>& functions() const { return functions_; }
  bool empty() const { return functions_.empty(); }

  // The bridges between a function and its host bridge that are known, the nearest first.
  std::vector<const PciFunction*> above(const PciFunction& function) const;

 private:
  std::map<std::string, PciFunction> functions_;
};

// A function's own link; where the source does not tell its width, that of another function of the
// same card, since they share it. Null: none is known.
const PciLink* card_link(const PciTree& tree, const PciFunction& function);

}  // namespace gdr::host

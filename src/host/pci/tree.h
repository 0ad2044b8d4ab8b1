// PciTree: every PCI function of a machine by its address, and what lies above and below it.
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
  // All functions whose path goes through this one.
  std::vector<const PciFunction*> below(const std::string& address) const;

 private:
  std::map<std::string, PciFunction> functions_;
};

}  // namespace gdr::host

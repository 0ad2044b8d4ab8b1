#include "host/pci/tree.h"

#include <algorithm>

namespace gdr::host {

void PciTree::add(PciFunction function) {
  std::string address = function.address;
  functions_.insert_or_assign(std::move(address), std::move(function));
}

const PciFunction* PciTree::find(const std::string& address) const {
  const auto found = functions_.find(address);
  return found == functions_.end() ? nullptr : &found->second;
}

PciFunction* PciTree::find(const std::string& address) {
  const auto found = functions_.find(address);
  return found == functions_.end() ? nullptr : &found->second;
}

std::vector<const PciFunction*> PciTree::above(const PciFunction& function) const {
  std::vector<const PciFunction*> bridges;
  for (std::size_t i = function.path.size(); i-- > 1;) {
    if (function.path[i] == function.address) continue;
    if (const PciFunction* bridge = find(function.path[i])) bridges.push_back(bridge);
  }
  return bridges;
}

std::vector<const PciFunction*> PciTree::below(const std::string& address) const {
  std::vector<const PciFunction*> found;
  for (const auto& [name, function] : functions_) {
    const auto& path = function.path;
    if (name != address && std::find(path.begin(), path.end(), address) != path.end()) {
      found.push_back(&function);
    }
  }
  return found;
}

}  // namespace gdr::host

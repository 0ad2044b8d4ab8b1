#include "host/pci/tree.h"

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

const PciLink* card_link(const PciTree& tree, const PciFunction& function) {
  const PciLink* own = function.links.empty() ? nullptr : &function.links.front();
  if (own != nullptr && own->width > 0) return own;
  const std::string card = card_of(function.address) + ".";
  for (char number = '0'; number < '8'; ++number) {
    const PciFunction* other = tree.find(card + number);
    if (other == nullptr || other->links.empty()) continue;
    if (other->links.front().width > 0) return &other->links.front();
  }
  return own;
}

}  // namespace gdr::host

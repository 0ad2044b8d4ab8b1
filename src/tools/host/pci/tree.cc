#include "host/pci/tree.h"

namespace gdr::host {

void PciTree::add(PciFunction function) {
  if (function.numa_node >= 0 && function.path.size() > 1 && is_host_bridge(function.path[0])) {
    const auto [known, added] = nodes_.try_emplace(function.path[0], function.numa_node);
    if (!added && known->second != function.numa_node) known->second = -1;
  }
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

int PciTree::node_of(const PciFunction& function) const {
  if (function.numa_node >= 0) return function.numa_node;
  for (const PciFunction* bridge : above(function)) {
    if (bridge->numa_node >= 0) return bridge->numa_node;
  }
  if (only_node_ >= 0 || function.path.empty()) return only_node_;
  const auto known = nodes_.find(function.path[0]);
  return known == nodes_.end() ? -1 : known->second;
}

const PciLink* card_link(const PciTree& tree, const PciFunction& function) {
  const auto is_known = [](const PciLink& link) { return link.width > 0 || link.bandwidth > 0; };
  const PciLink* own = function.links.empty() ? nullptr : &function.links.front();
  if (own != nullptr && is_known(*own)) return own;
  const std::string card = card_of(function.address) + ".";
  for (char number = '0'; number < '8'; ++number) {
    const PciFunction* other = tree.find(card + number);
    if (other == nullptr || other->links.empty()) continue;
    if (is_known(other->links.front())) return &other->links.front();
  }
  return own;
}

}  // namespace gdr::host

// PciTree: every PCI function of a machine by its address, and what lies above it.
//
//   for (const PciFunction* port : tree.above(*nic)) ...   // from the function's own parent
//   upwards
#pragma once

#include <map>
#include <set>
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

  // A machine with one NUMA node need not say of each function that it is there.
  void set_only_node(int node) { only_node_ = node; }
  // The NUMA node of a function: its own, else that of a bridge above it, of its host bridge, or
  // the only one. -1: not known, which is not the same as another one.
  int node_of(const PciFunction& function) const;

  // Whether a node of -1 is what the machine says, or only that the source does not show any.
  void set_nodes_shown(bool shown) { nodes_shown_ = shown; }
  bool nodes_shown() const { return nodes_shown_; }

  // The source left out whatever lies between these host bridges and the devices below them.
  void set_incomplete(const std::string& host_bridge) { incomplete_.insert(host_bridge); }
  bool is_incomplete(const std::string& host_bridge) const {
    return incomplete_.contains(host_bridge);
  }

 private:
  std::map<std::string, PciFunction> functions_;
  std::map<std::string, int> nodes_;  // by host bridge; -1: its functions do not agree
  std::set<std::string> incomplete_;
  int only_node_ = -1;
  bool nodes_shown_ = true;
};

// A function's own link; where the source does not tell its width, that of another function of the
// same card, since they share it. Null: none is known.
const PciLink* card_link(const PciTree& tree, const PciFunction& function);

}  // namespace gdr::host

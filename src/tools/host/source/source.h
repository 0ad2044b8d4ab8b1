// Where an inventory comes from: this machine, a captured root folder, or a file that another tool
// wrote on some machine. Each source shows what it can; the inventory's `unseen` says the rest.
//
//   Source source;
//   source.lspci = {"tree.txt", "verbose.txt"};
//   Result<Inventory> machine = read_inventory(source);
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/inventory.h"

namespace gdr::host {

// One of them: a machine described twice could contradict itself.
struct Source {
  // This machine, or a captured /sys and /proc: their folder, or a tar archive of it.
  std::string root = "/";
  std::string hwloc_xml;  // lstopo machine.xml
  std::string nccl_xml;   // what NCCL_TOPO_DUMP_FILE names, or a cloud provider ships
  // The text of lspci -vvv, of lspci -tv, or one of each for one machine: in any order, since what
  // a file holds is seen in it.
  std::vector<std::string> lspci;

  bool is_live() const {
    return root == "/" && hwloc_xml.empty() && nccl_xml.empty() && lspci.empty();
  }
};

// EINVAL: a source that contradicts itself, or a file that is no such description.
Result<Inventory> read_inventory(const Source& source);

}  // namespace gdr::host

// A PCI tree made up piece by piece, each function below one that is there already.
//
//   TreeMaker make;
//   make.add("0000:00:01.0", "pci0000:00", PciKind::kRootPort);
//   make.add("0000:01:00.0", "0000:00:01.0", PciKind::kEndpoint);
#pragma once

#include <string>
#include <utility>

#include "host/pci/tree.h"

namespace gdr::test {

struct TreeMaker {
  host::PciTree tree;

  void add(const std::string& address, const std::string& parent, host::PciKind kind,
           int numa_node = 0) {
    host::PciFunction function;
    function.address = address;
    if (const host::PciFunction* above = tree.find(parent)) function.path = above->path;
    if (function.path.empty()) function.path = {parent};
    function.path.push_back(address);
    function.kind = kind;
    function.numa_node = numa_node;
    const bool is_endpoint = kind == host::PciKind::kEndpoint;
    function.class_code = is_endpoint ? 0x020000 : 0x060400;
    tree.add(std::move(function));
  }
};

}  // namespace gdr::test

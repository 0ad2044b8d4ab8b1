// The text of `lspci -tv`: which function lies below which bridge.
//
//   -[0000:00]-+-00.0  Advanced Micro Devices, Inc. [AMD] Device 14a4
//              \-01.1-[01]--+-00.0  NVIDIA Corporation AD102GL [RTX 6000 Ada Generation]
//                           \-00.1  NVIDIA Corporation AD102 High Definition Audio Controller
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/pci/function.h"

namespace gdr::host {

struct LspciTree {
  std::map<std::string, PciFunction> functions;  // with names, and classes as far as names say them
  std::map<std::string, std::string> bridges;    // by the bus below: "0000:01" -> "0000:00:01.1"
};

Result<LspciTree> read_lspci_tree(std::string_view text);

}  // namespace gdr::host

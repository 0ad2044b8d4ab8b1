// A folder of the GPU driver's kernel sources: which release it is, which page tables its header
// tells of, and the module where it was built there.
//
//   Result<DriverSource> source = read_driver_source("/usr/src/nvidia-550.163.01");
#pragma once

#include <string>

#include "base/result.h"

namespace gdr::peermem {

struct DriverSource {
  std::string header;   // nv-p2p.h
  std::string release;  // "550.163.01"; empty: not told
  std::string module;   // nvidia.ko, built there; empty: there is none
};

// ENOENT: there is no nv-p2p.h in it. ENOTSUP: its page tables are of a version that the module
// does not know.
Result<DriverSource> read_driver_source(const std::string& folder);

}  // namespace gdr::peermem

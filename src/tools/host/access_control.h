// Access Control Services on the way between a GPU and a NIC: set to redirect at a switch's
// downstream port, they send what one writes to the other up to the root port and back, through the
// CPU, which costs about half of the bandwidth or refuses it.
//
//   for (const PortOnPath& port : ports_between(tree, *gpu.pci, *nic.pci)) {
//     if (port.decides && port.judgement == PortJudgement::kRedirects) puts(port.address.c_str());
//   }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/pci/tree.h"

namespace gdr::host {

enum class PortJudgement : std::uint8_t {
  kClear,      // redirects nothing, or has no ACS
  kRedirects,  //
  kUnknown     // its configuration space could not be read
};

struct PortOnPath {
  std::string address;
  bool is_root_port = false;
  // Whether the way between the two depends on it. Not where they meet above the root ports: all of
  // it goes through the CPU anyway.
  bool decides = true;
  PortJudgement judgement = PortJudgement::kUnknown;
  std::uint16_t redirects = 0;  // the bits of AccessControl::kRedirects that are in force
};

// The judgement of one port by itself. Source validation and translation blocking redirect nothing.
PortJudgement judge_port(const PciFunction& port);

// The downstream ports below the place where the two meet, from the GPU up and down to the NIC, and
// the root ports where they meet above these. Endpoints, upstream ports and ports that serve other
// devices are not among them. None where the path of either is not known.
std::vector<PortOnPath> ports_between(const PciTree& tree, const PciFunction& gpu,
                                      const PciFunction& nic);

// Judges the ports that matter; one that redirects outweighs an unknown one.
PortJudgement judge_path(const std::vector<PortOnPath>& ports);

// "request redirect, egress control"
std::string names_of_access_control(std::uint16_t bits);

}  // namespace gdr::host

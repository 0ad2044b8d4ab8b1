// Which NIC each GPU should use, as host/best_nic.h chooses it, in terms of the list of devices,
// and what GPUDirect RDMA can be expected to give with it.
//
//   for (const Choice& choice : choose_nics(inventory, devices)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/grade.h"
#include "topo/devices.h"

namespace gdr::topo {

// What GPUDirect RDMA can be expected to give over a path.
enum class Quality : std::uint8_t {
  kGood,        // PIX, PXB: no CPU on the way
  kLikelyGood,  // PHB: through one host bridge
  kBad,         // NODE, SYS: between host bridges
  kUnknown      // no path is known, or the tree is made up
};
const char* name_of(Quality quality);  // "good", "likely good", "bad", "unknown"
// Unknown in a virtual machine, and where the source cannot tell PHB from NODE.
Quality quality_of(std::optional<host::PciPath> path, const host::Inventory& inventory);

struct Choice {
  std::size_t gpu = 0;             // in the list of devices
  std::optional<std::size_t> nic;  // nothing: there is none
  std::optional<host::PciPath> path;
  Quality quality = Quality::kUnknown;
  std::string why;                 // "as near as NIC1, with the faster link: 32 GT/s x16"
  std::string brief_why;           // "faster link than NIC1"
  bool ports_down = false;         // all of the chosen NIC
  std::vector<std::size_t> alike;  // NICs that are as good, without the chosen one
};

std::vector<Choice> choose_nics(const host::Inventory& inventory,
                                const std::vector<Device>& devices);

}  // namespace gdr::topo

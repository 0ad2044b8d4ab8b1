// Which NIC each GPU should use, and why: the nearest; of equally near ones the one on the GPU's
// NUMA node, with the faster link, with an active port; and of those that are alike as few GPUs as
// can be share one.
//
//   for (const Choice& choice : choose_nics(inventory, devices, matrix)) ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topo/devices.h"
#include "topo/matrix.h"

namespace gdr::topo {

// What GPUDirect RDMA can be expected to give over a path.
enum class Quality : std::uint8_t {
  kGood,        // PIX, PXB: no CPU on the way
  kLikelyGood,  // PHB: through one host bridge
  kBad,         // NODE, SYS: between host bridges
  kUnknown      // no path is known, or the tree is made up
};
const char* name_of(Quality quality);  // "good", "likely good", "bad", "unknown"
Quality quality_of(std::optional<host::PciPath> path, bool reliable);

struct Choice {
  std::size_t gpu = 0;             // in the list of devices
  std::optional<std::size_t> nic;  // nothing: there is none
  std::optional<host::PciPath> path;
  Quality quality = Quality::kUnknown;
  std::string why;                 // "the only one at PIX", in words
  std::vector<std::size_t> alike;  // NICs that are as good, without the chosen one
};

std::vector<Choice> choose_nics(const host::Inventory& inventory,
                                const std::vector<Device>& devices, const Matrix& matrix);

}  // namespace gdr::topo

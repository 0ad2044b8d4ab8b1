#include "host/grade.h"

#include <algorithm>

namespace gdr::host {

const char* name_of(PciPath path) {
  switch (path) {
    case PciPath::kPix:
      return "PIX";
    case PciPath::kPxb:
      return "PXB";
    case PciPath::kPhb:
      return "PHB";
    case PciPath::kNode:
      return "NODE";
    case PciPath::kSys:
      return "SYS";
  }
  return "";
}

std::optional<PciPath> path_between(const std::vector<std::string>& a, int node_a,
                                    const std::vector<std::string>& b, int node_b) {
  if (a.size() < 2 || b.size() < 2 || !is_host_bridge(a[0]) || !is_host_bridge(b[0])) {
    return std::nullopt;
  }
  const auto device = [](const std::string& address) {
    return address.substr(0, address.rfind('.'));
  };
  if (device(a.back()) == device(b.back())) return PciPath::kPix;
  if (a[0] != b[0]) return node_a == node_b && node_a >= 0 ? PciPath::kNode : PciPath::kSys;
  const std::size_t shorter = std::min(a.size(), b.size());
  std::size_t common = 1;
  while (common < shorter && a[common] == b[common]) ++common;
  if (common == 1) return PciPath::kPhb;
  const std::size_t longest_leg = std::max(a.size(), b.size()) - 1 - common;
  return longest_leg <= 1 ? PciPath::kPix : PciPath::kPxb;
}

std::optional<PciPath> path_between(const PciTree& /*tree*/, const PciFunction& a,
                                    const PciFunction& b) {
  return path_between(a.path, a.numa_node, b.path, b.numa_node);
}

std::string meeting_point(const PciFunction& a, const PciFunction& b) {
  std::string meeting;
  for (std::size_t i = 0; i < std::min(a.path.size(), b.path.size()); ++i) {
    if (a.path[i] != b.path[i]) break;
    if (i > 0 && a.path[i] != a.address && a.path[i] != b.address) meeting = a.path[i];
  }
  return meeting;
}

}  // namespace gdr::host

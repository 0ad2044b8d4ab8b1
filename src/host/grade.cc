#include "host/grade.h"

#include <algorithm>
#include <set>
#include <string_view>

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

namespace {

std::size_t common_length(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  std::size_t common = 0;
  while (common < std::min(a.size(), b.size()) && a[common] == b[common]) ++common;
  return common;
}

// Whatever no switch decides; nothing where the paths meet in one.
std::optional<PciPath> path_over_cpu(const std::vector<std::string>& a, int node_a,
                                     const std::vector<std::string>& b, int node_b) {
  if (card_of(a.back()) == card_of(b.back())) return PciPath::kPix;
  if (a[0] != b[0]) return node_a == node_b && node_a >= 0 ? PciPath::kNode : PciPath::kSys;
  if (common_length(a, b) == 1) return PciPath::kPhb;
  return std::nullopt;
}

bool begin_at_host_bridges(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  return a.size() >= 2 && b.size() >= 2 && is_host_bridge(a[0]) && is_host_bridge(b[0]);
}

// How many switches, and bridges of other kinds, lie on the way: a downstream port belongs to the
// upstream port right above it. Nothing where a port's kind is not known.
std::optional<std::size_t> units_between(const PciTree& tree, const std::vector<std::string>& a,
                                         const std::vector<std::string>& b) {
  const std::size_t common = common_length(a, b);
  std::set<std::string_view> units;
  for (const auto* path : {&a, &b}) {
    for (std::size_t i = common - 1; i + 1 < path->size(); ++i) {
      const PciFunction* port = tree.find((*path)[i]);
      if (port == nullptr || port->kind == PciKind::kUnknown) return std::nullopt;
      const bool of_switch = port->kind == PciKind::kDownstream && i > 1;
      units.insert(of_switch ? (*path)[i - 1] : (*path)[i]);
    }
  }
  return units.size();
}

PciPath by_units(std::size_t units) { return units <= 1 ? PciPath::kPix : PciPath::kPxb; }

}  // namespace

std::optional<PciPath> path_between(const std::vector<std::string>& a, int node_a,
                                    const std::vector<std::string>& b, int node_b) {
  if (!begin_at_host_bridges(a, b)) return std::nullopt;
  if (const auto path = path_over_cpu(a, node_a, b, node_b)) return path;
  const std::size_t longest_leg = std::max(a.size(), b.size()) - 1 - common_length(a, b);
  return by_units(longest_leg);
}

std::optional<PciPath> path_between(const PciTree& tree, const PciFunction& a,
                                    const PciFunction& b) {
  if (!begin_at_host_bridges(a.path, b.path)) return std::nullopt;
  if (const auto path = path_over_cpu(a.path, a.numa_node, b.path, b.numa_node)) return path;
  if (const auto units = units_between(tree, a.path, b.path)) return by_units(*units);
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

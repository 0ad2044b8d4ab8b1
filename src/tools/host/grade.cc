#include "host/grade.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>

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

// Behind different host bridges. A node that is not known may be the other's.
std::optional<PciPath> between_nodes(int a, int b) {
  if (a < 0 || b < 0) return std::nullopt;
  return a == b ? PciPath::kNode : PciPath::kSys;
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
  if (card_of(a.back()) == card_of(b.back())) return PciPath::kPix;
  if (a[0] != b[0]) return between_nodes(node_a, node_b);
  if (common_length(a, b) == 1) return PciPath::kPhb;
  return by_units(std::max(a.size(), b.size()) - 1 - common_length(a, b));
}

std::optional<PciPath> path_between(const PciTree& tree, const PciFunction& a,
                                    const PciFunction& b) {
  const auto& [from, to] = std::tie(a.path, b.path);
  if (begin_at_host_bridges(from, to) && from[0] == to[0] &&
      card_of(from.back()) != card_of(to.back())) {
    const bool meet_in_host_bridge = common_length(from, to) == 1;
    if (meet_in_host_bridge && tree.is_incomplete(from[0])) return std::nullopt;
    const auto units = meet_in_host_bridge ? std::nullopt : units_between(tree, from, to);
    if (units) return by_units(*units);
  }
  return path_between(from, tree.node_of(a), to, tree.node_of(b));
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

#include "nccl/paths.h"

#include <span>

namespace gdr::nccl {
namespace {

// Each table is that of the versions from `since` on: topoPathTypeStr in NCCL's src/graph/topo.cc.
constexpr const char* kSince20[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};
constexpr const char* kSince26[] = {"LOC", "NVL", "PIX", "PXB", "PHB", "SYS"};
constexpr const char* kSince28[] = {"LOC", "NVL", "NVB", "PIX", "PXB", "PHB", "SYS"};
constexpr const char* kSince212[] = {"LOC", "NVL", "NVB", "PIX", "PXB", "PXN", "PHB", "SYS"};
constexpr const char* kSince226[] = {"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "PXN", "PHB", "SYS"};
// 2.27.3 still has PXN and P2C the other way round; neither is ever the level that is missing.
constexpr const char* kSince227[] = {"LOC", "NVL", "NVB", "C2C", "PIX",
                                     "PXB", "P2C", "PXN", "PHB", "SYS"};

struct Table {
  int since;
  std::span<const char* const> names;
};
constexpr Table kTables[] = {{27, kSince227}, {26, kSince226}, {12, kSince212},
                             {8, kSince28},   {6, kSince26},   {0, kSince20}};

std::span<const char* const> names_of(const Version& version) {
  if (!version.known() || version.major != 2) return {};
  for (const Table& table : kTables) {
    if (version.minor >= table.since) return table.names;
  }
  return {};
}

}  // namespace

std::string path_name(const Version& version, std::int64_t distance) {
  const auto names = names_of(version);
  if (distance < 0 || distance >= static_cast<std::int64_t>(names.size())) return {};
  return names[static_cast<std::size_t>(distance)];
}

std::string distance_name(const Version& version, std::int64_t distance) {
  const std::string name = path_name(version, distance);
  return name.empty() ? std::to_string(distance) : std::to_string(distance) + " (" + name + ")";
}

std::string level_for(const Version& version, std::int64_t distance) {
  // Until 2.5 the level is a number that the distance has to stay below.
  if (version.before(6)) return std::to_string(distance + 1);
  const std::string name = path_name(version, distance);
  return name.empty() ? "SYS" : name;
}

std::int64_t default_limit(const Version& version) {
  const auto names = names_of(version);
  for (std::size_t at = names.size(); at-- > 0;) {
    const std::string_view name = names[at];
    if (name == "P2C" || name == "PXB") return static_cast<std::int64_t>(at);
  }
  return -1;
}

}  // namespace gdr::nccl

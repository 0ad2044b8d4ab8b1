// Where hosts hang: which leaf switch each rail of each host is connected to. Texts of others come
// in, so whatever they hold is tolerated or refused in one line.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "fabric/report.h"

namespace gdr::fabric {

// Larger texts than this are no topology of a fabric that there is.
constexpr std::size_t kLargestTopology = 64U << 20;

// A host's leaves: of all of its rails, or each by the name of its NIC.
struct HostLeaves {
  std::string leaf;                            // empty: only known by NIC
  std::map<std::string, std::string> of_nics;  // "mlx5_0": "leaf 3"
};
using Leaves = std::map<std::string, HostLeaves>;  // by the host's name

// Slurm's topology.conf: SwitchName= with Nodes= (a leaf) or Switches= (above leaves).
Result<Leaves> read_topology_conf(std::string_view text);

// Slurm's topology.yaml (25.05 and later), of trees: lists of switches with `nodes` or `children`.
Result<Leaves> read_topology_yaml(std::string_view text);

// What ibnetdiscover prints: switches and their ports, with the hosts' HCAs behind them ("n07
// mlx5_0").
Result<Leaves> read_ibnetdiscover(std::string_view text);

}  // namespace gdr::fabric

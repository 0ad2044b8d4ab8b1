// SimulatedFabric: what a transfer over a fabric measures: hosts under leaves, uplinks to spines,
// noise with heavy tails, transfers that share an uplink, and faults at places that are known.
// What it says of a transfer depends on the seed, the round and the two ends, and not on the order
// of the questions.
//
//   SimulatedFabric fabric({.hosts = 64, .seed = 1});
//   fabric.faults.push_back(slow_host(7, 0.85));
//   fabric.begin_round(0);
//   fabric.add(transfer);                       // each one that happens at the same time
//   Measurement m = fabric.measure(transfer);
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "made_up_fabric.h"

namespace gdr::fabric {

struct Noise {
  double scatter = 0.01;
  int degrees = 3;                    // of freedom of Student's t: fewer have heavier tails
  std::uint32_t one_disturbed = 200;  // one of so many transfers loses up to half of its speed
  // A leaf's links to the spines, as a multiple of its ports to hosts. A flow's link is chosen by
  // a hash, as in ECMP, and flows on the same link share it. 0: flows never meet.
  double links_per_port = 0;
};

struct FabricModel {
  std::uint32_t hosts = 64, hosts_per_leaf = 16, uplinks = 16;
  std::uint16_t rails = 2;
  Noise noise{};
  double link = 400e9, reached = 0.97;  // share of the link that a healthy pair reaches
  std::uint64_t seed = 1;
};

// One direction of one rail.
struct Flow {
  HostIndex from = 0, to = 0;
  std::uint16_t rail = 0, far_rail = 0;
};

class SimulatedFabric {
 public:
  explicit SimulatedFabric(const FabricModel& model) : model_(model) {}

  std::uint32_t leaf_of(HostIndex host) const { return host / model_.hosts_per_leaf; }
  std::string name_of(HostIndex host) const;
  std::string topology_conf() const;

  void begin_round(std::uint32_t round);
  void add(const Flow& flow);
  Measurement measure(const Flow& flow) const;

  std::vector<InjectedFault> faults;

 private:
  std::uint64_t hash_of(const Flow& flow, std::uint64_t salt) const;
  bool is_far(const Flow& flow) const { return leaf_of(flow.from) != leaf_of(flow.to); }
  // Its link up from the sender's leaf and its link down to the receiver's.
  std::uint64_t link_up(const Flow& flow) const;
  std::uint64_t link_down(const Flow& flow) const;
  double share_of_link(const Flow& flow) const;
  double factor(Random* random) const;

  const FabricModel model_;
  std::uint32_t round_ = 0;
  std::unordered_map<std::uint64_t, std::uint32_t> flows_on_;  // a link each
};

}  // namespace gdr::fabric

#include "simulated_fabric.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace gdr::fabric {
namespace {

double uniform(Random* random) {
  return (static_cast<double>(random->next() >> 11) + 0.5) * 0x1.0p-53;
}

double normal(Random* random) {
  constexpr double kPi = 3.14159265358979;
  return std::sqrt(-2 * std::log(uniform(random))) * std::cos(2 * kPi * uniform(random));
}

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) { return Random(hash ^ value).next(); }

}  // namespace

std::string SimulatedFabric::name_of(HostIndex host) const { return fmt::format("n{:05}", host); }

std::string SimulatedFabric::topology_conf() const {
  std::string text;
  for (HostIndex first = 0; first < model_.hosts; first += model_.hosts_per_leaf) {
    const HostIndex last = std::min(first + model_.hosts_per_leaf, model_.hosts) - 1;
    text += fmt::format("SwitchName=leaf{} Nodes=n[{:05}-{:05}]\n", leaf_of(first), first, last);
  }
  return text;
}

void SimulatedFabric::begin_round(std::uint32_t round) {
  round_ = round;
  flows_on_.clear();
}

void SimulatedFabric::add(const Flow& flow) {
  if (model_.noise.links_per_port <= 0 || !is_far(flow)) return;
  ++flows_on_[link_up(flow)];
  ++flows_on_[link_down(flow)];
}

std::uint64_t SimulatedFabric::hash_of(const Flow& flow, std::uint64_t salt) const {
  const std::uint64_t ends = (std::uint64_t{flow.from} << 32) | flow.to;
  return mix(mix(mix(model_.seed * 7919 + salt, ends), flow.rail), flow.far_rail);
}

std::uint64_t SimulatedFabric::link_up(const Flow& flow) const {
  const auto links = static_cast<std::uint64_t>(
      std::max(1.0, model_.noise.links_per_port * model_.hosts_per_leaf * model_.rails));
  return (std::uint64_t{leaf_of(flow.from)} << 33) | (hash_of(flow, 1) % links);
}

std::uint64_t SimulatedFabric::link_down(const Flow& flow) const {
  constexpr std::uint64_t kDown = std::uint64_t{1} << 32;
  const auto links = static_cast<std::uint64_t>(
      std::max(1.0, model_.noise.links_per_port * model_.hosts_per_leaf * model_.rails));
  return (std::uint64_t{leaf_of(flow.to)} << 33) | kDown | (hash_of(flow, 2) % links);
}

double SimulatedFabric::share_of_link(const Flow& flow) const {
  std::uint32_t most = 1;
  for (const std::uint64_t link : {link_up(flow), link_down(flow)}) {
    const auto found = flows_on_.find(link);
    if (found != flows_on_.end()) most = std::max(most, found->second);
  }
  return 1.0 / most;
}

// Student's t; and now and then, something else was going on.
double SimulatedFabric::factor(Random* random) const {
  const Noise& noise = model_.noise;
  double squares = 0;
  for (int degree = 0; degree < noise.degrees; ++degree) {
    const double value = normal(random);
    squares += value * value;
  }
  double factor = 1 - std::abs(noise.scatter * normal(random) / std::sqrt(squares / noise.degrees));
  if (random->below(noise.one_disturbed) == 0) factor *= 0.5 + uniform(random) / 2;
  return std::max(factor, 0.05);
}

Measurement SimulatedFabric::measure(const Flow& flow) const {
  Measurement m;
  m.from = flow.from;
  m.to = flow.to;
  m.round = round_;
  m.rail = flow.rail;
  m.far_rail = flow.far_rail;
  Random random(mix(hash_of(flow, 3), round_));
  const bool far = is_far(flow);
  double speed = model_.reached * model_.link / 8 * factor(&random);
  if (far && model_.noise.links_per_port > 0) speed *= share_of_link(flow);
  m.bytes_per_second = static_cast<float>(speed);
  m.latency = static_cast<float>((far ? 3200 : 2100) / factor(&random));
  const auto uplink = static_cast<std::uint32_t>(hash_of(flow, 4) % model_.uplinks);
  for (const InjectedFault& fault : faults) {
    fault({&m, leaf_of(flow.from), leaf_of(flow.to), uplink, &random});
  }
  return m;
}

}  // namespace gdr::fabric

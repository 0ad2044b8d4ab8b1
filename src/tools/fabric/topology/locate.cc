#include "fabric/topology/locate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

#include "fabric/topology/leaves.h"

namespace gdr::fabric {
namespace {

std::string_view first_label(std::string_view name) { return name.substr(0, name.find('.')); }

// By its name, or by what comes before the first dot of both names.
class HostLookup {
 public:
  explicit HostLookup(const Leaves& leaves) : leaves_(leaves) {
    for (const auto& [name, host] : leaves) by_label_.emplace(first_label(name), &host);
  }
  const HostLeaves* find(const std::string& name) const {
    if (const auto found = leaves_.find(name); found != leaves_.end()) return &found->second;
    const auto found = by_label_.find(first_label(name));
    return found == by_label_.end() ? nullptr : found->second;
  }

 private:
  const Leaves& leaves_;
  std::map<std::string_view, const HostLeaves*> by_label_;
};

std::string leaf_of_rail(const HostLeaves& host, const Rail& rail) {
  const auto own = host.of_nics.find(rail.nic);
  return own != host.of_nics.end() ? own->second : host.leaf;
}

bool is_known(const Host& host) {
  return !host.leaf.empty() ||
         std::ranges::any_of(host.rails, [](const Rail& rail) { return !rail.leaf.empty(); });
}

// Most hosts, so that what a file of another cluster happens to know does not decide.
bool knows_most(std::size_t known, const Report& report) {
  return known > 0 && known * 2 >= report.hosts.size();
}

bool apply(const Leaves& leaves, const std::string& source, Report* report) {
  const HostLookup lookup(leaves);
  const auto known = static_cast<std::size_t>(std::ranges::count_if(
      report->hosts, [&](const Host& host) { return lookup.find(host.name) != nullptr; }));
  if (!knows_most(known, *report)) return false;
  for (Host& host : report->hosts) {
    const HostLeaves* found = lookup.find(host.name);
    host.leaf.clear();
    for (Rail& rail : host.rails) {
      const std::string leaf = found == nullptr ? "" : leaf_of_rail(*found, rail);
      // The port is the one that LLDP tells of this leaf, or of another name for it.
      rail.leaf = leaf;
      if (host.leaf.empty()) host.leaf = leaf;
    }
    if (found != nullptr && host.leaf.empty()) host.leaf = found->leaf;
  }
  report->topology = source;
  return true;
}

bool apply_lldp(Report* report) {
  const auto known = static_cast<std::size_t>(std::ranges::count_if(report->hosts, is_known));
  if (!knows_most(known, *report)) return false;
  for (Host& host : report->hosts) {
    if (!host.rails.empty()) host.leaf = host.rails.front().leaf;
  }
  report->topology = "LLDP";
  return true;
}

bool apply_latency(Report* report) {
  const std::vector<std::string> groups = group_by_latency(*report);
  if (groups.empty()) return false;
  for (std::size_t host = 0; host < groups.size(); ++host) report->hosts[host].leaf = groups[host];
  report->topology = "latency";
  return true;
}

}  // namespace

std::vector<std::string> locate(const TopologyTexts& texts, Report* report) {
  std::vector<std::string> notes;
  const auto use = [&](const std::string& text, const std::string& name, auto read) {
    if (text.empty()) return false;
    Result<Leaves> leaves = read(text);
    if (!leaves) {
      notes.push_back(leaves.error().message);
      return false;
    }
    if (apply(*leaves, name, report)) return true;
    notes.push_back(fmt::format("{}: it knows fewer than half of these hosts", name));
    return false;
  };
  // What was found before the measurements stays.
  if (!report->topology.empty()) return notes;
  const bool yaml = use(texts.topology_yaml, "topology.yaml", read_topology_yaml);
  if (yaml || use(texts.topology_conf, "topology.conf", read_topology_conf) ||
      use(texts.ibnetdiscover, "ibnetdiscover", read_ibnetdiscover) || apply_lldp(report) ||
      apply_latency(report)) {
    return notes;
  }
  return notes;
}

std::vector<std::uint32_t> leaf_numbers(const Report& report) {
  std::vector<std::uint32_t> numbers;
  std::map<std::string_view, std::uint32_t> known;
  for (const Host& host : report.hosts) {
    const auto next = static_cast<std::uint32_t>(known.size());
    numbers.push_back(known.try_emplace(host.leaf, next).first->second);
  }
  const bool none = std::ranges::all_of(report.hosts, [](const Host& h) { return h.leaf.empty(); });
  return none ? std::vector<std::uint32_t>{} : numbers;
}

}  // namespace gdr::fabric

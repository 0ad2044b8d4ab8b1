#include "fabric/output/page_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

#include "base/printable.h"
#include "fabric/output/coverage.h"
#include "text/json_text.h"

namespace gdr::fabric {
namespace {

using nlohmann::ordered_json;

// As page/cells.js has them.
constexpr std::uint16_t kMostCode = 65535, kUnknownRound = 0x1fff;
constexpr std::size_t kMostIncidents = 2000;
// Of the fleet's median: slower cells stand out.
constexpr double kStandsOut = 0.9;

struct Cell {
  HostIndex from = 0, to = 0;
  std::uint32_t round = 0;
  Outcome outcome = Outcome::kAbandoned;
  float bandwidth = 0, latency = 0;
};

// The worst outcome of several is shown, with the last figures.
int rank(Outcome outcome) {
  switch (outcome) {
    case Outcome::kWrongBytes:
      return 3;
    case Outcome::kFailed:
      return 2;
    case Outcome::kProved:
      return 1;
    case Outcome::kAbandoned:
      break;
  }
  return 0;
}

// As page/cells.js has it: nothing is 0.
std::uint16_t mark_of(const Cell& cell) {
  const int code = cell.outcome == Outcome::kProved       ? 1
                   : cell.outcome == Outcome::kWrongBytes ? 2
                   : cell.outcome == Outcome::kFailed     ? 3
                                                          : 4;
  const std::uint32_t round = std::min<std::uint32_t>(cell.round, kUnknownRound);
  return static_cast<std::uint16_t>(round << 3 | static_cast<std::uint32_t>(code));
}

using LayerKey = std::pair<std::uint16_t, std::uint16_t>;  // rail and far rail
using Layers = std::map<LayerKey, std::vector<Cell>>;

void merge(std::vector<Cell>& cells) {
  const auto place = [](const Cell& cell) { return std::pair(cell.from, cell.to); };
  std::ranges::stable_sort(cells, {}, place);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (kept == 0 || place(cells[kept - 1]) != place(cells[i])) {
      cells[kept++] = cells[i];
      continue;
    }
    Cell& known = cells[kept - 1];
    if (rank(cells[i].outcome) < rank(known.outcome)) continue;
    const Cell before = known;
    known = cells[i];
    if (!(known.bandwidth > 0)) known.bandwidth = before.bandwidth;
    if (!(known.latency > 0)) known.latency = before.latency;
  }
  cells.resize(kept);
}

Layers layers_of(const Report& report, bool retests) {
  Layers layers;
  for (const Measurement& one : report.measurements) {
    if (one.is_retest != retests || one.from == one.to) continue;
    layers[{one.rail, one.far_rail}].push_back(
        {one.from, one.to, one.round, one.outcome, one.bytes_per_second, one.latency});
  }
  for (auto& [key, cells] : layers) merge(cells);
  return layers;
}

bool stands_out(const Report& report, std::uint16_t rail, const Cell& cell) {
  if (cell.outcome != Outcome::kProved) return true;
  if (rail >= report.fleet.size()) return false;
  const FleetRail& fleet = report.fleet[rail];
  return (cell.bandwidth > 0 && cell.bandwidth < kStandsOut * fleet.bandwidth.median) ||
         (cell.latency > 0 && fleet.latency.median > 0 &&
          cell.latency * kStandsOut > fleet.latency.median);
}

// The same cells each time, spread evenly over hosts: an integer hash of the place (splitmix64).
double fraction_of(const Cell& cell, std::uint16_t rail) {
  std::uint64_t x = (std::uint64_t{cell.from} << 32 | cell.to) + 0x9e3779b97f4a7c15 * (rail + 1u);
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((x ^ x >> 31) >> 11) * 0x1p-53;
}

std::size_t packed_bytes(std::size_t cells, std::size_t hosts) {
  return std::min(cells * 10, hosts * hosts * 6);
}

void leave_out(const Report& report, std::size_t most_bytes, Layers& layers) {
  std::size_t bytes = 0, cells = 0;
  for (const auto& [key, layer] : layers) {
    bytes += packed_bytes(layer.size(), report.hosts.size());
    cells += layer.size();
  }
  if (bytes <= most_bytes) return;
  // What is left is thin, so it is packed as a list.
  const double share = static_cast<double>(most_bytes) / 10 / static_cast<double>(cells);
  for (auto& [key, layer] : layers) {
    // Cells that are not proved come before those that are only slow.
    const std::size_t most = std::max<std::size_t>(1, most_bytes / 20 / layers.size());
    const auto unproved = static_cast<std::size_t>(std::ranges::count_if(
        layer, [](const Cell& cell) { return cell.outcome != Outcome::kProved; }));
    std::size_t unproved_left = most, slow_left = most - std::min(most, unproved);
    std::erase_if(layer, [&, rail = key.first](const Cell& cell) {
      std::size_t& left = cell.outcome != Outcome::kProved ? unproved_left : slow_left;
      if (left > 0 && stands_out(report, rail, cell)) return --left, false;
      return fraction_of(cell, rail) > share / 2;
    });
  }
}

// Places on a logarithmic scale from the least to the most: a step is less than 0.05 % of a value
// even where they are a billion apart.
class AmountScale {
 public:
  void add(float value) {
    if (!(value > 0) || !std::isfinite(value)) return;
    least_ = most_ > 0 ? std::min<double>(least_, value) : value;
    most_ = std::max<double>(most_, value);
  }
  std::uint16_t code(float value) const {
    if (!(value > 0) || !std::isfinite(value)) return 0;
    if (most_ <= least_) return 1;
    const double place = std::log(value / least_) / std::log(most_ / least_);
    return static_cast<std::uint16_t>(1 +
                                      std::lround(std::clamp(place, 0.0, 1.0) * (kMostCode - 1)));
  }
  ordered_json json() const {
    return most_ > 0 ? ordered_json{least_, most_} : ordered_json{1.0, 1.0};
  }

 private:
  double least_ = 0, most_ = 0;
};

ordered_json packed_layer(const LayerKey& key, const std::vector<Cell>& cells, std::size_t hosts) {
  const bool is_dense = hosts * hosts * 6 <= cells.size() * 10;
  const std::size_t count = is_dense ? hosts * hosts : cells.size();
  const std::size_t places = is_dense ? 0 : 2 * count;
  AmountScale bandwidth, latency;
  for (const Cell& cell : cells) {
    bandwidth.add(cell.bandwidth);
    latency.add(cell.latency);
  }
  std::vector<std::uint16_t> numbers(places + 3 * count);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const Cell& cell = cells[i];
    const std::size_t at = is_dense ? cell.from * hosts + cell.to : i;
    if (!is_dense) {
      numbers[i] = static_cast<std::uint16_t>(cell.from);
      numbers[count + i] = static_cast<std::uint16_t>(cell.to);
    }
    numbers[places + at] = bandwidth.code(cell.bandwidth);
    numbers[places + count + at] = latency.code(cell.latency);
    numbers[places + 2 * count + at] = mark_of(cell);
  }
  return {{"rail", key.first},
          {"far_rail", key.second},
          {"is_dense", is_dense},
          {"cells", count},
          {"bandwidth_scale", bandwidth.json()},
          {"latency_scale", latency.json()},
          {"data", base64(numbers)}};
}

// Aligned rails first.
ordered_json packed_layers(const Layers& layers, std::size_t hosts) {
  ordered_json all = ordered_json::array();
  for (const bool crossed : {false, true}) {
    for (const auto& [key, cells] : layers) {
      if ((key.first != key.second) == crossed && !cells.empty()) {
        all.push_back(packed_layer(key, cells, hosts));
      }
    }
  }
  return all;
}

ordered_json hosts_json(const Report& report) {
  ordered_json hosts = ordered_json::array();
  for (const Host& host : report.hosts) {
    hosts.push_back({{"name", printable(host.name)},
                     {"leaf", printable(host.leaf)},
                     {"state", name_of(host.state)},
                     {"problem", printable(host.problem)}});
  }
  return hosts;
}

ordered_json rails_json(const Report& report) {
  ordered_json rails = ordered_json::array();
  for (std::size_t rail = 0; rail < rail_count(report); ++rail) {
    rails.push_back(printable(rail_name(report, rail)));
  }
  return rails;
}

ordered_json fleet_json(const Report& report) {
  ordered_json fleet = ordered_json::array();
  for (const FleetRail& rail : report.fleet) {
    fleet.push_back({{"bandwidth", rail.bandwidth.median}, {"latency", rail.latency.median}});
  }
  return fleet;
}

ordered_json incidents_json(const Report& report) {
  ordered_json incidents = ordered_json::array();
  for (const Incident& one : report.incidents) {
    if (incidents.size() == kMostIncidents) break;
    incidents.push_back({one.from, one.to, one.rail, printable(one.text)});
  }
  return incidents;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The number at the start of `text`, without leading zeros, and what is behind it.
std::pair<std::string_view, std::string_view> split_number(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::size_t zeros = 0;
  while (zeros + 1 < end && text[zeros] == '0') ++zeros;
  return {text.substr(zeros, end - zeros), text.substr(end)};
}

}  // namespace

bool is_before(std::string_view a, std::string_view b) {
  const std::string_view whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a[0]) && is_digit(b[0])) {
      const auto [number_a, rest_a] = split_number(a);
      const auto [number_b, rest_b] = split_number(b);
      if (number_a != number_b) {
        return std::pair(number_a.size(), number_a) < std::pair(number_b.size(), number_b);
      }
      a = rest_a;
      b = rest_b;
    } else if (a[0] != b[0]) {
      return a[0] < b[0];
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole_a < whole_b;
}

std::vector<HostIndex> hosts_in_order(const Report& report) {
  std::vector<HostIndex> order(report.hosts.size());
  std::iota(order.begin(), order.end(), HostIndex{0});
  std::ranges::stable_sort(order, [&](HostIndex a, HostIndex b) {
    const Host &first = report.hosts[a], &second = report.hosts[b];
    // Hosts whose leaf is not known come last.
    if (first.leaf.empty() != second.leaf.empty()) return second.leaf.empty();
    if (first.leaf != second.leaf) return is_before(first.leaf, second.leaf);
    return is_before(first.name, second.name);
  });
  return order;
}

std::string base64(const std::vector<std::uint16_t>& numbers) {
  static constexpr char kLetters[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  // Lower byte first, whatever this machine prefers.
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i / 2 < numbers.size() ? numbers[i / 2] >> (i % 2 * 8) & 0xff : 0;
  };
  const std::size_t bytes = numbers.size() * 2;
  std::string text;
  text.reserve((bytes + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes; i += 3) {
    const std::uint32_t three = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    text += kLetters[three >> 18];
    text += kLetters[three >> 12 & 63];
    text += i + 1 < bytes ? kLetters[three >> 6 & 63] : '=';
    text += i + 2 < bytes ? kLetters[three & 63] : '=';
  }
  return text;
}

PageData page_data(const Report& report, std::size_t most_bytes) {
  PageData data;
  Layers layers = layers_of(report, false), retests = layers_of(report, true);
  const auto count = [](const Layers& of) {
    std::size_t cells = 0;
    for (const auto& [key, layer] : of) cells += layer.size();
    return cells;
  };
  data.cells = count(layers);
  leave_out(report, most_bytes, layers);
  data.shown = count(layers);
  const std::size_t hosts = report.hosts.size();
  const ordered_json document{{"hosts", hosts_json(report)},
                              {"order", hosts_in_order(report)},
                              {"rails", rails_json(report)},
                              {"fleet", fleet_json(report)},
                              {"layers", packed_layers(layers, hosts)},
                              {"retests", packed_layers(retests, hosts)},
                              {"incidents", incidents_json(report)}};
  data.json = text::json_text(document, -1);
  return data;
}

}  // namespace gdr::fabric

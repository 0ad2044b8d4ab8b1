#include "topo/best.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace gdr::topo {
namespace {

constexpr int kUnknownPath = 100;

// What NICs are judged by, the most important first; the smaller the better.
struct Merit {
  int distance = kUnknownPath;
  int other_node = 1;
  double slowness = 0;  // the link's lanes times their speed, negative
  int idle_port = 1;    // 0: active, 1: not known, 2: down
  auto order() const { return std::tie(distance, other_node, slowness, idle_port); }
};

struct Candidate {
  std::size_t nic = 0;
  Merit merit;
};

int idle_port(const host::Nic& nic) {
  bool known = false;
  for (const host::Port& port : nic.ports) {
    if (port.state.find("ACTIVE") != std::string::npos) return 0;
    known = known || !port.state.empty();
  }
  return known ? 2 : 1;
}

Merit merit_of(const host::Inventory& inventory, const Device& gpu, const Device& nic,
               const Cell& cell) {
  Merit merit;
  if (cell.path) merit.distance = static_cast<int>(*cell.path);
  merit.other_node = gpu.numa_node >= 0 && gpu.numa_node == nic.numa_node ? 0 : 1;
  if (const host::PciLink* link = link_of(nic)) merit.slowness = -link->speed * link->width;
  merit.idle_port = idle_port(inventory.nics[nic.index]);
  return merit;
}

std::vector<Candidate> candidates_of(const host::Inventory& inventory,
                                     const std::vector<Device>& devices, const Matrix& matrix,
                                     std::size_t gpu) {
  std::vector<Candidate> found;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind != Device::Kind::kNic) continue;
    found.push_back({i, merit_of(inventory, devices[gpu], devices[i], matrix.at(gpu, i))});
  }
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.merit.order() < b.merit.order();
  });
  return found;
}

std::string labels(const std::vector<Device>& devices, const std::vector<Candidate>& of) {
  constexpr std::size_t kMost = 3;
  std::string text;
  for (std::size_t i = 0; i < of.size() && i < kMost; ++i) {
    text += (i == 0 ? "" : ", ") + devices[of[i].nic].label;
  }
  if (of.size() > kMost) text += fmt::format(" and {} more", of.size() - kMost);
  return text;
}

std::string grade_text(int distance) {
  return distance == kUnknownPath ? "an unknown distance"
                                  : host::name_of(static_cast<host::PciPath>(distance));
}

// What decided between the chosen one and those that lost; `rest` holds them, the best first.
std::string reason(const std::vector<Device>& devices, const Candidate& chosen,
                   const std::vector<Candidate>& rest) {
  const Merit& mine = chosen.merit;
  if (rest.empty()) return "the only NIC";
  if (mine.distance == kUnknownPath) return "no distance is known";
  const Merit& next = rest.front().merit;
  std::vector<Candidate> same;  // as what loses by the last criterion
  for (const Candidate& one : rest) {
    if (one.merit.distance == mine.distance) same.push_back(one);
  }
  if (same.empty()) {
    return fmt::format("nearest; {} is at {}", devices[rest.front().nic].label,
                       grade_text(next.distance));
  }
  const std::string others = labels(devices, same);
  const std::string as_near = fmt::format("as near as {}", others);
  if (next.other_node != mine.other_node) return as_near + ", and on the GPU's NUMA node";
  if (next.slowness != mine.slowness) {
    return fmt::format("{}, with the faster link: {}", as_near,
                       text_of(*link_of(devices[chosen.nic])));
  }
  if (next.idle_port != mine.idle_port) {
    return as_near + (mine.idle_port == 0 ? ", with an active port" : ", whose ports are down");
  }
  return {};  // alike
}

std::string card_of(const Device& nic) { return nic.address.substr(0, nic.address.rfind('.')); }

// How many GPUs have a NIC already, and a card, of which a NIC may be one of two functions.
struct Shares {
  std::map<std::size_t, unsigned> of_nic;
  std::map<std::string, unsigned> of_card;
};

struct Open {
  std::size_t gpu = 0;
  std::vector<Candidate> candidates;
  std::size_t alike = 0;  // how many of them are as good as the first
};

Choice choose(const std::vector<Device>& devices, Open& open, Shares& shares) {
  auto& candidates = open.candidates;
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(open.alike);
  const auto chosen =
      std::min_element(candidates.begin(), end, [&](const Candidate& a, const Candidate& b) {
        const auto load = [&](const Candidate& one) {
          return std::pair(shares.of_card[card_of(devices[one.nic])], shares.of_nic[one.nic]);
        };
        return load(a) < load(b);
      });
  const Candidate mine = *chosen;
  candidates.erase(chosen);
  ++shares.of_nic[mine.nic];
  ++shares.of_card[card_of(devices[mine.nic])];
  Choice choice;
  choice.gpu = open.gpu;
  choice.nic = mine.nic;
  for (std::size_t i = 0; i + 1 < open.alike; ++i) choice.alike.push_back(candidates[i].nic);
  choice.why = reason(devices, mine, candidates);
  if (choice.why.empty()) {
    const std::vector<Candidate> equals(
        candidates.begin(), candidates.begin() + static_cast<std::ptrdiff_t>(open.alike) - 1);
    choice.why = fmt::format("as good as {}; shared out over the GPUs", labels(devices, equals));
  }
  if (mine.merit.idle_port == 2) choice.why += "; its ports are down";
  return choice;
}

}  // namespace

const char* name_of(Quality quality) {
  constexpr const char* kNames[] = {"good", "likely good", "bad", "unknown"};
  return kNames[static_cast<std::size_t>(quality)];
}

Quality quality_of(std::optional<host::PciPath> path, bool reliable) {
  if (!path || !reliable) return Quality::kUnknown;
  if (*path <= host::PciPath::kPxb) return Quality::kGood;
  return *path == host::PciPath::kPhb ? Quality::kLikelyGood : Quality::kBad;
}

std::vector<Choice> choose_nics(const host::Inventory& inventory,
                                const std::vector<Device>& devices, const Matrix& matrix) {
  std::vector<Open> open;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind != Device::Kind::kGpu) continue;
    Open one{i, candidates_of(inventory, devices, matrix, i)};
    while (one.alike < one.candidates.size() &&
           one.candidates[one.alike].merit.order() == one.candidates.front().merit.order()) {
      ++one.alike;
    }
    open.push_back(std::move(one));
  }
  // Who has no choice takes first, so that the others can keep out of the way.
  std::stable_sort(open.begin(), open.end(),
                   [](const Open& a, const Open& b) { return a.alike < b.alike; });
  std::vector<Choice> choices;
  Shares shares;
  for (Open& one : open) {
    Choice choice;
    choice.gpu = one.gpu;
    choice.why = "no RDMA NIC";
    if (!one.candidates.empty()) {
      choice = choose(devices, one, shares);
      choice.path = matrix.at(choice.gpu, *choice.nic).path;
      choice.quality = quality_of(choice.path, !inventory.flat);
    }
    choices.push_back(std::move(choice));
  }
  std::sort(choices.begin(), choices.end(),
            [](const Choice& a, const Choice& b) { return a.gpu < b.gpu; });
  return choices;
}

}  // namespace gdr::topo

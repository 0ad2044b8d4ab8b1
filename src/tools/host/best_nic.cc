#include "host/best_nic.h"

#include <stdio.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "host/management.h"
#include "host/pci/link.h"

namespace gdr::host {
namespace {

// A capture may claim any number, and every GPU is compared with every NIC.
constexpr std::size_t kMostGpus = 1024, kMostPairs = std::size_t{1} << 18;

constexpr int kUnknownPath = 100;

// What NICs are judged by, the most important first; the smaller the better.
struct Merit {
  int distance = kUnknownPath;
  int other_node = 1;
  double slowness = 0;  // the link's bandwidth, negative
  int idle_port = 1;    // 0: active, 1: not known, 2: down
  double port_slowness = 0;
  auto order() const { return std::tie(distance, other_node, slowness, idle_port, port_slowness); }
};

struct Candidate {
  RankedNic nic;
  Merit merit;
};

int idle_port(const Nic& nic) {
  if (has_active_port(nic)) return 0;
  return std::ranges::any_of(nic.ports, [](const Port& port) { return !port.state.empty(); }) ? 2
                                                                                              : 1;
}

double fastest_port(const Nic& nic) {
  double rate = 0;
  for (const Port& port : nic.ports) rate = std::max(rate, rate_of(port));
  return rate;
}

// What is the same whichever GPU asks.
Merit merit_of(const Inventory& inventory, const Nic& nic) {
  Merit merit;
  if (const PciLink* link = card_link(inventory.pci, *nic.pci)) {
    merit.slowness = -bandwidth_of(*link);
  }
  merit.idle_port = idle_port(nic);
  merit.port_slowness = -fastest_port(nic);
  return merit;
}

int node_of(const Inventory& inventory, int own, const std::optional<PciFunction>& function) {
  return own >= 0 || !function ? own : inventory.pci.node_of(*function);
}

std::vector<Candidate> candidates_of(const Inventory& inventory, const Gpu& gpu,
                                     const std::vector<Candidate>& nics) {
  std::vector<Candidate> found = nics;
  for (Candidate& one : found) {
    const Nic& nic = inventory.nics[one.nic.index];
    if (gpu.pci) one.nic.path = path_between(inventory.pci, *gpu.pci, *nic.pci);
    if (one.nic.path) one.merit.distance = static_cast<int>(*one.nic.path);
    const int node = node_of(inventory, gpu.numa_node, gpu.pci);
    one.merit.other_node = node >= 0 && node == node_of(inventory, nic.numa_node, nic.pci) ? 0 : 1;
  }
  std::stable_sort(found.begin(), found.end(), [](const Candidate& a, const Candidate& b) {
    return a.merit.order() < b.merit.order();
  });
  return found;
}

// Between the first and the rest.
NicReason reason_of(const std::vector<Candidate>& candidates) {
  const Merit& mine = candidates.front().merit;
  if (candidates.size() == 1) return NicReason::kOnlyNic;
  if (mine.distance == kUnknownPath) return NicReason::kNoDistance;
  const Merit& next = candidates[1].merit;
  if (next.distance != mine.distance) return NicReason::kNearest;
  if (next.other_node != mine.other_node) return NicReason::kNumaNode;
  if (next.slowness != mine.slowness) return NicReason::kFasterLink;
  if (next.idle_port != mine.idle_port) {
    return mine.idle_port == 0 ? NicReason::kActivePort : NicReason::kNoPortDown;
  }
  if (next.port_slowness != mine.port_slowness) return NicReason::kFasterPort;
  return NicReason::kAlike;
}

std::string number_of(double value) {
  char text[32];
  snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string detail_of(const Inventory& inventory, NicReason reason, const Candidate& chosen) {
  if (reason == NicReason::kFasterLink) {
    const std::string link =
        text_of(*card_link(inventory.pci, *inventory.nics[chosen.nic.index].pci));
    return link.empty() ? "about " + number_of(-chosen.merit.slowness) + " GB/s" : link;
  }
  if (reason != NicReason::kFasterPort) return {};
  return number_of(-chosen.merit.port_slowness) + " Gb/s";
}

// How many GPUs have a NIC already, and a card, of which a NIC may be one of two functions.
struct Shares {
  std::map<std::size_t, unsigned> of_nic;
  std::map<std::string, unsigned> of_card;
};

struct Open {
  std::size_t gpu = 0;
  std::vector<Candidate> candidates;
  std::size_t as_good = 0;  // how many of them are as good as the first, with it
};

NicChoice choose(const Inventory& inventory, Open& open, Shares& shares) {
  NicChoice choice;
  choice.gpu = open.gpu;
  auto& candidates = open.candidates;
  if (candidates.empty()) {
    const bool any =
        std::ranges::any_of(inventory.nics, [](const Nic& nic) { return !nic.management.empty(); });
    if (any) choice.reason = NicReason::kNoDataNic;
    return choice;
  }
  const auto card = [&](const Candidate& one) {
    return card_of(inventory.nics[one.nic.index].pci->address);
  };
  const auto load = [&](const Candidate& one) {
    return std::pair(shares.of_card[card(one)], shares.of_nic[one.nic.index]);
  };
  const auto end = candidates.begin() + static_cast<std::ptrdiff_t>(open.as_good);
  const auto chosen =
      std::min_element(candidates.begin(), end,
                       [&](const Candidate& a, const Candidate& b) { return load(a) < load(b); });
  std::rotate(candidates.begin(), chosen, chosen + 1);
  const Candidate& mine = candidates.front();
  ++shares.of_nic[mine.nic.index];
  ++shares.of_card[card(mine)];
  for (const Candidate& one : candidates) choice.nics.push_back(one.nic);
  choice.alike = open.as_good - 1;
  choice.reason = reason_of(candidates);
  choice.detail = detail_of(inventory, choice.reason, mine);
  choice.ports_down = mine.merit.idle_port == 2;
  return choice;
}

std::vector<Open> open_choices(const Inventory& inventory) {
  const std::size_t gpus = std::min(inventory.gpus.size(), kMostGpus);
  const std::size_t most = kMostPairs / std::max<std::size_t>(gpus, 1);
  std::vector<Candidate> nics;
  for (std::size_t i = 0; i < inventory.nics.size() && nics.size() < most; ++i) {
    const Nic& nic = inventory.nics[i];
    if (nic.pci && nic.management.empty()) nics.push_back({{i, {}}, merit_of(inventory, nic)});
  }
  std::vector<Open> open;
  for (std::size_t i = 0; i < gpus; ++i) {
    Open one{i, candidates_of(inventory, inventory.gpus[i], nics)};
    while (one.as_good < one.candidates.size() &&
           one.candidates[one.as_good].merit.order() == one.candidates.front().merit.order()) {
      ++one.as_good;
    }
    open.push_back(std::move(one));
  }
  return open;
}

// The first `count` of those that were not chosen.
std::string names_of(const NicChoice& choice, std::size_t count, const NicLabel& label) {
  constexpr std::size_t kMost = 3;
  std::string names;
  for (std::size_t i = 1; i <= std::min(count, kMost); ++i) {
    names += (i == 1 ? "" : ", ") + label(choice.nics[i]);
  }
  if (count > kMost) names += " and " + std::to_string(count - kMost) + " more";
  return names;
}

// How many of those that were not chosen are as near as the chosen one.
std::size_t equally_near(const NicChoice& choice) {
  std::size_t count = 0;
  while (count + 1 < choice.nics.size() &&
         choice.nics[count + 1].path == choice.nics.front().path) {
    ++count;
  }
  return count;
}

}  // namespace

std::vector<NicChoice> choose_nics(const Inventory& inventory) {
  std::vector<Open> open = open_choices(inventory);
  // Who has no choice takes first, so that the others can keep out of the way; then in order of
  // addresses, whose domains may have more digits.
  const auto turn = [&](const Open& one) {
    const std::string& address = inventory.gpus[one.gpu].pci_address;
    return std::tuple(one.as_good, address.size(), std::string_view(address));
  };
  std::stable_sort(open.begin(), open.end(),
                   [&](const Open& a, const Open& b) { return turn(a) < turn(b); });
  std::vector<NicChoice> choices(open.size());
  Shares shares;
  for (Open& one : open) choices[one.gpu] = choose(inventory, one, shares);
  return choices;
}

std::string why(const NicChoice& choice, const NicLabel& label) {
  const auto as_near = [&] {
    return "as near as " + names_of(choice, equally_near(choice), label);
  };
  std::string text;
  switch (choice.reason) {
    case NicReason::kNumaNode:
      text = as_near() + ", and on the GPU's NUMA node";
      break;
    case NicReason::kFasterLink:
      text = as_near() + ", with the faster link: " + choice.detail;
      break;
    case NicReason::kActivePort:
      text = as_near() + ", with an active port";
      break;
    case NicReason::kNoPortDown:
      text = as_near() + ", whose ports are down";
      break;
    case NicReason::kFasterPort:
      text = as_near() + ", with the faster port: " + choice.detail;
      break;
    case NicReason::kAlike:
      text = "as good as " + names_of(choice, choice.alike, label) +
             "; chosen to spread the GPUs over the NICs";
      break;
    default:
      return brief_why(choice, label);
  }
  return choice.ports_down ? text + "; its ports are down" : text;
}

std::string brief_why(const NicChoice& choice, const NicLabel& label) {
  const auto near = [&] { return names_of(choice, equally_near(choice), label); };
  std::string text;
  switch (choice.reason) {
    case NicReason::kNoNic:
      return "no RDMA NIC";
    case NicReason::kNoDataNic:
      return "no NIC for data";
    case NicReason::kOnlyNic:
      text = "the only NIC";
      break;
    case NicReason::kNoDistance:
      text = "distances unknown";
      break;
    case NicReason::kNearest: {
      const auto& path = choice.nics[1].path;
      text = "nearest; " + names_of(choice, 1, label) + " is at " +
             (path ? name_of(*path) : "unknown distance");
      break;
    }
    case NicReason::kNumaNode:
      text = "same NUMA node, unlike " + near();
      break;
    case NicReason::kFasterLink:
      text = "faster link than " + near();
      break;
    case NicReason::kActivePort:
      text = "active port, unlike " + near();
      break;
    case NicReason::kNoPortDown:
      text = "ports not down, unlike " + near();
      break;
    case NicReason::kFasterPort:
      text = "faster port than " + near();
      break;
    case NicReason::kAlike:
      text = "as good as " + names_of(choice, choice.alike, label);
      break;
  }
  return choice.ports_down ? text + "; its ports are down" : text;
}

}  // namespace gdr::host

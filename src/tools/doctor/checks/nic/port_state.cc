// Does each NIC port that a GPU needs have a link as fast as its peers'?
#include <algorithm>
#include <map>
#include <set>

#include "doctor/checks/all.h"
#include "doctor/checks/gather.h"
#include "doctor/checks/nic/ports.h"
#include "doctor/checks/pairs.h"
#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {
namespace port_state_check {

constexpr const char* kExplanation =
    "A port carries data if its state is ACTIVE. Without a link (phys_state Polling) there is no "
    "cable, no transceiver or nothing at the other end; Disabled means that the interface is down. "
    "A port without a link fails if a GPU has no other NIC as near, warns if others as near "
    "remain, and is ok if no GPU needs it: the second port of a card, a NIC for storage. The rate "
    "is compared with the fastest port of the same model. InfiniBand ports in INIT wait for a "
    "subnet manager, which has a check of its own.";

enum class Need : std::uint8_t { kOnly, kShared, kNone };

// Which NICs are as near to a GPU as any, and which of those are its only hope.
std::map<const host::Nic*, Need> needs_of(const host::Inventory& inventory) {
  std::map<const host::Nic*, Need> needs;
  for (const GpuPairs& gpu : pairs_of(inventory)) {
    if (gpu.pairs.empty()) continue;
    std::vector<const host::Nic*> nearest;
    for (const Pair& pair : gpu.pairs) {
      if (pair.grade == gpu.pairs.front().grade) nearest.push_back(pair.nic);
    }
    const bool any =
        std::ranges::any_of(nearest, [](const host::Nic* nic) { return has_active_port(*nic); });
    for (const host::Nic* nic : nearest) {
      Need& need = needs.try_emplace(nic, Need::kNone).first->second;
      need = std::min(need, any ? Need::kShared : Need::kOnly);
    }
  }
  // If no path to a GPU is known, any NIC counts.
  if (needs.empty()) {
    const bool any = std::ranges::any_of(inventory.nics, host::has_active_port);
    for (const host::Nic& nic : inventory.nics) needs[&nic] = any ? Need::kShared : Need::kOnly;
  }
  return needs;
}

// Those that have a link; a second port without one is left out on purpose.
std::set<std::string> cards_with_link(const host::Inventory& inventory) {
  std::set<std::string> cards;
  for (const host::Nic& nic : inventory.nics) {
    if (nic.pci && has_active_port(nic)) cards.insert(host::card_of(nic.pci->address));
  }
  return cards;
}

// By model: what a port of this card can reach here.
std::map<std::string, double> best_rates(const Host& host, const std::vector<PortOf>& ports) {
  std::map<std::string, double> best;
  for (const PortOf& port : ports) {
    if (state_of(port) != "ACTIVE") continue;
    double& rate = best[host.files.line("sys/class/infiniband/" + port.nic->name + "/board_id")];
    rate = std::max(rate, rate_of(*port.port));
  }
  best.erase("");
  return best;
}

void explain_link(Finding& finding, const PortOf& port, const std::string& physical) {
  const bool disabled = physical.find("Disabled") != std::string::npos;
  finding.summary = disabled ? "the port is switched off" : "no link";
  finding.consequence = finding.outcome == Outcome::kFail
                            ? "The GPUs nearest to this NIC have no other NIC as near."
                            : "The GPUs nearest to this NIC share the remaining NICs.";
  if (disabled && port.is_ethernet() && text::is_plain_name(port.port->netdev)) {
    finding.fix.now = to_type(text::Command("sudo ip link set dev {} up", port.port->netdev));
    finding.fix.for_good =
        to_do("make the network configuration bring " + port.port->netdev + " up");
  } else {
    finding.fix = {to_type(text::Command::of_each("sudo mlxlink -d {}")),
                   to_do("check cable, transceiver and switch port")};
  }
}

Finding without_link(const Host& host, const PortOf& port, Need need, bool card_has_link) {
  Finding finding;
  const std::string physical = host.files.line(folder_of(port) + "/phys_state");
  finding.evidence = {
      {"/" + folder_of(port) + "/state", port.port->state},
      {"/" + folder_of(port) + "/phys_state", physical.empty() ? "not known" : physical}};
  finding.subject = subject_of(port);
  if (need == Need::kNone || card_has_link) {
    finding.summary = need == Need::kNone ? "no link, but no GPU's best NIC"
                                          : "no link; the card's other port has one";
    return finding;
  }
  finding.outcome = need == Need::kOnly ? Outcome::kFail : Outcome::kWarn;
  explain_link(finding, port, physical);
  return finding;
}

Finding with_link(const PortOf& port, double best) {
  Finding finding;
  finding.subject = subject_of(port);
  finding.evidence = {{"/" + folder_of(port) + "/rate", port.port->rate}};
  finding.summary = "active";
  const double rate = rate_of(*port.port);
  if (rate <= 0 || rate >= best) return finding;
  finding.outcome = Outcome::kWarn;
  finding.summary = "runs at " + port.port->rate + ", but others of its model run faster";
  finding.consequence = "A collective is as fast as its slowest NIC.";
  finding.fix = {to_type(text::Command::of_each("sudo mlxlink -d {}")),
                 to_do("check cable, transceiver and switch port")};
  return finding;
}

Findings find(const Host& host) {
  const auto needs = needs_of(host.inventory);
  const auto cards = cards_with_link(host.inventory);
  const auto ports = ports_of(host.inventory);
  const auto best = best_rates(host, ports);
  Gathered gathered("NIC ports");
  for (const PortOf& port : ports) {
    const std::string state = state_of(port);
    if (state.empty()) continue;
    const auto need = needs.find(port.nic);
    const auto rate =
        best.find(host.files.line("sys/class/infiniband/" + port.nic->name + "/board_id"));
    if (state == "ACTIVE") {
      gathered.add(with_link(port, rate == best.end() ? 0 : rate->second), port.nic->pci->address);
    } else if (!port.is_infiniband() || (state != "INIT" && state != "ARMED")) {
      gathered.add(without_link(host, port, need == needs.end() ? Need::kNone : need->second,
                                cards.contains(host::card_of(port.nic->pci->address))),
                   port.nic->pci->address);
    }
  }
  return gathered.take(host.inventory.nics.empty() ? "no RDMA NIC" : "no NIC port to judge");
}

}  // namespace port_state_check

const Check kPortState{"port-state",
                       Area::kNic,
                       "Links of the NIC ports that GPUs need",
                       port_state_check::kExplanation,
                       35,
                       Cost::kPassive,
                       port_state_check::find};

}  // namespace gdr::doctor

#include "fabric/worker/rails.h"

#include <fmt/format.h>
#include <string.h>

#include <algorithm>
#include <limits>

#include "host/best_nic.h"

namespace gdr::fabric::worker {
namespace {

using participants::InventoryReport;
using participants::NicEntry;
using participants::NicPort;
using participants::PortChoice;

// As the software NIC's devices have it where nothing else is said.
bool is_loopback(const std::string& gid) { return gid.starts_with("::ffff:127.") || gid == "::1"; }

std::string address_in(const std::string& gid) {
  constexpr std::string_view kMapped = "::ffff:";
  return gid.starts_with(kMapped) ? gid.substr(kMapped.size()) : gid;
}

// "mlx5_2" before "mlx5_10".
bool is_before(const PortChoice& a, const PortChoice& b) {
  const int order = strverscmp(a.nic.c_str(), b.nic.c_str());
  return order != 0 ? order < 0 : a.port < b.port;
}

class Choice {
 public:
  Choice(const InventoryReport& inventory, const host::Inventory& machine, const Begin& begin)
      : inventory_(inventory), machine_(machine), begin_(begin) {
    if (!inventory.gpus.empty() && !inventory.soft_nic && !inventory.soft_gpu) {
      ranking_ = host::choose_nics(machine);
    }
  }

  Result<RailPlan> run() {
    Result<void> chosen =
        begin_.settings.nics.empty() ? choose_ports() : take_ports(begin_.settings.nics);
    if (!chosen) return chosen.error();
    for (const PortChoice& port : ports_) add_rail(port);
    if (begin_.is_whole_host) {
      if (Result<void> reached = check_reach(); !reached) return reached.error();
    }
    share_out();
    return std::move(plan_);
  }

 private:
  // The ports that were named, in that order.
  Result<void> take_ports(const std::vector<std::string>& names) {
    // Names are looked up among ports alone; GPUs are for later.
    InventoryReport ports_only = inventory_;
    ports_only.host_memory_only = true;
    for (const std::string& name : names) {
      participants::DeviceWishes wishes;
      wishes.nic = wishes.peer_nic = name;
      Result<std::vector<participants::Selection>> found =
          participants::select_devices(ports_only, wishes);
      if (!found) return found.error();
      const PortChoice& port = found->front().near;
      if (std::ranges::find(ports_, port) != ports_.end()) {
        return Error{EINVAL, fmt::format("{} is named twice; name each NIC once", port.text())};
      }
      ports_.push_back(port);
    }
    return {};
  }

  Result<void> choose_ports() {
    const bool only_best = std::ranges::any_of(inventory_.nics, [&](const NicEntry& nic) {
      return is_best(nic) && std::ranges::any_of(nic.survey.ports, is_usable);
    });
    for (const NicEntry& nic : inventory_.nics) {
      if (is_for_management(nic) || (only_best && !is_best(nic))) continue;
      if (!nic.survey.problem.empty()) {
        leave_out(nic.survey.name, nic.survey.problem);
        continue;
      }
      for (const NicPort& port : nic.survey.ports) {
        const PortChoice choice{nic.survey.name, port.number, port.ethernet};
        if (is_usable(port)) {
          ports_.push_back(choice);
        } else {
          leave_out(choice.text(), port.active ? port.problem : "its link is down");
        }
      }
    }
    std::ranges::sort(ports_, is_before);
    if (!ports_.empty()) return {};
    if (plan_.notes.empty()) {
      return Error{ENODEV,
                   "no RDMA NIC; look for it with: lspci -nnk -d 15b3:; ls -l /dev/infiniband; "
                   "or try the software NIC: gdr fabric --soft"};
    }
    return Error{ENODEV, fmt::format("no usable RDMA NIC ({}); look at its ports with: ibv_devinfo",
                                     plan_.notes.front())};
  }

  static bool is_usable(const NicPort& port) { return port.active && port.problem.empty(); }
  static bool is_for_management(const NicEntry& nic) {
    return nic.hardware && !nic.hardware->management.empty();
  }

  void leave_out(const std::string& name, const std::string& reason) {
    plan_.notes.push_back(fmt::format("{} is left out: {}", name, reason));
  }

  bool is_at(const host::RankedNic& ranked, const std::string& name) const {
    const host::Nic& nic = machine_.nics[ranked.index];
    return nic.name == name || std::ranges::find(nic.more_names, name) != nic.more_names.end();
  }
  // The NIC that some GPU should use.
  bool is_best(const NicEntry& nic) const {
    return std::ranges::any_of(ranking_, [&](const host::NicChoice& choice) {
      return !choice.nics.empty() && is_at(choice.nics.front(), nic.survey.name);
    });
  }

  // The place in the inventory's GPUs of the one nearest to this NIC, of those that have the fewest
  // rails yet.
  std::size_t nearest_gpu(const std::string& nic) {
    rails_of_gpu_.resize(inventory_.gpus.size());
    const auto cost = [&](std::size_t gpu) {
      constexpr int kUnknown = std::numeric_limits<int>::max();
      std::pair<int, int> found{kUnknown, rails_of_gpu_[gpu]};
      for (const host::NicChoice& choice : ranking_) {
        if (machine_.gpus[choice.gpu].pci_address != inventory_.gpus[gpu].survey.pci_address) {
          continue;
        }
        for (const host::RankedNic& ranked : choice.nics) {
          if (is_at(ranked, nic) && ranked.path) found.first = static_cast<int>(*ranked.path);
        }
      }
      return found;
    };
    std::size_t best = 0;
    for (std::size_t gpu = 1; gpu < inventory_.gpus.size(); ++gpu) {
      if (cost(gpu) < cost(best)) best = gpu;
    }
    ++rails_of_gpu_[best];
    return best;
  }

  void add_rail(const PortChoice& port) {
    const NicEntry* const nic = participants::find_nic(inventory_, port.nic);
    const NicPort* const seen = participants::find_port(*nic, port.port);
    PlannedRail rail;
    rail.port = port;
    rail.software_nic = inventory_.soft_nic;
    if (!inventory_.soft_nic) rail.link_bits_per_second = seen->speed * 1e6;
    if (port.ethernet) rail.gid = seen->gid;
    if (const host::Port* known = participants::find_known_port(*nic, port.port)) {
      rail.netdev = known->netdev;
    }
    if (!inventory_.gpus.empty()) {
      rail.gpu = inventory_.gpus[nearest_gpu(port.nic)].survey.ordinal;
      rail.software_gpu = inventory_.soft_gpu;
    }
    plan_.rails.push_back(std::move(rail));
  }

  Result<void> check_reach() const {
    for (const PlannedRail& rail : plan_.rails) {
      if (!is_loopback(rail.gid)) continue;
      return Error{EHOSTUNREACH,
                   fmt::format("{} has the loopback address {}, which no other host reaches; give "
                               "it one of its host's, on every host, before you start gdr: export "
                               "GDR_SOFT_DEVICES={}/ip=ADDRESS",
                               rail.port.text(), address_in(rail.gid), rail.port.nic)};
    }
    return {};
  }

  // This member's rails of the host's.
  void share_out() {
    const std::uint32_t shares = std::max(begin_.shares, 1u), share = begin_.share % shares;
    std::vector<PlannedRail>& rails = plan_.rails;
    for (std::size_t i = 0; i < rails.size(); ++i) rails[i].number = static_cast<std::uint16_t>(i);
    if (!begin_.is_whole_host && rails.size() < shares) {
      // Several stand-in hosts have the same port.
      PlannedRail rail = rails[share % rails.size()];
      if (rail.gpu) rail.gpu = inventory_.gpus[share % inventory_.gpus.size()].survey.ordinal;
      rail.number = 0;
      rails = {std::move(rail)};
      return;
    }
    std::erase_if(rails, [&](const PlannedRail& rail) { return rail.number % shares != share; });
    if (begin_.is_whole_host) return;
    for (std::size_t i = 0; i < rails.size(); ++i) rails[i].number = static_cast<std::uint16_t>(i);
  }

  const InventoryReport& inventory_;
  const host::Inventory& machine_;
  const Begin& begin_;
  std::vector<host::NicChoice> ranking_;  // empty: nothing is known of what is near
  std::vector<PortChoice> ports_;
  std::vector<int> rails_of_gpu_;
  RailPlan plan_;
};

}  // namespace

Result<RailPlan> choose_rails(const InventoryReport& inventory, const host::Inventory& machine,
                              const Begin& begin) {
  return Choice(inventory, machine, begin).run();
}

}  // namespace gdr::fabric::worker

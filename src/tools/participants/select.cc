#include "participants/select.h"

#include <algorithm>

namespace gdr::participants {
namespace {

struct Candidate {
  PortChoice choice;
  const NicPort* port;
  const NicEntry* nic;
};

std::vector<Candidate> all_ports(const InventoryReport& inventory) {
  std::vector<Candidate> ports;
  for (const NicEntry& nic : inventory.nics) {
    for (const NicPort& port : nic.survey.ports) {
      ports.push_back({{nic.survey.name, port.number, port.ethernet}, &port, &nic});
    }
  }
  return ports;
}

bool usable(const Candidate& candidate) {
  return candidate.port->active && candidate.port->problem.empty();
}

// PCI addresses and UUIDs, as people copy them: in upper case, with the eight digits that
// nvidia-smi gives the PCI domain.
std::string canonical(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(tolower(c)); });
  constexpr std::size_t kLong = 16;  // "00000000:41:00.0"
  if (name.size() == kLong && name.rfind("0000", 0) == 0 && name[8] == ':') name.erase(0, 4);
  return name;
}

// By RDMA name, with or without its port, by netdev, by PCI address.
bool answers_to(const Candidate& candidate, const std::string& name) {
  const PortChoice& choice = candidate.choice;
  if (name == choice.nic || name == choice.nic + ":" + std::to_string(choice.port)) return true;
  if (!candidate.nic->hardware) return false;
  const std::string& address = candidate.nic->hardware->pci_address;
  if (!address.empty() && canonical(name) == canonical(address)) return true;
  for (const host::Port& port : candidate.nic->hardware->ports) {
    if (port.number == choice.port && !port.netdev.empty() && port.netdev == name) return true;
  }
  return false;
}

// "mlx5_0:1, mlx5_0:2"; empty where no NIC has this name.
std::string ports_of(const std::vector<Candidate>& ports, const std::string& nic) {
  std::string known;
  for (const Candidate& candidate : ports) {
    if (candidate.choice.nic != nic) continue;
    known += (known.empty() ? "" : ", ") + nic + ":" + std::to_string(candidate.choice.port);
  }
  return known;
}

// For a port that is not usable.
std::string why_not(const Candidate& candidate) {
  const std::string& problem = candidate.port->problem;
  return candidate.choice.text() + ": " + (problem.empty() ? "its link is down" : problem);
}

// A NIC that cannot be opened shows no port.
const NicEntry* find_unopened(const InventoryReport& inventory, const std::string& name = "") {
  for (const NicEntry& nic : inventory.nics) {
    if (nic.survey.problem.empty()) continue;
    if (name.empty() || name == nic.survey.name || name.starts_with(nic.survey.name + ":"))
      return &nic;
  }
  return nullptr;
}

Error unknown_nic(const std::vector<Candidate>& ports, const std::string& name,
                  const std::string& known) {
  const auto colon = name.rfind(':');
  if (colon != std::string::npos) {
    const std::string nic = name.substr(0, colon);
    const std::string allowed = ports_of(ports, nic);
    if (!allowed.empty()) {
      return {EINVAL, "unknown port '" + name.substr(colon + 1) + "' in '" + name + "': NIC " +
                          nic + " has no such port; allowed: " + allowed};
    }
  }
  return {EINVAL, "unknown NIC '" + name + "'; allowed: " + known};
}

Result<Candidate> find_port(const InventoryReport& inventory, const std::vector<Candidate>& ports,
                            const std::string& name) {
  std::string known;
  const Candidate* found = nullptr;
  for (const Candidate& candidate : ports) {
    known += (known.empty() ? "" : ", ") + candidate.choice.text();
    if (!found && answers_to(candidate, name)) found = &candidate;
  }
  if (!found) {
    if (const NicEntry* nic = find_unopened(inventory, name)) {
      return Error{ENODEV, nic->survey.name + ": " + nic->survey.problem};
    }
    return unknown_nic(ports, name, known);
  }
  if (usable(*found)) return *found;
  return Error{ENODEV, why_not(*found)};
}

std::string gpu_text(const GpuEntry& gpu) { return "GPU " + std::to_string(gpu.survey.ordinal); }

Result<const GpuEntry*> find_gpu(const InventoryReport& inventory, const std::string& name) {
  std::string known;
  for (const GpuEntry& gpu : inventory.gpus) {
    const std::string ordinal = std::to_string(gpu.survey.ordinal);
    if (name == ordinal || canonical(name) == canonical(gpu.survey.pci_address) ||
        canonical(name) == canonical(gpu.survey.uuid)) {
      return &gpu;
    }
    known += (known.empty() ? "" : ", ") + ordinal + " (" + gpu.survey.pci_address + ")";
  }
  return Error{EINVAL, "unknown GPU '" + name + "'; allowed: " + known};
}

// No GPU: its memory is not asked about, and every port is as near as any other.
int distance(const Candidate& candidate, const GpuEntry* gpu) {
  // One that manages NVSwitches is on another network, if on any.
  if (candidate.nic->hardware && !candidate.nic->hardware->management.empty()) return 2;
  if (!candidate.nic->hardware || !gpu || !gpu->hardware) return 0;
  return candidate.nic->hardware->numa_node == gpu->hardware->numa_node ? 0 : 1;
}

Error no_usable_port(const InventoryReport& inventory, const std::vector<Candidate>& ports) {
  std::string reason = "there is none";
  if (const NicEntry* nic = find_unopened(inventory)) {
    reason = nic->survey.name + ": " + nic->survey.problem;
  } else if (!ports.empty()) {
    reason = why_not(ports.front());
  }
  return {ENODEV, "no port of any RDMA NIC is usable: " + reason};
}

// B: what was asked for, else the usable port nearest to the GPU that is not A.
Result<Candidate> choose_far(const InventoryReport& inventory, const std::vector<Candidate>& ports,
                             const GpuEntry* gpu, const DeviceWishes& wishes,
                             const std::optional<Candidate>& near) {
  if (wishes.peer_nic) return find_port(inventory, ports, *wishes.peer_nic);
  std::vector<Candidate> order;
  for (const Candidate& candidate : ports) {
    if (usable(candidate) && !(near && candidate.choice == near->choice))
      order.push_back(candidate);
  }
  if (order.empty() && near) return *near;
  if (order.empty()) return no_usable_port(inventory, ports);
  // The last of the nearest: A is then the first, which reads naturally.
  return *std::min_element(
      order.rbegin(), order.rend(),
      [&](const Candidate& a, const Candidate& b) { return distance(a, gpu) < distance(b, gpu); });
}

// A, when it was not asked for: a port other than B of the same kind of link, else B itself. Where
// A has a GPU of its own, the port nearest to that.
Candidate choose_near(const std::vector<Candidate>& ports, const Candidate& far,
                      const GpuEntry* own_gpu) {
  const Candidate* chosen = nullptr;
  for (const Candidate& candidate : ports) {
    if (!usable(candidate) || candidate.choice == far.choice ||
        candidate.port->ethernet != far.port->ethernet) {
      continue;
    }
    if (!chosen || distance(candidate, own_gpu) < distance(*chosen, own_gpu)) chosen = &candidate;
  }
  return chosen ? *chosen : far;
}

// Whose memory takes part at A and at B; null: no GPU's.
struct GpuEnds {
  const GpuEntry* near;
  const GpuEntry* far;
};

Result<std::vector<GpuEnds>> choose_gpus(const InventoryReport& inventory,
                                         const DeviceWishes& wishes) {
  if (inventory.host_memory_only) return std::vector<GpuEnds>{{nullptr, nullptr}};
  std::vector<const GpuEntry*> fars;
  if (wishes.gpu) {
    Result<const GpuEntry*> gpu = find_gpu(inventory, *wishes.gpu);
    if (!gpu) return gpu.error();
    fars.push_back(*gpu);
  } else {
    for (const GpuEntry& gpu : inventory.gpus) {
      if (fars.empty() || wishes.all) fars.push_back(&gpu);
    }
  }
  const GpuEntry* near = nullptr;
  if (wishes.from_gpu) {
    Result<const GpuEntry*> gpu = find_gpu(inventory, *wishes.from_gpu);
    if (!gpu) return gpu.error();
    near = *gpu;
  }
  std::vector<GpuEnds> ends;
  for (const GpuEntry* far : fars) ends.push_back({near ? near : far, far});
  if (near) return ends;
  for (std::size_t i = 0; i < fars.size(); ++i) {
    for (std::size_t j = i + 1; j < fars.size(); ++j) ends.push_back({fars[i], fars[j]});
  }
  return ends;
}

}  // namespace

Result<std::vector<Selection>> select_devices(const InventoryReport& inventory,
                                              const DeviceWishes& wishes) {
  const std::vector<Candidate> ports = all_ports(inventory);
  Result<std::vector<GpuEnds>> gpus = choose_gpus(inventory, wishes);
  if (!gpus) return gpus.error();
  std::optional<Candidate> near;
  if (wishes.nic) {
    Result<Candidate> found = find_port(inventory, ports, *wishes.nic);
    if (!found) return found.error();
    near = *found;
  }

  std::vector<Selection> selections;
  for (const GpuEnds& ends : *gpus) {
    const bool two = ends.near != ends.far;
    std::vector<Candidate> fars;
    // Each two GPUs with every port would be hundreds of runs on a host with eight of each.
    if (wishes.all && !wishes.peer_nic && (!two || wishes.from_gpu)) {
      std::copy_if(ports.begin(), ports.end(), std::back_inserter(fars), usable);
    }
    if (fars.empty()) {
      Result<Candidate> far = choose_far(inventory, ports, ends.far, wishes, near);
      if (!far) return far.error();
      fars.push_back(*far);
    }
    for (const Candidate& far : fars) {
      const Candidate from = near ? *near : choose_near(ports, far, two ? ends.near : nullptr);
      Selection selection;
      if (ends.far) {
        selection.near_gpu = ends.near->survey.ordinal;
        selection.far_gpu = ends.far->survey.ordinal;
        selection.near_gpu_text = gpu_text(*ends.near);
        selection.far_gpu_text = gpu_text(*ends.far);
      }
      selection.near = from.choice;
      selection.far = far.choice;
      selections.push_back(std::move(selection));
    }
  }
  return selections;
}

}  // namespace gdr::participants

#include "fabric/worker/equipment.h"

#include <optional>

#include "participants/survey.h"
#include "proof/obstacle.h"

namespace gdr::fabric::worker {
namespace {

using participants::MachineFacts;

// Why this machine's devices are not those of a host of a fabric, before any library is asked.
std::optional<Error> missing_part(const MachineFacts& shows, const Begin& begin) {
  const Settings& settings = begin.settings;
  if (settings.soft) return std::nullopt;
  if (!shows.gpu && shows.gpu_module && !settings.host_memory) {
    return Error{ENODEV,
                 "the NVIDIA kernel module is loaded, but no GPU is on the PCI bus; look at it "
                 "with: lspci -nnk -d 10de:; nvidia-smi; or measure without it: gdr fabric "
                 "--memory host"};
  }
  if (shows.nic || settings.require_hardware) return std::nullopt;
  if (shows.nic_card) {
    return Error{ENODEV,
                 "an RDMA NIC is on the PCI bus, but the kernel has no RDMA device; load its "
                 "driver (sudo modprobe mlx5_ib for ConnectX)"};
  }
  // Between processes of one machine the software NIC reaches a real GPU's memory; a host with GPUs
  // that takes part as a whole has lost its NIC.
  if (shows.gpu && begin.is_whole_host) {
    return Error{ENODEV,
                 "no RDMA NIC; look for it with: lspci -nnk -d 15b3:; ls -l /dev/infiniband; or "
                 "try the software NIC: gdr fabric --soft"};
  }
  return std::nullopt;
}

std::string one_line(const proof::Obstacle& obstacle) {
  std::string line;
  for (const std::string& seen : obstacle.seen) line += (line.empty() ? "" : "; ") + seen;
  if (!obstacle.causes.empty()) line += "; likely: " + obstacle.causes.front();
  return line;
}

std::optional<Error> obstacle_to(const MachineFacts& shows, const Settings& settings,
                                 const participants::InventoryReport& inventory,
                                 const participants::LibraryWishes& wishes) {
  std::optional<proof::Obstacle> obstacle = proof::broken_stand_in(inventory);
  if (!obstacle) {
    obstacle = proof::missing_hardware(shows, inventory, settings.require_hardware);
    if (obstacle) {
      return Error{ENODEV, one_line(*obstacle) + "; look with: " + obstacle->next.text()};
    }
  }
  if (!obstacle) obstacle = proof::hidden_hardware(inventory, wishes.soft_verbs, wishes.soft_cuda);
  if (obstacle) return Error{ENODEV, one_line(*obstacle)};
  return std::nullopt;
}

}  // namespace

Result<Equipment> take_stock(const Begin& begin) {
  const Settings& settings = begin.settings;
  Equipment equipment;
  const MachineFacts shows = participants::look_at_machine("/");
  if (std::optional<Error> missing = missing_part(shows, begin)) return *missing;
  participants::LibraryWishes wishes;
  wishes.soft = settings.soft;
  wishes.require_hardware = settings.require_hardware;
  // Real NICs without a GPU carry host memory: a software GPU would add nothing to what is
  // measured.
  const bool has_no_gpu = shows.nic && !shows.gpu && !settings.soft && !settings.require_hardware;
  if (has_no_gpu && !settings.host_memory) {
    equipment.notes.emplace_back("no GPU on this host: host memory takes part instead");
  }
  equipment.libraries =
      participants::choose_libraries(shows, wishes, !settings.host_memory && !has_no_gpu);
  participants::let_real_nic_reach_soft_gpu(equipment.libraries);
  equipment.machine = host::take_inventory();
  equipment.inventory = participants::make_inventory(
      equipment.libraries,
      participants::survey(equipment.libraries.verbs, equipment.libraries.cuda), equipment.machine);
  if (std::optional<Error> obstacle = obstacle_to(shows, settings, equipment.inventory, wishes)) {
    return *obstacle;
  }
  return equipment;
}

}  // namespace gdr::fabric::worker

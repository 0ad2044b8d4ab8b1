#include "perf/choice.h"

#include <arpa/inet.h>

#include <algorithm>

#include "host/inventory.h"
#include "participants/inventory.h"
#include "participants/survey.h"
#include "perf/limits/memory_copy.h"
#include "perf/limits/side.h"

namespace gdr::perf {
namespace {

DeviceNames names_of(const Options& options, const participants::Libraries& libraries,
                     const participants::PortChoice& port) {
  DeviceNames names;
  names.verbs = libraries.verbs;
  names.cuda = libraries.cuda;
  names.nic = port.nic;
  names.port = port.port;
  names.gid_index = options.gid_index;
  return names;
}

Error no_devices(const participants::InventoryReport& inventory) {
  if (inventory.soft_nic) return {ENODEV, inventory.verbs_problem};
  return {ENODEV, (inventory.verbs_problem.empty() ? "no RDMA NIC" : inventory.verbs_problem) +
                      "; gdr perf --soft uses the stand-ins"};
}

// A real NIC reaches no stand-in's memory.
bool is_out_of_reach(const participants::InventoryReport& inventory, const Options& options) {
  const auto names_gpu = [](const std::vector<Place>& places) {
    return std::any_of(places.begin(), places.end(),
                       [](const Place& place) { return place.names_gpu(); });
  };
  return inventory.soft_gpu && !inventory.soft_nic && !options.devices.gpu &&
         !options.devices.from_gpu && !names_gpu(options.wishes.near) &&
         !names_gpu(options.wishes.far);
}

ChosenPort chosen_port(const Devices& devices) {
  char gid[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, devices.address().gid.raw, gid, sizeof gid);
  ChosenPort chosen;
  chosen.port.nic = devices.names().nic;
  chosen.port.port = devices.names().port;
  chosen.gid_index = devices.address().gid_index;
  chosen.gid = gid;
  chosen.path_mtu = rdma::bytes_of(devices.port().active_mtu);
  return chosen;
}

// The two ports that talk to each other, number `index` of those that were named.
Result<participants::Selection> select_pair(const participants::InventoryReport& inventory,
                                            const Options& options, Role role, std::size_t index) {
  participants::DeviceWishes wishes = options.devices;
  if (index < options.nics.size()) wishes.nic = options.nics[index];
  if (index < options.peer_nics.size()) wishes.peer_nic = options.peer_nics[index];
  // One port talks to itself: the way between two ports of one host is not open everywhere.
  const bool has_peer = role == Role::kLoopback && wishes.peer_nic;
  if (wishes.nic && !has_peer) wishes.peer_nic = wishes.nic;
  Result<std::vector<participants::Selection>> selections =
      participants::select_devices(inventory, wishes);
  if (!selections) return selections.error();
  participants::Selection selection = selections->front();
  if (!(role == Role::kLoopback && wishes.peer_nic)) selection.near = selection.far;
  return selection;
}

// One may have several names.
Result<void> check_new(const std::vector<DeviceNames>& chosen, const participants::PortChoice& port,
                       const char* option) {
  const bool again = std::ranges::any_of(chosen, [&](const DeviceNames& known) {
    return known.nic == port.nic && known.port == port.port;
  });
  if (!again) return {};
  return Error{EINVAL,
               std::string(option) + " names port " + port.text() + " twice; name each port once"};
}

}  // namespace

Description describe(const Choice& choice, const Ports& ports, const Options& options) {
  Chosen chosen;
  for (const auto& port : ports) chosen.ports.push_back(chosen_port(*port));
  chosen.gpus = choice.gpus;
  Description description{describe_side(choice.inventory, chosen, options.version, options.root),
                          gather_facts(choice.inventory, chosen, options.root)};
  description.facts.memory_copy = measure_memory_copy(0, kMemoryCopyTime);
  return description;
}

Result<Choice> choose(const Options& options, Role role) {
  const participants::Libraries libraries = participants::choose_libraries(
      participants::look_at_machine(options.root), options.libraries, true);
  participants::Survey survey = participants::survey(libraries.verbs, libraries.cuda);
  participants::InventoryReport inventory =
      participants::make_inventory(libraries, survey, host::take_inventory(options.root));
  if (inventory.nics.empty()) return no_devices(inventory);
  if (is_out_of_reach(inventory, options)) {
    inventory.gpus.clear();
    inventory.soft_gpu = false;
  }
  const bool has_gpus = !inventory.gpus.empty();
  if (!has_gpus && (options.devices.gpu || options.devices.from_gpu)) {
    return Error{ENODEV, "no GPU: " + inventory.cuda_problem};
  }
  inventory.host_memory_only = !has_gpus;
  Choice choice;
  for (std::size_t i = 0; i < std::max<std::size_t>(options.nics.size(), 1); ++i) {
    const Result<participants::Selection> pair = select_pair(inventory, options, role, i);
    if (!pair) return pair.error();
    if (Result<void> right = check_new(choice.names, pair->near, "--nic"); !right) {
      return right.error();
    }
    if (Result<void> right = check_new(choice.far_names, pair->far, "--peer-nic"); !right) {
      return right.error();
    }
    choice.names.push_back(names_of(options, libraries, pair->near));
    choice.far_names.push_back(names_of(options, libraries, pair->far));
    if (!has_gpus) choice.names.back().cuda = choice.far_names.back().cuda = {};
    if (!has_gpus || i > 0) continue;
    choice.available = {pair->near_gpu, pair->far_gpu};
    choice.gpus.push_back(pair->near_gpu);
    if (pair->far_gpu != pair->near_gpu) choice.gpus.push_back(pair->far_gpu);
  }
  choice.inventory = std::move(inventory);
  return choice;
}

}  // namespace gdr::perf

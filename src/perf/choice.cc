#include "perf/choice.h"

#include <arpa/inet.h>

#include <algorithm>

#include "host/inventory.h"
#include "perf/limits/memory_copy.h"
#include "perf/limits/side.h"
#include "tool/inventory.h"
#include "tool/survey.h"

namespace gdr::perf {
namespace {

DeviceNames names_of(const Options& options, const tool::Libraries& libraries,
                     const tool::PortChoice& port) {
  DeviceNames names;
  names.verbs = libraries.verbs;
  names.cuda = libraries.cuda;
  names.nic = port.nic;
  names.port = port.port;
  names.gid_index = options.gid_index;
  return names;
}

Error no_devices(const tool::InventoryReport& inventory) {
  return {ENODEV, (inventory.verbs_problem.empty() ? "no RDMA NIC" : inventory.verbs_problem) +
                      "; gdr perf --soft measures on the stand-ins"};
}

// A real NIC reaches no stand-in's memory.
bool is_out_of_reach(const tool::InventoryReport& inventory, const Options& options) {
  const auto names_gpu = [](const std::vector<Place>& places) {
    return std::any_of(places.begin(), places.end(),
                       [](const Place& place) { return place.is_gpu(); });
  };
  return inventory.soft_gpu && !inventory.soft_nic && !options.devices.gpu &&
         !options.devices.from_gpu && !names_gpu(options.wishes.near) &&
         !names_gpu(options.wishes.far);
}

}  // namespace

Description describe(const Choice& choice, const Devices& devices, const Options& options) {
  char gid[INET6_ADDRSTRLEN] = "";
  inet_ntop(AF_INET6, devices.address().gid.raw, gid, sizeof gid);
  Chosen chosen;
  chosen.port.nic = devices.names().nic;
  chosen.port.port = devices.names().port;
  chosen.gid_index = devices.address().gid_index;
  chosen.gid = gid;
  chosen.path_mtu = rdma::bytes_of(devices.port().active_mtu);
  chosen.gpus = choice.gpus;
  Description description{describe_side(choice.inventory, chosen, options.version, options.root),
                          gather_facts(choice.inventory, chosen, options.root)};
  description.facts.memory_copy = measure_memory_copy(0, kMemoryCopyTime);
  return description;
}

Result<Choice> choose(const Options& options, Role role) {
  const tool::Libraries libraries =
      tool::choose_libraries(tool::look_at_machine(options.root), options.libraries, true);
  tool::Survey survey = tool::survey(libraries.verbs, libraries.cuda);
  tool::InventoryReport inventory =
      tool::make_inventory(libraries, survey, host::take_inventory(options.root));
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
  tool::DeviceWishes wishes = options.devices;
  // One port talks to itself: the way between two ports of one host is not open everywhere.
  const bool loopback = role == Role::kLoopback;
  if (wishes.nic && !(loopback && wishes.peer_nic)) wishes.peer_nic = wishes.nic;
  Result<std::vector<tool::Selection>> selections = tool::select_devices(inventory, wishes);
  if (!selections) return selections.error();
  const tool::Selection& selection = selections->front();
  Choice choice;
  choice.names =
      names_of(options, libraries, loopback && wishes.peer_nic ? selection.near : selection.far);
  choice.far_names = names_of(options, libraries, selection.far);
  if (!has_gpus) choice.names.cuda = choice.far_names.cuda = {};
  if (has_gpus) {
    choice.available = {selection.near_gpu, selection.far_gpu};
    choice.gpus.push_back(selection.near_gpu);
    if (selection.far_gpu != selection.near_gpu) choice.gpus.push_back(selection.far_gpu);
  }
  choice.inventory = std::move(inventory);
  return choice;
}

}  // namespace gdr::perf

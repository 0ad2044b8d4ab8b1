#include "proof/machine.h"

#include "host/grade.h"
#include "host/inventory.h"
#include "proof/process.h"

namespace gdr::proof {

namespace {

participants::Libraries libraries_for(const participants::MachineFacts& shows,
                                      const Options& options) {
  return participants::choose_libraries(shows, options, !options.device_memory.empty());
}

}  // namespace

void prepare_environment(const Options& options) {
  participants::let_real_nic_reach_soft_gpu(
      libraries_for(participants::look_at_machine(options.root), options));
}

Result<Machine> take_stock(const Options& options) {
  Machine machine;
  machine.shows = participants::look_at_machine(options.root);
  machine.libraries = libraries_for(machine.shows, options);
  Result<WorkerProcess> worker =
      start_worker("the process that asks for devices", options.program, options.worker_arguments);
  if (!worker) return worker.error();
  Result<Survey::Reply> survey =
      worker->client.call(Survey{machine.libraries.verbs, machine.libraries.cuda}, kLongTimeout);
  if (!survey) return survey.error();
  const host::Files files(options.root);
  const host::Inventory seen = host::take_inventory(files);
  machine.survey = *std::move(survey);
  machine.inventory = participants::make_inventory(machine.libraries, machine.survey, seen);
  machine.facts = options.facts;
  machine.facts.kernel = files.line("proc/sys/kernel/osrelease");
  machine.facts.gpu_driver = seen.gpu_driver_version;
  if (seen.gpu_driver_open) machine.facts.gpu_driver += " (open)";
  if (host::has_reliable_grades(seen)) machine.tree = seen.pci;
  machine.peer_memory_modules = host::loaded_peer_memory(files);
  return machine;
}

std::optional<Obstacle> obstacle_on(const Machine& machine, const Options& options) {
  const InventoryReport& inventory = machine.inventory;
  std::optional<Obstacle> obstacle = broken_stand_in(inventory);
  if (!obstacle) obstacle = missing_hardware(machine.shows, inventory, options.require_hardware);
  if (!obstacle) obstacle = hidden_hardware(inventory, options.soft_verbs, options.soft_cuda);
  return obstacle;
}

std::string Machine::grade(const std::string& address, const std::string& nic) const {
  const GpuEntry* const gpu = gpu_at(inventory, address);
  const NicEntry* const port = find_nic(inventory, nic);
  if (!tree || gpu == nullptr || port == nullptr || !gpu->hardware || !port->hardware ||
      !gpu->hardware->pci || !port->hardware->pci) {
    return {};
  }
  const auto path = host::path_between(*tree, *gpu->hardware->pci, *port->hardware->pci);
  return path ? host::name_of(*path) : "";
}

}  // namespace gdr::proof

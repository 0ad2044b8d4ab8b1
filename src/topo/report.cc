#include "topo/report.h"

#include <algorithm>

namespace gdr::topo {
namespace {

constexpr const char* kFlat =
    "flat virtual machine: its hypervisor made up the PCI tree, so every grade here is unreliable; "
    "pass the provider's description of the machine (--nccl-xml FILE), or measure (gdr perf)";
constexpr const char* kVirtual =
    "virtual machine: the PCI tree is what its hypervisor shows; the hardware may be nearer or "
    "farther apart";

std::vector<std::string> warnings_of(const host::Inventory& inventory) {
  if (inventory.flat) return {kFlat};
  if (inventory.virtual_machine) return {kVirtual};
  return {};
}

}  // namespace

Result<Report> make_report(host::Inventory inventory, Origin origin,
                           const std::vector<std::string>& others) {
  host::name_functions(inventory);
  Result<std::vector<Device>> devices = list_devices(inventory, others);
  if (!devices) return devices.error();
  Report report;
  report.inventory = std::move(inventory);
  report.origin = std::move(origin);
  report.devices = *std::move(devices);
  report.matrix = make_matrix(report.inventory, report.devices);
  report.choices = choose_nics(report.inventory, report.devices);
  report.nccl_differences = nccl_differences(report.inventory, report.devices, report.matrix);
  report.nccl_advice = nccl_advice(report.inventory, report.devices, report.choices);
  report.warnings = warnings_of(report.inventory);
  return report;
}

std::size_t count_of(const Report& report, Device::Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(report.devices.begin(), report.devices.end(),
                    [&](const Device& device) { return device.kind == kind; }));
}

}  // namespace gdr::topo

#include "topo/report.h"

#include <algorithm>

namespace gdr::topo {
namespace {

std::vector<std::string> warnings_of(const host::Inventory& inventory) {
  if (has_reliable_grades(inventory)) return {};
  return {unreliable_because(inventory) +
          "; use the provider's topology file (--nccl-xml FILE), or measure (gdr perf)"};
}

}  // namespace

std::string unreliable_because(const host::Inventory& inventory) {
  const std::string sign =
      inventory.virtual_by.empty() ? std::string() : " (" + inventory.virtual_by + ")";
  const std::string what =
      inventory.flat
          ? "flat virtual machine" + sign + ": its hypervisor invented the PCI tree"
          : "virtual machine" + sign + ": its hypervisor decides what the PCI tree shows";
  return what + ", so the grades below are unreliable";
}

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
  report.notes = report.inventory.notes;
  report.verdict = judge(report);
  return report;
}

std::size_t count_of(const Report& report, Device::Kind kind) {
  return static_cast<std::size_t>(
      std::count_if(report.devices.begin(), report.devices.end(),
                    [&](const Device& device) { return device.kind == kind; }));
}

}  // namespace gdr::topo

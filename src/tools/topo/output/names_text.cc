#include "topo/output/names_text.h"

#include <algorithm>

#include "text/format.h"
#include "text/table.h"
#include "text/wrap.h"
#include "topo/output/port_text.h"

namespace gdr::topo {
namespace {

using Rows = std::vector<std::vector<std::string>>;
constexpr std::size_t kIndent = 2, kContinued = 8;

std::string section(const char* heading, Rows rows, std::size_t columns) {
  bool empty = true;  // but for the labels
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
    if (&row == &rows.front()) continue;
    empty = empty && std::all_of(row.begin() + 1, row.end(),
                                 [](const std::string& cell) { return cell.empty(); });
  }
  if (empty) return {};
  return text::wrap_lines(heading + ("\n" + text::table(rows, kIndent)), columns, kContinued);
}

std::string node_text(int node) { return node < 0 ? std::string() : std::to_string(node); }

std::string link_text(const Device& device) {
  const host::PciLink* link = link_of(device);
  return link ? text_of(*link) : std::string();
}

const Device* device_of(const Report& report, Device::Kind kind, std::size_t index) {
  for (const Device& device : report.devices) {
    if (device.kind == kind && device.index == index) return &device;
  }
  return nullptr;
}

std::string gpus(const Report& report, std::size_t columns) {
  Rows rows = {{"", "PCI address", "NUMA", "model", "PCIe link", "driver"}};
  for (const Device& device : report.devices) {
    if (device.kind != Device::Kind::kGpu) continue;
    rows.push_back({device.label, device.address, node_text(device.numa_node), device.name,
                    link_text(device), report.inventory.gpus[device.index].driver});
  }
  return section("GPUs", std::move(rows), columns);
}

// A row a port; one for all where several RDMA devices are shown at one function.
std::vector<host::Port> rows_of(const host::Nic& nic) {
  std::vector<host::Port> ports = nic.ports;
  if (ports.empty()) ports.emplace_back();
  if (!nic.more_names.empty()) ports.resize(1);
  return ports;
}

// "1"; "mlx5_0 1, mlx5_1 1" of several RDMA devices.
std::string numbers_of(const host::Nic& nic, const host::Port& port) {
  if (nic.more_names.empty()) return port.number == 0 ? "" : std::to_string(port.number);
  std::string text;
  for (const host::Port& one : nic.ports) {
    if (one.number == 0) continue;
    text += (text.empty() ? "" : ", ") + one.rdma_name + " " + std::to_string(one.number);
  }
  return text;
}

std::string nics(const Report& report, std::size_t columns) {
  Rows names = {{"", "RDMA name", "port", "netdev", "MAC", "PCI address", "NUMA", "card"}};
  Rows links = {{"", "PCIe link", "port", "state", "rate", "firmware", "driver"}};
  for (std::size_t i = 0; i < report.inventory.nics.size(); ++i) {
    const host::Nic& nic = report.inventory.nics[i];
    const Device* device = device_of(report, Device::Kind::kNic, i);
    const std::string label = device ? device->label : "-";
    const std::string address = device ? nic.pci_address : "software";
    const std::string link = device ? link_text(*device) : std::string();
    const std::string name = host::has_rdma_name(nic) ? host::names_of(nic) : std::string();
    for (const host::Port& port : rows_of(nic)) {
      const std::string number = numbers_of(nic, port);
      names.push_back({label, name, number, port.netdev, port.mac, address,
                       node_text(nic.numa_node), card_name(nic)});
      links.push_back(
          {label, link, number, state_text(port), rate_text(port), nic.firmware, nic.driver});
    }
  }
  const std::string first = section("NICs", std::move(names), columns);
  const std::string second = section("NIC links", std::move(links), columns);
  return first + (second.empty() ? "" : "\n") + second;
}

}  // namespace

std::string names_text(const Report& report, std::size_t columns) {
  const std::string first = gpus(report, columns), second = nics(report, columns);
  return first + (first.empty() || second.empty() ? "" : "\n") + second;
}

}  // namespace gdr::topo

#include "topo/output/list_text.h"

#include <fmt/format.h>

#include "text/format.h"
#include "text/table.h"
#include "text/wrap.h"
#include "topo/output/port_text.h"

namespace gdr::topo {
namespace {

using Rows = std::vector<std::vector<std::string>>;
constexpr std::size_t kIndent = 2, kContinued = 8;
constexpr std::size_t kMostGids = 8;  // the document has all

std::string section(const char* heading, Rows rows, std::size_t columns) {
  for (auto& row : rows) {
    for (std::string& cell : row) cell = printable(cell);
  }
  return "\n" +
         text::wrap_lines(heading + ("\n" + text::table(rows, kIndent)), columns, kContinued);
}

std::string place_text(Made made, const std::string& address) {
  if (made == Made::kHardware) return address;
  return address.empty() ? name_of(made) : fmt::format("{} ({})", name_of(made), address);
}

std::string node_text(int node) { return node < 0 ? std::string() : std::to_string(node); }

// "nvidia 580.95.05, open"
std::string driver_text(const Listing& listing, const ListedGpu& listed) {
  std::string text = listed.gpu.driver;
  if (text != "nvidia" || listing.gpu_driver_version.empty()) return text;
  text += " " + listing.gpu_driver_version;
  return listing.gpu_driver_open ? text + ", open" : text;
}

std::string link_text(const std::optional<host::PciFunction>& function) {
  return function && !function->links.empty() ? text_of(function->links.front()) : std::string();
}

std::string gpus(const Listing& listing, std::size_t columns) {
  if (listing.gpus.empty()) return {};
  Rows rows = {{"", "model", "PCI address", "NUMA", "PCIe link", "driver"}};
  for (const ListedGpu& each : listing.gpus) {
    rows.push_back({each.label, each.gpu.model, place_text(each.made, each.gpu.pci_address),
                    node_text(each.gpu.numa_node), link_text(each.gpu.pci),
                    driver_text(listing, each)});
  }
  return section("GPUs", std::move(rows), columns);
}

// "3 RoCE v2 10.0.0.1, 5 RoCE v2 10.1.0.1 at ens1.100"
std::string gids_text(const host::Port& port) {
  std::string text;
  for (std::size_t i = 0; i < port.gids.size() && i < kMostGids; ++i) {
    const host::Gid& gid = port.gids[i];
    text += fmt::format("{}{} {} {}", i == 0 ? "" : ", ", gid.index, type_of(gid, port),
                        address_of(gid));
    if (!gid.netdev.empty() && gid.netdev != port.netdev) text += " at " + gid.netdev;
  }
  if (port.gids.size() > kMostGids) {
    text += fmt::format(" and {} more", port.gids.size() - kMostGids);
  }
  return text;
}

std::string ports(const Listing& listing, std::size_t columns) {
  if (listing.ports.empty()) return {};
  Rows rows = {{"", "RDMA name", "port", "netdev", "PCI address", "MAC", "state", "rate",
                "firmware", "driver", "card", "GIDs: index, type, address"}};
  for (const ListedPort& each : listing.ports) {
    const host::Nic& nic = each.nic;
    const std::string number = each.port.number == 0 ? "" : std::to_string(each.port.number);
    rows.push_back({each.label, host::rdma_name_of(nic, each.port), number, each.port.netdev,
                    place_text(each.made, nic.pci_address), each.port.mac, state_text(each.port),
                    rate_text(each.port), nic.firmware, nic.driver, card_name(nic),
                    gids_text(each.port)});
  }
  return section("Ports of RDMA NICs", std::move(rows), columns);
}

std::string unseen(const Listing& listing, std::size_t columns) {
  if (listing.unseen.empty()) return {};
  std::string text = "\nNot seen\n";
  for (const std::string& sentence : listing.unseen) {
    text += text::wrap("  " + printable(sentence), columns, 4) + "\n";
  }
  return text;
}

}  // namespace

std::string to_text(const Listing& listing, const text::Style& style) {
  std::size_t hardware[2] = {};
  for (const ListedGpu& each : listing.gpus) hardware[0] += each.made == Made::kHardware ? 1 : 0;
  for (const ListedPort& each : listing.ports) hardware[1] += each.made == Made::kHardware ? 1 : 0;
  std::string head =
      text::join({printable(listing.origin.text), printable(listing.product),
                  text::plural(hardware[0], "GPU"), text::plural(hardware[1], "RDMA port")});
  std::string text = text::wrap(head, style.columns, 2) + "\n";
  return text + gpus(listing, style.columns) + ports(listing, style.columns) +
         unseen(listing, style.columns);
}

}  // namespace gdr::topo

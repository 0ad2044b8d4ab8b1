#include "topo/output/list_json.h"

#include <nlohmann/json.hpp>

#include "text/json_text.h"
#include "topo/output/port_text.h"

namespace gdr::topo {
namespace {

using nlohmann::ordered_json;

ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}
ordered_json number_or_null(int value) { return value < 0 ? ordered_json() : ordered_json(value); }

ordered_json link_of(const std::optional<host::PciFunction>& function) {
  if (!function || function->links.empty()) return {};
  return text_or_null(text_of(function->links.front()));
}

ordered_json of(const Listing& listing, const ListedGpu& listed) {
  const host::Gpu& gpu = listed.gpu;
  const bool nvidia = gpu.driver == "nvidia";
  return {{"label", listed.made == Made::kHardware ? ordered_json(listed.label) : ordered_json()},
          {"made", name_of(listed.made)},
          {"model", text_or_null(gpu.model)},
          {"pci_address", text_or_null(gpu.pci_address)},
          {"numa_node", number_or_null(gpu.numa_node)},
          {"link", link_of(gpu.pci)},
          {"driver", text_or_null(gpu.driver)},
          {"driver_version", nvidia ? text_or_null(listing.gpu_driver_version) : ordered_json()},
          {"driver_open", nvidia && !listing.gpu_driver_version.empty()
                              ? ordered_json(listing.gpu_driver_open)
                              : ordered_json()}};
}

ordered_json gids_of(const host::Port& port) {
  ordered_json list = ordered_json::array();
  for (const host::Gid& gid : port.gids) {
    list.push_back({{"index", gid.index},
                    {"type", text_or_null(type_of(gid, port))},
                    {"gid", gid.text},
                    {"address", address_of(gid)},
                    {"netdev", text_or_null(gid.netdev)}});
  }
  return list;
}

ordered_json of(const ListedPort& listed) {
  const host::Nic& nic = listed.nic;
  const host::Port& port = listed.port;
  const host::PciFunction function = nic.pci.value_or(host::PciFunction());
  const double rate = host::rate_of(port);
  return {{"label", listed.made == Made::kHardware ? ordered_json(listed.label) : ordered_json()},
          {"made", name_of(listed.made)},
          {"rdma_name", text_or_null(host::rdma_name_of(nic, port))},
          {"port", port.number == 0 ? ordered_json() : ordered_json(port.number)},
          {"netdev", text_or_null(port.netdev)},
          {"pci_address", text_or_null(nic.pci_address)},
          {"numa_node", number_or_null(nic.numa_node)},
          {"mac", text_or_null(port.mac)},
          {"state", text_or_null(state_text(port))},
          {"rate_gb_s", rate > 0 ? ordered_json(rate) : ordered_json()},
          {"rate", text_or_null(port.rate)},
          {"link_layer", text_or_null(port.link_layer)},
          {"gids", gids_of(port)},
          {"link", link_of(nic.pci)},
          {"model", text_or_null(function.name)},
          {"product_name", text_or_null(function.product.name)},
          {"part_number", text_or_null(function.product.part_number)},
          {"board_id", text_or_null(nic.board_id)},
          {"firmware", text_or_null(nic.firmware)},
          {"driver", text_or_null(nic.driver)},
          {"management", !nic.management.empty()}};
}

}  // namespace

std::string to_json(const Listing& listing, const text::Provenance& provenance) {
  ordered_json gpus = ordered_json::array(), ports = ordered_json::array();
  for (const ListedGpu& each : listing.gpus) gpus.push_back(of(listing, each));
  for (const ListedPort& each : listing.ports) ports.push_back(of(each));
  ordered_json document = text::envelope("gdr list", 1, provenance);
  document.update({{"origin", listing.origin.text},
                   {"live", listing.origin.live},
                   {"product", text_or_null(listing.product)},
                   {"gpus", std::move(gpus)},
                   {"ports", std::move(ports)},
                   {"unseen", listing.unseen}});
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::topo

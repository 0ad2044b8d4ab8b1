#include "topo/output/json_report.h"

#include <nlohmann/json.hpp>

#include "text/json_text.h"
#include "topo/tree.h"

namespace gdr::topo {
namespace {

using nlohmann::ordered_json;

ordered_json number_or_null(int value) { return value < 0 ? ordered_json() : ordered_json(value); }
ordered_json text_or_null(const std::string& text) {
  return text.empty() ? ordered_json() : ordered_json(text);
}

ordered_json of(const host::PciLink& link) {
  const auto known = [](auto value) { return value > 0 ? ordered_json(value) : ordered_json(); };
  return {{"above", link.above},
          {"below", link.below},
          {"speed_gt_s", known(link.speed)},
          {"most_speed_gt_s", known(link.most_speed)},
          {"width", known(link.width)},
          {"most_width", known(link.most_width)},
          {"bandwidth_gb_s", known(link.bandwidth)}};
}

ordered_json ports_of(const host::Nic& nic) {
  ordered_json list = ordered_json::array();
  for (const host::Port& port : nic.ports) {
    list.push_back({{"number", port.number},
                    {"rdma_name", text_or_null(host::rdma_name_of(nic, port))},
                    {"netdev", text_or_null(port.netdev)},
                    {"mac", text_or_null(port.mac)},
                    {"state", text_or_null(port.state)},
                    {"rate", text_or_null(port.rate)},
                    {"link_layer", text_or_null(port.link_layer)}});
  }
  return list;
}

void add_nic(ordered_json& entry, const host::Nic& nic) {
  entry["rdma_name"] = host::has_rdma_name(nic) ? text_or_null(nic.name) : ordered_json();
  const host::PciFunction function = nic.pci.value_or(host::PciFunction());
  entry["model"] = text_or_null(function.name);
  entry["product_name"] = text_or_null(function.product.name);
  entry["part_number"] = text_or_null(function.product.part_number);
  entry["board_id"] = text_or_null(nic.board_id);
  ordered_json names = ordered_json::array();
  if (host::has_rdma_name(nic)) names.push_back(nic.name);
  for (const std::string& more : nic.more_names) names.push_back(more);
  entry["rdma_names"] = std::move(names);
  entry["purpose"] = nic.management.empty() ? "data" : "management";
  entry["management_sign"] = text_or_null(nic.management);
  entry["driver"] = text_or_null(nic.driver);
  entry["firmware"] = text_or_null(nic.firmware);
  entry["ports"] = ports_of(nic);
}

ordered_json of(const Report& report, const Device& device) {
  ordered_json entry = {{"label", device.label},
                        {"kind", name_of(device.kind)},
                        {"name", device.name},
                        {"pci_address", device.address},
                        {"numa_node", number_or_null(device.numa_node)},
                        {"processors", nullptr}};
  const Affinity affinity = affinity_of(report.inventory, device);
  if (affinity.processors != "N/A") entry["processors"] = affinity.processors;
  entry["path"] = device.pci ? device.pci->path : std::vector<std::string>();
  ordered_json links = ordered_json::array();
  if (device.pci) {
    for (const host::PciLink& link : device.pci->links) links.push_back(of(link));
  }
  entry["links"] = std::move(links);
  if (device.kind == Device::Kind::kGpu) {
    entry["driver"] = text_or_null(report.inventory.gpus[device.index].driver);
  }
  if (device.kind == Device::Kind::kNic) add_nic(entry, report.inventory.nics[device.index]);
  return entry;
}

ordered_json matrix_json(const Report& report) {
  ordered_json rows = ordered_json::object();
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    ordered_json& row = rows[report.devices[i].label] = ordered_json::object();
    for (std::size_t j = 0; j < report.devices.size(); ++j) {
      row[report.devices[j].label] = report.matrix.at(i, j).text();
    }
  }
  return rows;
}

bool is_for_management(const Report& report, const Device& nic) {
  return !report.inventory.nics[nic.index].management.empty();
}

ordered_json unsupported_json(const Report& report) {
  ordered_json list = ordered_json::array();
  for (const host::UnsupportedDevice& device : report.inventory.unsupported) {
    const bool gpu = device.kind == host::UnsupportedDevice::Kind::kGpu;
    list.push_back({{"kind", gpu ? "gpu" : "nic"},
                    {"pci_address", device.pci.address},
                    {"name", device.name},
                    {"driver", text_or_null(device.pci.driver)},
                    {"numa_node", number_or_null(device.pci.numa_node)}});
  }
  return list;
}

ordered_json pairs_json(const Report& report) {
  ordered_json pairs = ordered_json::array();
  for (std::size_t i = 0; i < report.devices.size(); ++i) {
    for (std::size_t j = 0; j < report.devices.size(); ++j) {
      if (report.devices[i].kind != Device::Kind::kGpu) continue;
      if (report.devices[j].kind != Device::Kind::kNic) continue;
      const auto path = report.matrix.at(i, j).path;
      const auto nccl = nccl_path(report.inventory, report.devices[i], report.devices[j]);
      pairs.push_back(
          {{"gpu", report.devices[i].label},
           {"nic", report.devices[j].label},
           {"path", path ? ordered_json(host::name_of(*path)) : ordered_json()},
           {"quality", is_for_management(report, report.devices[j])
                           ? "not for data"
                           : name_of(quality_of(path, report.inventory))},
           {"nccl_path", nccl ? ordered_json(host::name_of(*nccl)) : ordered_json()},
           {"nccl_uses_gdr", nccl ? ordered_json(host::nccl_uses_gdr(*nccl)) : ordered_json()}});
    }
  }
  return pairs;
}

ordered_json choices_json(const Report& report) {
  ordered_json list = ordered_json::array();
  for (const Choice& choice : report.choices) {
    ordered_json alike = ordered_json::array();
    for (const std::size_t nic : choice.alike) alike.push_back(report.devices[nic].label);
    list.push_back(
        {{"gpu", report.devices[choice.gpu].label},
         {"nic", choice.nic ? ordered_json(report.devices[*choice.nic].label) : ordered_json()},
         {"path", choice.path ? ordered_json(host::name_of(*choice.path)) : ordered_json()},
         {"quality", name_of(choice.quality)},
         {"why", choice.why},
         {"alike", std::move(alike)}});
  }
  return list;
}

ordered_json verdict_json(const Verdict& verdict) {
  ordered_json steps = ordered_json::array();
  for (const Step& step : verdict.steps) {
    steps.push_back({{"when", step.when},
                     {"note", text_or_null(step.note)},
                     {"command", text_or_null(step.command.text())}});
  }
  const auto& quality = verdict.quality;
  return {{"word", text_or_null(verdict.word)},
          {"text", text_or_null(verdict.text)},
          {"quality", quality ? ordered_json(name_of(*quality)) : ordered_json()},
          {"steps", std::move(steps)}};
}

ordered_json nccl_json(const Report& report) {
  ordered_json differences = ordered_json::array();
  for (const NcclDifference& one : report.nccl_differences) {
    ordered_json pairs = ordered_json::array();
    for (const auto& [gpu, nic] : one.pairs) {
      pairs.push_back({report.devices[gpu].label, report.devices[nic].label});
    }
    differences.push_back({{"path", host::name_of(one.ours)},
                           {"nccl_path", host::name_of(one.theirs)},
                           {"why", one.why},
                           {"pairs", std::move(pairs)}});
  }
  return {{"differences", std::move(differences)}, {"advice", report.nccl_advice}};
}

ordered_json of(const TreeNode& node, const std::vector<Device>& devices) {
  ordered_json entry = {
      {"kind", name_of(node.kind)},
      {"address", node.address},
      {"device", node.device ? ordered_json(devices[*node.device].label) : ordered_json()},
      {"name", text_or_null(node.name)},
      {"numa_node", number_or_null(node.numa_node)},
      {"link", text_or_null(node.link)}};
  ordered_json children = ordered_json::array();
  for (const TreeNode& child : node.children) children.push_back(of(child, devices));
  entry["children"] = std::move(children);
  return entry;
}

ordered_json software_nics(const Report& report) {
  ordered_json list = ordered_json::array();
  for (const host::Nic& nic : report.inventory.nics) {
    if (nic.pci) continue;
    ordered_json entry = ordered_json::object();
    add_nic(entry, nic);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance) {
  const host::Inventory& inventory = report.inventory;
  ordered_json document = text::envelope("gdr topo", 1, provenance);
  document.update({{"origin", report.origin.text},
                   {"live", report.origin.live},
                   {"looked_at", report.origin.looked_at},
                   {"product", text_or_null(inventory.product)},
                   {"virtual_machine", inventory.virtual_machine},
                   {"virtual_by", text_or_null(inventory.virtual_by)},
                   {"flat", inventory.flat},
                   {"reliable", has_reliable_grades(inventory)},
                   {"warnings", report.warnings},
                   {"notes", report.notes},
                   {"unseen", inventory.unseen},
                   {"verdict", verdict_json(report.verdict)}});
  ordered_json devices = ordered_json::array();
  for (const Device& device : report.devices) devices.push_back(of(report, device));
  document["devices"] = std::move(devices);
  document["software_nics"] = software_nics(report);
  document["unsupported"] = unsupported_json(report);
  document["matrix"] = matrix_json(report);
  document["pairs"] = pairs_json(report);
  document["nccl"] = nccl_json(report);
  document["best"] = choices_json(report);
  ordered_json tree = ordered_json::array();
  for (const TreeNode& bridge : make_tree(inventory.pci, report.devices, false)) {
    tree.push_back(of(bridge, report.devices));
  }
  document["tree"] = std::move(tree);
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::topo

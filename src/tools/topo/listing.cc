#include "topo/listing.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "base/environment.h"
#include "topo/devices.h"

namespace gdr::topo {
namespace {

constexpr const char* kNoLabel = "-";

void add_ports(const std::string& label, Made made, const host::Nic& nic, Listing& listing) {
  std::vector<host::Port> ports = nic.ports;
  if (ports.empty()) ports.emplace_back();
  for (host::Port& port : ports) listing.ports.push_back({label, made, nic, std::move(port)});
}

void add_devices(const host::Inventory& inventory, const std::vector<Device>& devices,
                 Listing& listing) {
  std::map<std::size_t, std::string> labels;
  for (const Device& device : devices) {
    if (device.kind == Device::Kind::kNic) labels[device.index] = device.label;
    if (device.kind != Device::Kind::kGpu) continue;
    listing.gpus.push_back({device.label, Made::kHardware, inventory.gpus[device.index]});
  }
  for (std::size_t i = 0; i < inventory.nics.size(); ++i) {
    const auto label = labels.find(i);
    const bool known = label != labels.end();
    add_ports(known ? label->second : kNoLabel, known ? Made::kHardware : Made::kKernel,
              inventory.nics[i], listing);
  }
}

// What a list would show if the source showed it.
std::vector<std::string> unseen_of(const host::Inventory& inventory) {
  std::vector<std::string> sentences = inventory.unseen;
  std::erase_if(sentences, [](const std::string& sentence) {
    return sentence.starts_with("Configuration space") || sentence.starts_with("NVLink");
  });
  const auto is_card = [](const host::Nic& nic) { return nic.pci.has_value(); };
  const auto is_named = [](const host::Nic& nic) { return nic.pci && !nic.pci->product.empty(); };
  if (std::ranges::any_of(inventory.nics, is_card) &&
      std::ranges::none_of(inventory.nics, is_named)) {
    sentences.push_back("The cards' product names (VPD): run as root.");
  }
  return sentences;
}

}  // namespace

const char* name_of(Made made) {
  constexpr const char* kNames[] = {"hardware", "software", "gdrkit stand-in"};
  return kNames[static_cast<std::size_t>(made)];
}

Result<Listing> make_listing(host::Inventory inventory, Origin origin, const StandIns& stand_ins) {
  host::name_functions(inventory);
  const Result<std::vector<Device>> devices = list_devices(inventory, {});
  if (!devices) return devices.error();
  Listing listing;
  listing.origin = std::move(origin);
  listing.product = inventory.product;
  listing.gpu_driver_version = inventory.gpu_driver_version;
  listing.gpu_driver_open = inventory.gpu_driver_open;
  listing.unseen = unseen_of(inventory);
  add_devices(inventory, *devices, listing);
  for (const host::Gpu& gpu : stand_ins.gpus) {
    listing.gpus.push_back({kNoLabel, Made::kStandIn, gpu});
  }
  for (const host::Nic& nic : stand_ins.nics) add_ports(kNoLabel, Made::kStandIn, nic, listing);
  listing.unseen.insert(listing.unseen.end(), stand_ins.problems.begin(), stand_ins.problems.end());
  return listing;
}

std::string address_of(const host::Gid& gid) {
  in6_addr address{};
  const auto groups = split(gid.text, ':');
  if (groups.size() != 8) return gid.text;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    std::uint16_t group = 0;
    const std::string_view text = groups[i];
    const auto end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, group, 16);
    if (result.ec != std::errc() || result.ptr != end) return gid.text;
    address.s6_addr[2 * i] = static_cast<std::uint8_t>(group >> 8);
    address.s6_addr[2 * i + 1] = static_cast<std::uint8_t>(group & 0xff);
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (IN6_IS_ADDR_V4MAPPED(&address)) {
    return inet_ntop(AF_INET, &address.s6_addr[12], text.data(), text.size());
  }
  return inet_ntop(AF_INET6, &address, text.data(), text.size());
}

std::string type_of(const host::Gid& gid, const host::Port& port) {
  if (gid.type != "IB/RoCE v1") return gid.type;
  return port.link_layer == "InfiniBand" ? "InfiniBand" : "RoCE v1";
}

}  // namespace gdr::topo

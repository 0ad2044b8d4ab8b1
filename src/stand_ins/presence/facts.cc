#include "presence/facts.h"

#include <endian.h>
#include <net/if.h>
#include <net/if_arp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "rnic/device_table.h"

namespace gdr::presence {
namespace {

constexpr std::uint8_t kPort = 1;

using OpenDevice = std::unique_ptr<ibv_context, decltype(&ibv_close_device)>;

std::string interface_name(std::uint32_t index) {
  char name[IF_NAMESIZE] = {};
  return index != 0 && if_indextoname(index, name) != nullptr ? name : "";
}

Result<std::vector<GidFacts>> read_gids(ibv_context* context, const ibv_port_attr& port) {
  std::vector<ibv_gid_entry> entries(static_cast<std::size_t>(std::max(port.gid_tbl_len, 1)));
  const ssize_t count = ibv_query_gid_table(context, entries.data(), entries.size(), 0);
  if (count < 0) return Error{static_cast<int>(-count), "cannot read the table of GIDs"};
  std::vector<GidFacts> gids;
  for (ssize_t i = 0; i < count; ++i) {
    const ibv_gid_entry& entry = entries[static_cast<std::size_t>(i)];
    GidFacts gid;
    gid.index = entry.gid_index;
    std::memcpy(gid.raw, entry.gid.raw, sizeof gid.raw);
    gid.is_v2 = entry.gid_type == IBV_GID_TYPE_ROCE_V2;
    gid.interface = interface_name(entry.ndev_ifindex);
    gids.push_back(std::move(gid));
  }
  return gids;
}

Result<DeviceFacts> read_device(ibv_device* device) {
  DeviceFacts facts;
  facts.name = device->name;
  facts.node_name = device->dev_name;
  const OpenDevice context(ibv_open_device(device), ibv_close_device);
  if (!context) return Error{errno, "cannot open " + facts.name};
  ibv_device_attr attributes{};
  int code = ibv_query_device(context.get(), &attributes);
  if (code == 0) code = ibv_query_port(context.get(), kPort, &facts.port);
  if (code != 0) return Error{code, "cannot ask " + facts.name};
  facts.firmware = attributes.fw_ver;
  facts.node_guid = attributes.node_guid;
  facts.system_guid = attributes.sys_image_guid;
  facts.hardware_version = attributes.hw_ver;
  Result<std::vector<GidFacts>> gids = read_gids(context.get(), facts.port);
  if (!gids) return gids.error();
  facts.gids = *std::move(gids);
  for (int i = 0; i < facts.port.pkey_tbl_len; ++i) {
    __be16 key = 0;
    if (ibv_query_pkey(context.get(), kPort, i, &key) == 0) {
      facts.partition_keys.push_back(be16toh(key));
    }
  }
  return facts;
}

// What is on loopback has no cable, and so no interface that a NIC could have.
bool is_loopback(const std::string& interface) {
  std::ifstream stream("/sys/class/net/" + interface + "/type");
  int type = 0;
  return stream >> type && type == ARPHRD_LOOPBACK;
}

std::string own_interface(const DeviceFacts& device) {
  const auto found = std::find_if(device.gids.begin(), device.gids.end(), [](const GidFacts& gid) {
    return !gid.interface.empty() && !is_loopback(gid.interface);
  });
  return found == device.gids.end() ? "" : found->interface;
}

Result<void> find_places(std::vector<DeviceFacts>& devices) {
  const auto configured = rnic::devices_from_environment();
  if (!configured) return configured.error();
  for (const rnic::DeviceConfiguration& one : *configured) {
    const auto device = std::find_if(devices.begin(), devices.end(),
                                     [&one](const auto& facts) { return facts.name == one.name; });
    if (one.pci.empty() || device == devices.end()) continue;
    Result<Place> place = find_place("", one.pci);
    if (!place) {
      return Error{place.error().code,
                   "GDR_SOFT_DEVICES: device '" + one.name + "': " + place.error().message};
    }
    device->place = *std::move(place);
  }
  return {};
}

}  // namespace

Result<std::vector<DeviceFacts>> read_devices() {
  int count = 0;
  const std::unique_ptr<ibv_device*, decltype(&ibv_free_device_list)> list(
      ibv_get_device_list(&count), ibv_free_device_list);
  if (!list) return Error{errno, "cannot list the devices of the software NIC"};
  std::vector<DeviceFacts> devices;
  for (int i = 0; i < count; ++i) {
    Result<DeviceFacts> device = read_device(list.get()[i]);
    if (!device) return device.error();
    device->interface = own_interface(*device);
    devices.push_back(*std::move(device));
  }
  if (Result<void> placed = find_places(devices); !placed) return placed.error();
  return devices;
}

}  // namespace gdr::presence

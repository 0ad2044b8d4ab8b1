#include <endian.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {

int open_devices(Library& l) {
  if (l.devices_known) return l.devices.empty() ? ENODEV : 0;
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr) return errno;
  for (int i = 0; i < count; ++i) {
    ibv_context* context = ibv_open_device(list[i]);
    if (context == nullptr) continue;
    auto device = std::make_unique<Device>();
    device->context = context;
    device->guid = be64toh(ibv_get_device_guid(list[i]));
    ibv_query_device(context, &device->attributes);
    l.devices.push_back(std::move(device));
  }
  ibv_free_device_list(list);
  if (!l.devices.empty()) get_ready_for_forks();
  l.devices_known = true;
  return l.devices.empty() ? ENODEV : 0;
}

std::vector<LocalAddress> local_addresses(Library& l, Device* only) {
  std::vector<LocalAddress> addresses;
  if (open_devices(l) != 0) return addresses;
  for (const auto& device : l.devices) {
    if (only != nullptr && device.get() != only) continue;
    for (std::uint8_t port = 1; port <= device->attributes.phys_port_cnt; ++port) {
      ibv_port_attr attributes{};
      if (ibv_query_port(device->context, port, &attributes) != 0) continue;
      for (int i = 0; i < attributes.gid_tbl_len && i < 256; ++i) {
        ibv_gid_entry entry{};
        if (ibv_query_gid_ex(device->context, port, static_cast<unsigned>(i), &entry, 0) != 0 ||
            entry.gid_type != IBV_GID_TYPE_ROCE_V2) {
          continue;
        }
        LocalAddress found{device.get(), port, static_cast<std::uint8_t>(i), {}};
        std::copy_n(entry.gid.raw, 16, found.gid.begin());
        addresses.push_back(found);
      }
    }
  }
  // Where any address will do, the first is taken: not the link-local one, which is a port's first.
  std::stable_partition(addresses.begin(), addresses.end(),
                        [](const LocalAddress& address) { return !is_link_local(address.gid); });
  return addresses;
}

// Devices on loopback (the default) reach nobody outside of this host. Within it the first of them
// stands behind each interface, since libfabric and others look for a device behind interfaces that
// are not loopback ones. Packets still come and go at the device's own address alone.
const LocalAddress* serving_interface(const std::vector<LocalAddress>& all,
                                      const sockaddr* address) {
  const bool only_loopback = std::all_of(all.begin(), all.end(), [](const LocalAddress& one) {
    const sockaddr_storage own = address_of(one.gid, 0);
    return is_link_local(one.gid) || is_loopback(reinterpret_cast<const sockaddr*>(&own));
  });
  return only_loopback && !all.empty() && is_own(address) ? &all.front() : nullptr;
}

namespace {
gdr_gsi* open_general_services(Device& device) {
  const gdr_gsi_user user{on_mad, on_process_ended, &device};
  return gdr_gsi_open(device.context, &user);
}
}  // namespace

int prepare(Device& device) {
  if (device.pd == nullptr) device.pd = ibv_alloc_pd(device.context);
  if (device.pd == nullptr) return errno;
  if (device.gsi == nullptr) device.gsi = open_general_services(device);
  return device.gsi == nullptr ? errno : 0;
}

}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT ibv_context** rdma_get_devices(int* num_devices) {
  Library& l = library();
  const Guard guard(l.lock);
  const int error = open_devices(l);
  auto** list = static_cast<ibv_context**>(calloc(l.devices.size() + 1, sizeof(ibv_context*)));
  if (list == nullptr || (error != 0 && error != ENODEV)) {
    if (num_devices != nullptr) *num_devices = 0;
    free(list);
    fail(list == nullptr ? ENOMEM : error);
    return nullptr;
  }
  for (std::size_t i = 0; i < l.devices.size(); ++i) list[i] = l.devices[i]->context;
  if (num_devices != nullptr) *num_devices = static_cast<int>(l.devices.size());
  return list;
}

GDR_EXPORT void rdma_free_devices(ibv_context** list) { free(list); }

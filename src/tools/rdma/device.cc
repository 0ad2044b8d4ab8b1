#include "rdma/device.h"

#include <string.h>

#include "base/address_space.h"
#include "base/bytes.h"

namespace gdr::rdma {
namespace {

// How good a GID is for RoCE between any two hosts; 0: unusable.
int rank(const ibv_gid_entry& entry) {
  constexpr ibv_gid kEmpty{};
  if (memcmp(&entry.gid, &kEmpty, sizeof kEmpty) == 0) return 0;
  if (entry.gid_type != IBV_GID_TYPE_ROCE_V2) return 1;
  if (ipv4_of(entry.gid)) return 4;
  const bool link_local = entry.gid.raw[0] == 0xfe && (entry.gid.raw[1] & 0xc0) == 0x80;
  return link_local ? 2 : 3;
}

}  // namespace

std::optional<std::uint32_t> ipv4_of(const ibv_gid& gid) {
  constexpr std::uint8_t kPrefix[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  if (memcmp(gid.raw, kPrefix, sizeof kPrefix) != 0) return std::nullopt;
  return load_be32(gid.raw + 12);
}

Result<Device> Device::open(const Library& library, const std::string& name) {
  int count = 0;
  ibv_device** list = library.get_device_list(&count);
  if (!list) return verbs_error("ibv_get_device_list", errno);
  ibv_context* context = nullptr;
  int code = ENODEV;
  for (int i = 0; i < count; ++i) {
    if (name != library.get_device_name(list[i])) continue;
    errno = 0;
    context = library.open_device(list[i]);
    code = errno ? errno : EIO;
    break;
  }
  library.free_device_list(list);
  if (context) return Device(library, context);
  if (code == ENODEV) return Error{ENODEV, library.path() + " has no RDMA device '" + name + "'"};
  Error failed = verbs_error(("ibv_open_device(" + name + ")").c_str(), code);
  failed.message += address_space_advice(code);
  return failed;
}

Result<ibv_device_attr> Device::attributes() const {
  ibv_device_attr attributes{};
  if (int code = library_->query_device(context(), &attributes)) {
    return verbs_error("ibv_query_device", code);
  }
  return attributes;
}

// What the inline ibv_query_port() does, without its reference to the library's symbol.
Result<ibv_port_attr> Device::port(std::uint8_t number) const {
  ibv_port_attr attributes{};
  verbs_context* table = verbs_get_ctx_op(context(), query_port);
  const int code =
      table ? table->query_port(context(), number, &attributes, sizeof attributes)
            : library_->query_port_compat(context(), number,
                                          reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
  if (code) return verbs_error("ibv_query_port", code);
  return attributes;
}

Result<PortAddress> Device::address(std::uint8_t number) const {
  Result<ibv_port_attr> attributes = port(number);
  if (!attributes) return attributes.error();
  PortAddress address;
  address.lid = attributes->lid;
  if (attributes->link_layer != IBV_LINK_LAYER_ETHERNET) {
    if (int code = library_->query_gid(context(), number, 0, &address.gid)) {
      return verbs_error("ibv_query_gid", code > 0 ? code : EIO);
    }
    return address;
  }
  int best = 0;
  for (int i = 0; i < attributes->gid_tbl_len && i < 256; ++i) {
    ibv_gid_entry entry{};
    if (library_->query_gid_ex(context(), number, static_cast<std::uint32_t>(i), &entry, 0,
                               sizeof entry)) {
      continue;  // an unused place in the table
    }
    if (rank(entry) <= best) continue;
    best = rank(entry);
    address.gid = entry.gid;
    address.gid_index = static_cast<std::uint8_t>(i);
  }
  if (best == 0) {
    return Error{EADDRNOTAVAIL,
                 "port " + std::to_string(number) +
                     " has no GID; give its network interface an address and set it up"};
  }
  address.mac = mac_of(number, address.gid_index, address.gid);
  return address;
}

std::optional<Mac> Device::mac_of(std::uint8_t port, std::uint8_t gid_index,
                                  const ibv_gid& gid) const {
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  attributes.port_num = port;
  attributes.grh.dgid = gid;
  attributes.grh.sgid_index = gid_index;
  attributes.grh.hop_limit = 1;
  Mac mac{};
  std::uint16_t vlan = 0;
  if (library_->resolve_eth_l2_from_gid(context(), &attributes, mac.data(), &vlan)) {
    return std::nullopt;
  }
  return mac;
}

}  // namespace gdr::rdma

// The port of a device: state, speed, GIDs, partition keys. RoCE: one port, no subnet manager.
#include <algorithm>
#include <cstring>

#include "net/interface.h"
#include "rnic/gids.h"
#include "rnic/queue_pair.h"
#include "verbs/abi.h"
#include "verbs/context.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "wire/packet.h"

#undef ibv_query_port

namespace gdr::verbs {
namespace {

struct LinkRate {
  std::uint32_t gigabits;
  std::uint8_t width, speed;  // ibv_port_attr's codes
};

// As the kernel describes Ethernet ports (ib_get_eth_speed). Widths: 1 1x, 2 4x, 16 2x; speeds: 4
// QDR, 8 FDR10, 32 EDR, 64 HDR, 128 NDR.
constexpr LinkRate kLinkRates[] = {{10, 1, 4},   {25, 1, 32},  {40, 2, 8},   {50, 16, 32},
                                   {100, 2, 32}, {200, 2, 64}, {400, 2, 128}};
constexpr std::uint8_t kLinkUp = 5;

// Like Linux for RoCE: the largest MTU that the interface allows. An address without an interface
// is only reachable within the host.
ibv_mtu path_mtu(const Device& device) {
  const auto interface = net::find_interface(device.configuration.address);
  switch (interface ? net::path_mtu_of(interface->mtu) : wire::kMostPayload) {
    case 256:
      return IBV_MTU_256;
    case 512:
      return IBV_MTU_512;
    case 1024:
      return IBV_MTU_1024;
    case 2048:
      return IBV_MTU_2048;
    default:
      return IBV_MTU_4096;
  }
}

ibv_port_attr port_attributes(const Device& device) {
  ibv_port_attr port{};
  port.state = IBV_PORT_ACTIVE;
  port.max_mtu = IBV_MTU_4096;
  port.active_mtu = path_mtu(device);
  port.gid_tbl_len = static_cast<int>(rnic::kGidTable);
  port.port_cap_flags = IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS;
  port.max_msg_sz = rnic::kMaxMessage;
  port.pkey_tbl_len = 1;
  port.max_vl_num = 1;
  port.phys_state = kLinkUp;
  port.link_layer = IBV_LINK_LAYER_ETHERNET;
  port.flags = IBV_QPF_GRH_REQUIRED;
  const auto* rate = std::find_if(
      std::begin(kLinkRates), std::end(kLinkRates),
      [&](const LinkRate& entry) { return entry.gigabits == device.configuration.gigabits; });
  if (rate == std::end(kLinkRates)) rate = std::begin(kLinkRates);
  port.active_width = rate->width;
  port.active_speed = rate->speed;
  return port;
}

// The caller says how much of the struct it knows: less in old programs, more in new ones.
int query_port(ibv_context* context, std::uint8_t port_number, ibv_port_attr* attributes,
               std::size_t size) {
  if (port_number != kPort) return EINVAL;
  const ibv_port_attr port = port_attributes(*context_of(context).device);
  std::memset(attributes, 0, size);
  std::memcpy(attributes, &port, std::min(size, sizeof port));
  return 0;
}

// ibv_port_attr as IBVERBS_1.1 knew it: up to, not including, port_cap_flags2.
constexpr std::size_t kOldPortAttributes = offsetof(ibv_port_attr, port_cap_flags2);

int query_port_compat(ibv_context* context, std::uint8_t port_number,
                      _compat_ibv_port_attr* attributes) {
  return query_port(context, port_number, reinterpret_cast<ibv_port_attr*>(attributes),
                    kOldPortAttributes);
}

// EINVAL: the port has no such entry. ENODATA: it is empty.
int check_gid(ibv_context* context, std::uint32_t port_number, std::uint32_t index) {
  if (port_number != kPort || index >= rnic::kGidTable) return EINVAL;
  const Device& device = *context_of(context).device;
  return index < rnic::gid_count(device.configuration) ? 0 : ENODATA;
}

ibv_gid_entry gid_entry(const Device& device, std::uint32_t index) {
  const rnic::PortAddress& address = device.configuration.addresses[rnic::address_of_gid(index)];
  ibv_gid_entry entry{};
  std::memcpy(entry.gid.raw, address.gid.data(), address.gid.size());
  entry.gid_index = index;
  entry.port_num = kPort;
  const bool second = rnic::type_of_gid(index) == rnic::GidType::kRoceV2;
  entry.gid_type = second ? IBV_GID_TYPE_ROCE_V2 : IBV_GID_TYPE_ROCE_V1;
  const auto interface = net::find_interface(address.gid);
  if (interface) entry.ndev_ifindex = interface->index;
  return entry;
}

void copy_entry(ibv_gid_entry* to, const ibv_gid_entry& from, std::size_t size) {
  std::memset(to, 0, size);
  std::memcpy(to, &from, std::min(size, sizeof from));
}

}  // namespace

void set_port_functions(verbs_context& table) {
  table.query_port = query_port;
  table.context.ops._compat_query_port = query_port_compat;
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT int ibv_query_port(ibv_context* context, std::uint8_t port_number,
                              _compat_ibv_port_attr* attributes) {
  return query_port_compat(context, port_number, attributes);
}

// An empty entry gives zeros.
GDR_EXPORT int ibv_query_gid(ibv_context* context, std::uint8_t port_number, int index,
                             ibv_gid* gid) {
  const auto at = static_cast<std::uint32_t>(index);
  const int error = check_gid(context, port_number, at);
  if (error != 0 && error != ENODATA) return minus_one(error);
  *gid = error == 0 ? gid_entry(*context_of(context).device, at).gid : ibv_gid{};
  return 0;
}

GDR_EXPORT int _ibv_query_gid_ex(ibv_context* context, std::uint32_t port_number,
                                 std::uint32_t index, ibv_gid_entry* entry, std::uint32_t flags,
                                 std::size_t entry_size) {
  if (flags != 0) return EINVAL;
  if (const int error = check_gid(context, port_number, index); error != 0) return error;
  copy_entry(entry, gid_entry(*context_of(context).device, index), entry_size);
  return 0;
}

// As the kernel: a table that is too short gets nothing.
GDR_EXPORT ssize_t _ibv_query_gid_table(ibv_context* context, ibv_gid_entry* entries,
                                        std::size_t max_entries, std::uint32_t flags,
                                        std::size_t entry_size) {
  const Device& device = *context_of(context).device;
  const std::uint32_t count = gdr::rnic::gid_count(device.configuration);
  if (flags != 0 || max_entries < count) return -EINVAL;
  auto* at = reinterpret_cast<std::byte*>(entries);
  for (std::uint32_t i = 0; i < count; ++i, at += entry_size) {
    copy_entry(reinterpret_cast<ibv_gid_entry*>(at), gid_entry(device, i), entry_size);
  }
  return count;
}

// A private enumeration of rdma-core: 0 is InfiniBand or RoCEv1, 1 is RoCEv2.
namespace {
int query_gid_type(ibv_context* context, std::uint8_t port_number, unsigned index, int* type) {
  const int error = check_gid(context, port_number, index);
  if (error != 0 && error != ENODATA) return minus_one(error);
  const auto found = error == 0 ? gdr::rnic::type_of_gid(index) : gdr::rnic::GidType::kRoceV1;
  *type = static_cast<int>(found);
  return 0;
}
}  // namespace

GDR_EXPORT int ibv_query_gid_type(ibv_context* context, std::uint8_t port_number, unsigned index,
                                  int* type) {
  return query_gid_type(context, port_number, index, type);
}

// The same for programs built with other releases, which named the private node otherwise.
#define GDR_GID_TYPE_IN(node)                                                                   \
  GDR_EXPORT_AS("ibv_query_gid_type@IBVERBS_PRIVATE_" #node)                                    \
  int ibv_query_gid_type_##node(ibv_context* context, std::uint8_t port_number, unsigned index, \
                                int* type) {                                                    \
    return query_gid_type(context, port_number, index, type);                                   \
  }
GDR_GID_TYPE_IN(33)
GDR_GID_TYPE_IN(57)
GDR_GID_TYPE_IN(59)
GDR_GID_TYPE_IN(64)
GDR_GID_TYPE_IN(65)

GDR_EXPORT int ibv_query_pkey(ibv_context* /*context*/, std::uint8_t port_number, int index,
                              __be16* key) {
  if (port_number != kPort || index != 0) return minus_one(EINVAL);
  *key = htobe16(kPartitionKey);
  return 0;
}

GDR_EXPORT int ibv_get_pkey_index(ibv_context* /*context*/, std::uint8_t port_number, __be16 key) {
  if (port_number != kPort || key != htobe16(kPartitionKey)) return minus_one(EINVAL);
  return 0;
}

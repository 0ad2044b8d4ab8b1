// From what was received back to where it came from, and from a GID to a MAC.
#include "verbs/address.h"

#include <netinet/in.h>
#include <netinet/ip.h>

#include <cstring>

#include "base/internet_checksum.h"
#include "rnic/gids.h"
#include "verbs/abi.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

constexpr std::uint8_t kHighestServiceLevel = 15;
constexpr std::uint32_t kFlowLabelMask = 0xfffff;

// RoCEv2 over IPv4 puts the IPv4 header into the second half of the 40 bytes of the GRH.
constexpr std::size_t kIpv4HeaderAt = 20;

bool is_multicast(const ibv_gid& gid) { return gid.raw[0] == 0xff; }

// The entry that packets to that address arrive by: they are RoCE v2, whatever their sender took.
bool find_own(const Device& device, const ibv_gid& gid, ibv_ah_attr& attributes) {
  const auto index = rnic::gid_index_of(device.configuration, gid.raw, rnic::GidType::kRoceV2);
  if (index) attributes.grh.sgid_index = static_cast<std::uint8_t>(*index);
  return index.has_value();
}

ibv_gid mapped(in_addr_t address) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  std::memcpy(gid.raw + 12, &address, sizeof address);
  return gid;
}

// 4, 6, or 0 for neither. The first half of the GRH is undefined under IPv4 and may look like IPv6:
// then the IPv4 checksum decides.
int version_of(const ibv_grh& grh, const iphdr& ipv4) {
  const bool looks_like_ipv6 = load_be32(&grh.version_tclass_flow) >> 28 == 6;
  if (!looks_like_ipv6) return ipv4.version == 4 ? 4 : 0;
  const bool checksum_is_right = internet_checksum(std::as_bytes(std::span(&ipv4, 1))) == 0;
  return ipv4.version == 4 && ipv4.ihl == 5 && checksum_is_right ? 4 : 6;
}

int from_ipv4(const Device& device, const iphdr& header, ibv_ah_attr& attributes) {
  if (IN_MULTICAST(ntohl(header.daddr)) || !find_own(device, mapped(header.daddr), attributes)) {
    return EINVAL;
  }
  attributes.grh.dgid = mapped(header.saddr);
  attributes.grh.hop_limit = header.ttl;
  attributes.grh.traffic_class = header.tos;
  return 0;
}

int from_ipv6(const Device& device, const ibv_grh& grh, ibv_ah_attr& attributes) {
  if (grh.next_hdr != IPPROTO_UDP) return EPROTONOSUPPORT;
  if (is_multicast(grh.dgid) || !find_own(device, grh.dgid, attributes)) return EINVAL;
  attributes.grh.dgid = grh.sgid;
  attributes.grh.hop_limit = grh.hop_limit;
  attributes.grh.traffic_class =
      static_cast<std::uint8_t>(load_be32(&grh.version_tclass_flow) >> 20);
  return 0;
}

int address_from_completion(const Device& device, std::uint8_t port, const ibv_wc& completion,
                            const ibv_grh* grh, ibv_ah_attr& attributes) {
  attributes = {};
  attributes.dlid = completion.slid;
  attributes.sl = completion.sl;
  attributes.src_path_bits = completion.dlid_path_bits;
  attributes.port_num = port;
  if ((completion.wc_flags & IBV_WC_GRH) == 0) return 0;
  attributes.is_global = 1;
  attributes.grh.flow_label = load_be32(&grh->version_tclass_flow) & kFlowLabelMask;
  iphdr ipv4;
  std::memcpy(&ipv4, reinterpret_cast<const char*>(grh) + kIpv4HeaderAt, sizeof ipv4);
  switch (version_of(*grh, ipv4)) {
    case 4:
      return from_ipv4(device, ipv4, attributes);
    case 6:
      return from_ipv6(device, *grh, attributes);
    default:
      return EPROTONOSUPPORT;
  }
}

}  // namespace

bool names_a_path(const Device& device, const ibv_ah_attr& attributes) {
  // On Ethernet there is nothing but a GID to address by (annex A16).
  return attributes.port_num == kPort && attributes.sl <= kHighestServiceLevel &&
         attributes.is_global != 0 &&
         attributes.grh.sgid_index < rnic::gid_count(device.configuration);
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT int ibv_init_ah_from_wc(ibv_context* context, std::uint8_t port, ibv_wc* completion,
                                   ibv_grh* grh, ibv_ah_attr* attributes) {
  const int error =
      address_from_completion(*context_of(context).device, port, *completion, grh, *attributes);
  return error == 0 ? 0 : minus_one(error);
}

GDR_EXPORT ibv_ah* ibv_create_ah_from_wc(ibv_pd* pd, ibv_wc* completion, ibv_grh* grh,
                                         std::uint8_t port) {
  ibv_ah_attr attributes;
  const int error =
      address_from_completion(*context_of(pd->context).device, port, *completion, grh, attributes);
  if (error != 0) return fail(error);
  return create_address_handle(pd, attributes);
}

// A negative errno value, unlike other verbs. There is no network to ask: the devices of the table
// are all that can be reached.
GDR_EXPORT int ibv_resolve_eth_l2_from_gid(ibv_context* context, ibv_ah_attr* attributes,
                                           std::uint8_t mac[6], std::uint16_t* vlan) {
  constexpr std::uint16_t kNoVlan = 0xffff;
  const Device& own = *context_of(context).device;
  if (attributes->port_num != kPort ||
      attributes->grh.sgid_index >= gdr::rnic::gid_count(own.configuration)) {
    return -EINVAL;
  }
  const Device* device = find_device_by_gid(attributes->grh.dgid);
  if (device == nullptr) return -EHOSTUNREACH;
  std::memcpy(mac, device->configuration.mac.data(), device->configuration.mac.size());
  if (vlan != nullptr) *vlan = kNoVlan;
  return 0;
}

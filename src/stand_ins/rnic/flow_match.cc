#include <algorithm>
#include <cstddef>
#include <cstring>

#include "rnic/flow.h"
#include "rnic/frame_view.h"

namespace gdr::rnic {
namespace {

constexpr std::uint16_t network_order(std::uint16_t value) { return __builtin_bswap16(value); }

Error malformed(std::string what) { return Error{EINVAL, "flow rule: " + std::move(what)}; }
Error unserved(std::string what) { return Error{EOPNOTSUPP, "flow rule: " + std::move(what)}; }

std::string hexadecimal(std::uint32_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  do {
    text.insert(text.begin(), kDigits[value & 15]);
    value >>= 4;
  } while (value != 0);
  return "0x" + text;
}

// One spec, copied out of the program's bytes: those need not be aligned (raw_ethernet_* and the
// manual's example pack them).
template <typename Spec>
Result<void> copy_spec(std::span<const std::uint8_t> bytes, Spec& spec) {
  if (bytes.size() != sizeof(Spec)) {
    return malformed("a spec of size " + std::to_string(bytes.size()) + " where its type has " +
                     std::to_string(sizeof(Spec)));
  }
  std::memcpy(&spec, bytes.data(), sizeof spec);
  return {};
}

// What one flow attribute has named so far; each layer may be named once.
struct Layers {
  bool ethernet = false, ipv4 = false, ipv6 = false, transport = false;
};

Result<void> add_ethernet(std::span<const std::uint8_t> bytes, FlowMatch& match) {
  ibv_flow_spec_eth spec{};
  if (Result<void> copied = copy_spec(bytes, spec); !copied) return copied;
  std::memcpy(match.destination_mac, spec.val.dst_mac, 6);
  std::memcpy(match.destination_mac_mask, spec.mask.dst_mac, 6);
  std::memcpy(match.source_mac, spec.val.src_mac, 6);
  std::memcpy(match.source_mac_mask, spec.mask.src_mac, 6);
  match.ether_type = spec.val.ether_type;
  match.ether_type_mask = spec.mask.ether_type;
  match.vlan_tag = spec.val.vlan_tag;
  match.vlan_tag_mask = spec.mask.vlan_tag;
  return {};
}

template <typename Filter>
void add_addresses(const Filter& value, const Filter& mask, FlowMatch& match) {
  match.source_ip = value.src_ip;
  match.source_ip_mask = mask.src_ip;
  match.destination_ip = value.dst_ip;
  match.destination_ip_mask = mask.dst_ip;
}

Result<void> add_ipv4(std::span<const std::uint8_t> bytes, FlowMatch& match) {
  ibv_flow_spec_ipv4 spec{};
  if (Result<void> copied = copy_spec(bytes, spec); !copied) return copied;
  add_addresses(spec.val, spec.mask, match);
  return {};
}

Result<void> add_protocol(std::uint8_t protocol, std::uint8_t mask, FlowMatch& match) {
  // A transport spec in front has already fixed the protocol.
  if (((match.protocol ^ protocol) & match.protocol_mask & mask) != 0) {
    return malformed("the IP protocol contradicts the TCP or UDP spec");
  }
  match.protocol =
      static_cast<std::uint8_t>((match.protocol & match.protocol_mask) | (protocol & mask));
  match.protocol_mask |= mask;
  return {};
}

Result<void> add_ipv4_ext(std::span<const std::uint8_t> bytes, FlowMatch& match) {
  ibv_flow_spec_ipv4_ext spec{};
  if (Result<void> copied = copy_spec(bytes, spec); !copied) return copied;
  if (spec.mask.tos != 0 || spec.mask.ttl != 0 || spec.mask.flags != 0) {
    return unserved("IPv4 type of service, time to live and flags are not compared");
  }
  add_addresses(spec.val, spec.mask, match);
  return add_protocol(spec.val.proto, spec.mask.proto, match);
}

Result<void> add_ipv6(std::span<const std::uint8_t> bytes, FlowMatch& match) {
  ibv_flow_spec_ipv6 spec{};
  if (Result<void> copied = copy_spec(bytes, spec); !copied) return copied;
  if (spec.mask.flow_label != 0 || spec.mask.traffic_class != 0 || spec.mask.hop_limit != 0) {
    return unserved("IPv6 flow label, traffic class and hop limit are not compared");
  }
  std::memcpy(match.source_ip6, spec.val.src_ip, 16);
  std::memcpy(match.source_ip6_mask, spec.mask.src_ip, 16);
  std::memcpy(match.destination_ip6, spec.val.dst_ip, 16);
  std::memcpy(match.destination_ip6_mask, spec.mask.dst_ip, 16);
  return add_protocol(spec.val.next_hdr, spec.mask.next_hdr, match);
}

Result<void> add_transport(std::span<const std::uint8_t> bytes, std::uint8_t protocol,
                           FlowMatch& match) {
  ibv_flow_spec_tcp_udp spec{};
  if (Result<void> copied = copy_spec(bytes, spec); !copied) return copied;
  if (((match.protocol ^ protocol) & match.protocol_mask) != 0) {
    return malformed("the TCP or UDP spec contradicts the IP protocol");
  }
  match.source_port = spec.val.src_port;
  match.source_port_mask = spec.mask.src_port;
  match.destination_port = spec.val.dst_port;
  match.destination_port_mask = spec.mask.dst_port;
  match.protocol = protocol;
  match.protocol_mask = 0xff;
  return {};
}

Result<void> claim(bool& layer, const char* name) {
  if (layer) return malformed(std::string("two specs of the ") + name + " header");
  layer = true;
  return {};
}

Result<void> add_spec(std::uint32_t type, std::span<const std::uint8_t> bytes, Layers& layers,
                      FlowMatch& match) {
  switch (type) {
    case IBV_FLOW_SPEC_ETH:
      if (Result<void> once = claim(layers.ethernet, "Ethernet"); !once) return once;
      return add_ethernet(bytes, match);
    case IBV_FLOW_SPEC_IPV4:
      if (Result<void> once = claim(layers.ipv4, "IPv4"); !once) return once;
      return add_ipv4(bytes, match);
    case IBV_FLOW_SPEC_IPV4_EXT:
      if (Result<void> once = claim(layers.ipv4, "IPv4"); !once) return once;
      return add_ipv4_ext(bytes, match);
    case IBV_FLOW_SPEC_IPV6:
      if (Result<void> once = claim(layers.ipv6, "IPv6"); !once) return once;
      return add_ipv6(bytes, match);
    case IBV_FLOW_SPEC_TCP:
    case IBV_FLOW_SPEC_UDP:
      if (Result<void> once = claim(layers.transport, "TCP or UDP"); !once) return once;
      return add_transport(bytes, type == IBV_FLOW_SPEC_TCP ? kProtocolTcp : kProtocolUdp, match);
    case IBV_FLOW_SPEC_ESP:
    case IBV_FLOW_SPEC_VXLAN_TUNNEL:
    case IBV_FLOW_SPEC_GRE:
    case IBV_FLOW_SPEC_MPLS:
    case IBV_FLOW_SPEC_ACTION_TAG:
    case IBV_FLOW_SPEC_ACTION_DROP:
    case IBV_FLOW_SPEC_ACTION_HANDLE:
    case IBV_FLOW_SPEC_ACTION_COUNT:
      return unserved("spec type " + hexadecimal(type) +
                      "; served are Ethernet, IPv4, IPv4 extended, IPv6, TCP and UDP");
    default:
      if ((type & IBV_FLOW_SPEC_INNER) != 0) return unserved("specs of inner headers");
      return malformed("unknown spec type " + hexadecimal(type));
  }
}

// TCP and UDP specs alone take both.
Result<void> settle_ip_versions(const Layers& layers, FlowMatch& match) {
  if (layers.ipv4 && layers.ipv6) return malformed("specs of both IPv4 and IPv6");
  if (!layers.ipv4 && !layers.ipv6 && !layers.transport) return {};
  const auto may_be = [&match](std::uint16_t type) {
    return ((match.ether_type ^ network_order(type)) & match.ether_type_mask) == 0;
  };
  if (!layers.ipv6 && may_be(FrameView::kTypeIpv4)) match.ip_versions |= kTakesIpv4;
  if (!layers.ipv4 && may_be(FrameView::kTypeIpv6)) match.ip_versions |= kTakesIpv6;
  if (match.ip_versions != 0) return {};
  return malformed("the Ethernet type contradicts the IP, TCP or UDP spec");
}

Result<void> add_specs(const ibv_flow_attr& attributes, FlowMatch& match) {
  constexpr std::size_t kHeader =
      offsetof(ibv_flow_spec_action_drop, size) + sizeof(ibv_flow_spec_action_drop::size);
  const auto* start = reinterpret_cast<const std::uint8_t*>(&attributes);
  // rdma-core goes by the specs' own sizes alone, so programs leave the attribute's at 0 or at its
  // header's. What says more is believed.
  constexpr std::size_t kUnsaid = std::size_t{UINT8_MAX} * UINT16_MAX;
  std::span<const std::uint8_t> rest(
      start + sizeof attributes,
      attributes.size <= sizeof attributes ? kUnsaid : attributes.size - sizeof attributes);
  Layers layers;
  for (unsigned i = 0; i < attributes.num_of_specs; ++i) {
    if (rest.size() < kHeader) return malformed("fewer bytes than num_of_specs promises");
    std::uint32_t type;
    std::uint16_t size;
    std::memcpy(&type, rest.data(), sizeof type);
    std::memcpy(&size, rest.data() + sizeof type, sizeof size);
    if (size < kHeader || size > rest.size()) {
      return malformed("a spec of size " + std::to_string(size) + " with " +
                       std::to_string(rest.size()) + " bytes left");
    }
    if (Result<void> added = add_spec(type, rest.first(size), layers, match); !added) return added;
    rest = rest.subspan(size);
  }
  return settle_ip_versions(layers, match);
}

template <std::size_t Bytes>
bool equal_under(const std::uint8_t* frame, const std::uint8_t (&value)[Bytes],
                 const std::uint8_t (&mask)[Bytes]) {
  for (std::size_t i = 0; i < Bytes; ++i) {
    if (((frame[i] ^ value[i]) & mask[i]) != 0) return false;
  }
  return true;
}

template <typename Word>
bool equal_under(const std::uint8_t* frame, Word value, Word mask) {
  Word found;
  std::memcpy(&found, frame, sizeof found);
  return ((found ^ value) & mask) == 0;
}

bool matches_ethernet(const FlowMatch& match, const FrameView& view,
                      std::span<const std::uint8_t> frame) {
  if (!equal_under(&frame[0], match.destination_mac, match.destination_mac_mask) ||
      !equal_under(&frame[6], match.source_mac, match.source_mac_mask)) {
    return false;
  }
  if (((network_order(view.ether_type) ^ match.ether_type) & match.ether_type_mask) != 0) {
    return false;
  }
  if (match.vlan_tag_mask == 0) return true;
  return view.has_vlan &&
         ((network_order(view.vlan_tag) ^ match.vlan_tag) & match.vlan_tag_mask) == 0;
}

bool matches_addresses(const FlowMatch& match, const FrameView& view,
                       std::span<const std::uint8_t> frame) {
  if (view.has_ipv4 && (match.ip_versions & kTakesIpv4) != 0) {
    const std::uint8_t* header = &frame[view.ipv4];
    return equal_under(header + 12, match.source_ip, match.source_ip_mask) &&
           equal_under(header + 16, match.destination_ip, match.destination_ip_mask);
  }
  if (!view.has_ipv6 || (match.ip_versions & kTakesIpv6) == 0) return false;
  const std::uint8_t* header = &frame[view.ipv6];
  return equal_under(header + 8, match.source_ip6, match.source_ip6_mask) &&
         equal_under(header + 24, match.destination_ip6, match.destination_ip6_mask);
}

bool matches_ip(const FlowMatch& match, const FrameView& view,
                std::span<const std::uint8_t> frame) {
  if (!matches_addresses(match, view, frame) ||
      ((view.protocol ^ match.protocol) & match.protocol_mask) != 0) {
    return false;
  }
  if (match.source_port_mask == 0 && match.destination_port_mask == 0) return true;
  if (!view.has_ports) return false;  // later fragments carry none
  const std::uint8_t* ports = &frame[view.transport];
  return equal_under(ports, match.source_port, match.source_port_mask) &&
         equal_under(ports + 2, match.destination_port, match.destination_port_mask);
}

}  // namespace

Result<FlowMatch> flow_match(const ibv_flow_attr& attributes) {
  constexpr std::uint32_t kKnownFlags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP | IBV_FLOW_ATTR_FLAGS_EGRESS;
  if (attributes.comp_mask != 0) return malformed("comp_mask must be 0");
  if (attributes.port != 1) {
    return malformed("port " + std::to_string(attributes.port) + "; the device has port 1");
  }
  if ((attributes.flags & ~kKnownFlags) != 0) {
    return malformed("unknown flags " + hexadecimal(attributes.flags));
  }
  if (attributes.flags != 0) return unserved("flags " + hexadecimal(attributes.flags));

  FlowMatch match{};
  // Read as the integer it is: a program may have put anything there.
  std::uint32_t type;
  std::memcpy(&type, &attributes.type, sizeof type);
  if (type == IBV_FLOW_ATTR_NORMAL) {
    if (Result<void> added = add_specs(attributes, match); !added) return added.error();
    return match;
  }
  if (type > IBV_FLOW_ATTR_SNIFFER) return malformed("unknown type " + hexadecimal(type));
  if (attributes.num_of_specs != 0) return malformed("default and sniffer rules take no specs");
  if (type == IBV_FLOW_ATTR_MC_DEFAULT) {
    match.destination_mac[0] = match.destination_mac_mask[0] = 1;  // the group bit
  } else {
    match.everything = 1;
    match.sniffs = type == IBV_FLOW_ATTR_SNIFFER ? 1 : 0;
  }
  return match;
}

std::uint32_t flow_rank(const ibv_flow_attr& attributes) {
  constexpr std::uint32_t kBehindNormal = 1u << 16;  // a priority has 16 bits
  std::uint32_t type;
  std::memcpy(&type, &attributes.type, sizeof type);
  return attributes.priority + (type == IBV_FLOW_ATTR_NORMAL ? 0 : kBehindNormal);
}

bool matches(const FlowMatch& match, std::span<const std::uint8_t, 6> device_mac,
             std::span<const std::uint8_t> frame) {
  const FrameView view = FrameView::of(frame);
  if (!view.has_ethernet) return false;
  if (match.everything != 0) return true;
  const bool is_group = (frame[0] & 1) != 0;
  if (!is_group && !std::equal(device_mac.begin(), device_mac.end(), frame.begin())) return false;
  if (!matches_ethernet(match, view, frame)) return false;
  return match.ip_versions == 0 || matches_ip(match, view, frame);
}

}  // namespace gdr::rnic

// FrameView: where the headers of an Ethernet frame lie, for flow rules and checksums.
//
//   const FrameView view = FrameView::of(frame);
//   if (view.has_ipv4) use(frame.subspan(view.ipv4, view.ipv4_header));
//
// Any bytes may be passed: each part is only claimed when all of its bytes lie inside the frame.
// IEEE 802.3 and 802.1Q for the tags, RFC 791 for IPv4, RFC 8200 for IPv6.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace gdr::rnic {

constexpr std::uint8_t kProtocolTcp = 6;
constexpr std::uint8_t kProtocolUdp = 17;

struct FrameView {
  static constexpr std::size_t kEthernetHeader = 14;
  static constexpr std::uint16_t kTypeIpv4 = 0x0800;
  static constexpr std::uint16_t kTypeIpv6 = 0x86dd;

  bool has_ethernet = false;
  bool has_vlan = false;
  std::uint16_t vlan_tag = 0;    // of the outermost tag
  std::uint16_t ether_type = 0;  // behind all tags

  bool has_ipv4 = false;  // version, header length and the header's own bytes are right
  std::size_t ipv4 = 0;
  std::size_t ipv4_header = 0;
  std::size_t datagram = 0;  // IPv4 total length; may exceed the frame when is_whole is false
  bool is_whole = false;     // the whole datagram lies inside the frame
  bool is_fragment = false;  // any fragment
  std::uint8_t protocol = 0;

  bool has_ipv6 = false;  // version and the header's own bytes are right
  std::size_t ipv6 = 0;

  // Only of TCP and UDP in an IPv4 datagram or its first fragment, or right behind an IPv6 header.
  bool has_ports = false;
  std::size_t transport = 0;  // where the header behind IP starts

  static FrameView of(std::span<const std::uint8_t> frame);

  // What the transport header and its data occupy of the IPv4 datagram.
  std::size_t transport_bytes() const { return datagram - ipv4_header; }

 private:
  void read_ipv4(std::span<const std::uint8_t> frame);
  void read_ipv6(std::span<const std::uint8_t> frame);
};

inline void FrameView::read_ipv4(std::span<const std::uint8_t> frame) {
  if (frame.size() < ipv4 + 20) return;
  const std::uint8_t* header = &frame[ipv4];
  ipv4_header = std::size_t{header[0] & 0x0fu} * 4;
  datagram = load_be16(header + 2);
  if (header[0] >> 4 != 4 || ipv4_header < 20 || datagram < ipv4_header ||
      frame.size() - ipv4 < ipv4_header) {
    return;
  }
  has_ipv4 = true;
  is_whole = frame.size() - ipv4 >= datagram;
  const std::uint16_t fragment = load_be16(header + 6);
  is_fragment = (fragment & 0x3fff) != 0;  // "more fragments", or an offset
  protocol = header[9];
  transport = ipv4 + ipv4_header;
  has_ports = (protocol == kProtocolTcp || protocol == kProtocolUdp) && (fragment & 0x1fff) == 0 &&
              transport_bytes() >= 4 && frame.size() - transport >= 4;
}

inline void FrameView::read_ipv6(std::span<const std::uint8_t> frame) {
  constexpr std::size_t kHeader = 40;
  if (frame.size() < ipv6 + kHeader || frame[ipv6] >> 4 != 6) return;
  has_ipv6 = true;
  protocol = frame[ipv6 + 6];
  transport = ipv6 + kHeader;
  has_ports = (protocol == kProtocolTcp || protocol == kProtocolUdp) &&
              load_be16(&frame[ipv6 + 4]) >= 4 && frame.size() - transport >= 4;
}

inline FrameView FrameView::of(std::span<const std::uint8_t> frame) {
  FrameView view;
  if (frame.size() < kEthernetHeader) return view;
  view.has_ethernet = true;
  std::size_t type_at = 12;
  view.ether_type = load_be16(&frame[type_at]);
  // Two tags at most (802.1Q inside 802.1ad), so that a frame of tags costs no loop.
  for (int tags = 0; tags < 2; ++tags) {
    const bool is_tag = view.ether_type == 0x8100 || view.ether_type == 0x88a8;
    if (!is_tag || frame.size() < type_at + 6) break;
    if (!view.has_vlan) view.vlan_tag = load_be16(&frame[type_at + 2]);
    view.has_vlan = true;
    type_at += 4;
    view.ether_type = load_be16(&frame[type_at]);
  }
  if (view.ether_type == kTypeIpv4) {
    view.ipv4 = type_at + 2;
    view.read_ipv4(frame);
  } else if (view.ether_type == kTypeIpv6) {
    view.ipv6 = type_at + 2;
    view.read_ipv6(frame);
  }
  return view;
}

}  // namespace gdr::rnic

#include "flow_rules.h"

namespace gdr::rnic {
namespace {

TEST(FlowMatches, AFrameThatAgreesInEveryNamedField) {
  EXPECT_TRUE(takes(full_rule(), udp_frame()));
}

TEST(FlowMatches, NoFrameThatDiffersInOneNamedField) {
  for (const std::size_t at : {0, 5, 12, 13, 23, 30, 33, 36, 37}) {
    Bytes frame = udp_frame();
    frame[at] ^= 0x80;
    EXPECT_FALSE(takes(full_rule(), frame)) << "byte " << at;
  }
  for (const std::size_t at : {6, 22, 24, 26, 34, 40, 45}) {
    Bytes frame = udp_frame();
    frame[at] ^= 0x80;
    EXPECT_TRUE(takes(full_rule(), frame)) << "byte " << at;
  }
}

TEST(FlowMatches, SourceFieldsToo) {
  ibv_flow_spec_eth ethernet{};
  std::memcpy(ethernet.val.src_mac, kOtherMac, 6);
  std::memset(ethernet.mask.src_mac, 0xff, 6);
  ibv_flow_spec_ipv4 ip{};
  ip.val.src_ip = big32(0x0a000001);
  ip.mask.src_ip = 0xffffffff;
  ibv_flow_spec_tcp_udp ports{};
  ports.val.src_port = big16(1000);
  ports.mask.src_port = 0xffff;
  const Rule rule = Rule()
                        .add(IBV_FLOW_SPEC_ETH, ethernet)
                        .add(IBV_FLOW_SPEC_IPV4, ip)
                        .add(IBV_FLOW_SPEC_UDP, ports);
  EXPECT_TRUE(takes(rule, udp_frame()));
  for (const std::size_t at : {6, 11, 26, 29, 34, 35}) {
    Bytes frame = udp_frame();
    frame[at] ^= 1;
    EXPECT_FALSE(takes(rule, frame)) << "byte " << at;
  }
}

TEST(FlowMatches, OnlyTheMaskedBits) {
  const Rule subnet = Rule().add(IBV_FLOW_SPEC_IPV4, to_address(0x0a0000ff, 0xffffff00));
  Bytes frame = udp_frame();
  EXPECT_TRUE(takes(subnet, frame));
  store_be32(&frame[30], 0x0a000102);
  EXPECT_FALSE(takes(subnet, frame));
}

TEST(FlowMatches, TcpAndUdpApart) {
  const Rule tcp = Rule().add(IBV_FLOW_SPEC_TCP, to_port(4791));
  Bytes frame = udp_frame();
  EXPECT_FALSE(takes(tcp, frame));
  frame[23] = 6;
  EXPECT_TRUE(takes(tcp, frame));
}

// The same frame over IPv6, from a0a1::1 to b0b1::2.
Bytes udp6_frame() {
  Bytes frame(14 + 40 + 8 + 4);
  std::memcpy(&frame[0], kMac, 6);
  std::memcpy(&frame[6], kOtherMac, 6);
  store_be16(&frame[12], 0x86dd);
  frame[14] = 0x60;
  store_be16(&frame[18], 12);
  frame[20] = 17;
  store_be16(&frame[22], 0xa0a1);
  frame[37] = 1;
  store_be16(&frame[38], 0xb0b1);
  frame[53] = 2;
  store_be16(&frame[54], 1000);
  store_be16(&frame[56], 4791);
  store_be16(&frame[58], 12);
  return frame;
}

ibv_flow_spec_ipv6 between_ipv6() {
  ibv_flow_spec_ipv6 spec{};
  spec.val.src_ip[0] = 0xa0, spec.val.src_ip[1] = 0xa1, spec.val.src_ip[15] = 1;
  spec.val.dst_ip[0] = 0xb0, spec.val.dst_ip[1] = 0xb1, spec.val.dst_ip[15] = 2;
  std::memset(spec.mask.src_ip, 0xff, 16);
  std::memset(spec.mask.dst_ip, 0xff, 16);
  spec.val.next_hdr = 17;
  spec.mask.next_hdr = 0xff;
  return spec;
}

TEST(FlowMatches, Ipv6AddressesAndTheHeaderBehindThem) {
  const Rule rule =
      Rule().add(IBV_FLOW_SPEC_IPV6, between_ipv6()).add(IBV_FLOW_SPEC_UDP, to_port(4791));
  EXPECT_TRUE(takes(rule, udp6_frame()));
  EXPECT_FALSE(takes(rule, udp_frame()));
  for (const std::size_t at : {12, 14, 20, 22, 37, 38, 53, 56, 57}) {
    Bytes frame = udp6_frame();
    frame[at] ^= 0x80;
    EXPECT_FALSE(takes(rule, frame)) << "byte " << at;
  }
  for (const std::size_t at : {15, 17, 21, 54, 60}) {
    Bytes frame = udp6_frame();
    frame[at] ^= 1;
    EXPECT_TRUE(takes(rule, frame)) << "byte " << at;
  }
  for (std::size_t size = 0; size < 58; ++size) {
    Bytes frame = udp6_frame();
    frame.resize(size);
    EXPECT_FALSE(takes(rule, frame)) << size << " bytes";
  }
  ibv_flow_spec_ipv6 labelled = between_ipv6();
  labelled.mask.flow_label = 1;
  EXPECT_EQ(Rule().add(IBV_FLOW_SPEC_IPV6, labelled).refusal(), EOPNOTSUPP);
  EXPECT_EQ(Rule()
                .add(IBV_FLOW_SPEC_IPV6, between_ipv6())
                .add(IBV_FLOW_SPEC_IPV4, to_address(1))
                .refusal(),
            EINVAL);
}

TEST(FlowMatches, PortsOfEitherIpVersionWhereTheRuleNamesNone) {
  const Rule rule = Rule().add(IBV_FLOW_SPEC_UDP, to_port(4791));
  EXPECT_TRUE(takes(rule, udp_frame()));
  EXPECT_TRUE(takes(rule, udp6_frame()));
  ibv_flow_spec_eth ipv4_only{};
  ipv4_only.val.ether_type = big16(0x0800);
  ipv4_only.mask.ether_type = 0xffff;
  const Rule over_ipv4 =
      Rule().add(IBV_FLOW_SPEC_ETH, ipv4_only).add(IBV_FLOW_SPEC_UDP, to_port(4791));
  EXPECT_TRUE(takes(over_ipv4, udp_frame()));
  EXPECT_FALSE(takes(over_ipv4, udp6_frame()));
}

TEST(FlowMatches, WithoutEthernetSpecTheDeviceFiltersItsOwnMac) {
  const Rule rule = Rule().add(IBV_FLOW_SPEC_UDP, to_port(4791));
  Bytes frame = udp_frame();
  EXPECT_TRUE(takes(rule, frame));
  std::memcpy(&frame[0], kOtherMac, 6);
  EXPECT_FALSE(takes(rule, frame));
  frame[0] = 0x01;  // a group address
  EXPECT_TRUE(takes(rule, frame));
}

TEST(FlowMatches, AnotherPortsMacNeverEvenIfTheRuleNamesIt) {
  const Rule rule = Rule().add(IBV_FLOW_SPEC_ETH, to_mac(kOtherMac));
  Bytes frame = udp_frame();
  EXPECT_FALSE(takes(rule, frame));
  std::memcpy(&frame[0], kOtherMac, 6);
  EXPECT_FALSE(takes(rule, frame));
}

TEST(FlowMatches, DefaultAndSnifferRulesWithoutTheMacFilter) {
  Bytes frame = udp_frame();
  std::memcpy(&frame[0], kOtherMac, 6);
  EXPECT_TRUE(takes(Rule(IBV_FLOW_ATTR_ALL_DEFAULT), frame));
  EXPECT_TRUE(takes(Rule(IBV_FLOW_ATTR_SNIFFER), frame));
  EXPECT_FALSE(takes(Rule(IBV_FLOW_ATTR_MC_DEFAULT), frame));
  frame[0] |= 1;
  EXPECT_TRUE(takes(Rule(IBV_FLOW_ATTR_MC_DEFAULT), frame));
  std::memcpy(&frame[0], kMac, 6);
  EXPECT_FALSE(takes(Rule(IBV_FLOW_ATTR_MC_DEFAULT), frame));
}

TEST(FlowMatches, VlanTagsAndWhatLiesBehindThem) {
  ibv_flow_spec_eth spec = to_mac(kMac);
  spec.val.vlan_tag = big16(5);
  spec.mask.vlan_tag = big16(0x0fff);
  spec.val.ether_type = big16(0x0800);
  spec.mask.ether_type = 0xffff;
  const Rule rule = Rule().add(IBV_FLOW_SPEC_ETH, spec).add(IBV_FLOW_SPEC_UDP, to_port(4791));
  Bytes frame = udp_frame();
  EXPECT_FALSE(takes(rule, frame));  // no tag
  const Bytes tag = {0x81, 0x00, 0xe0, 0x05};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  EXPECT_TRUE(takes(rule, frame));
  EXPECT_TRUE(takes(full_rule(), frame));  // which names no tag
  frame[15] = 6;
  EXPECT_FALSE(takes(rule, frame));
}

TEST(FlowMatches, LaterFragmentsOnlyWithoutPorts) {
  Bytes frame = udp_frame();
  frame[21] = 1;  // fragment offset
  EXPECT_FALSE(takes(full_rule(), frame));
  EXPECT_TRUE(takes(Rule().add(IBV_FLOW_SPEC_IPV4, to_address(0x0a000002)), frame));
}

TEST(FlowMatches, NoFrameCutBeforeANamedField) {
  for (std::size_t size = 0; size < 38; ++size) {
    Bytes frame = udp_frame();
    frame.resize(size);
    EXPECT_FALSE(takes(full_rule(), frame)) << size;
    EXPECT_EQ(takes(Rule(IBV_FLOW_ATTR_SNIFFER), frame), size >= 14) << size;
  }
}

TEST(FlowMatches, Ipv4ProtocolOfTheExtendedSpec) {
  ibv_flow_spec_ipv4_ext spec{};
  spec.val.proto = 17;
  spec.mask.proto = 0xff;
  const Rule rule = Rule().add(IBV_FLOW_SPEC_IPV4_EXT, spec);
  Bytes frame = udp_frame();
  EXPECT_TRUE(takes(rule, frame));
  frame[23] = 6;
  EXPECT_FALSE(takes(rule, frame));
  spec.mask.ttl = 1;
  EXPECT_EQ(Rule().add(IBV_FLOW_SPEC_IPV4_EXT, spec).refusal(), EOPNOTSUPP);
}

TEST(FlowMatches, SpecsThatAreNotAligned) {
  // Packed by one byte, as no compiler would lay them out: the address is odd.
  const ibv_flow_spec_tcp_udp spec = [] {
    ibv_flow_spec_tcp_udp udp = to_port(4791);
    udp.type = IBV_FLOW_SPEC_UDP;
    udp.size = sizeof udp;
    return udp;
  }();
  ibv_flow_attr attributes{};
  attributes.port = 1;
  attributes.num_of_specs = 1;
  attributes.size = sizeof attributes + sizeof spec;
  Bytes storage(sizeof attributes + sizeof spec + 4);
  std::uint8_t* start = storage.data();
  while (reinterpret_cast<std::uintptr_t>(start) % 4 != 0) ++start;
  std::memcpy(start, &attributes, sizeof attributes);
  std::memcpy(start + sizeof attributes, &spec, sizeof spec);
  const auto match = flow_match(*reinterpret_cast<const ibv_flow_attr*>(start));
  ASSERT_TRUE(match);
  EXPECT_TRUE(matches(*match, kMac, udp_frame()));
}

}  // namespace
}  // namespace gdr::rnic

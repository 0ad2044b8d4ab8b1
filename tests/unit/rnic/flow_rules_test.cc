#include "flow_rules.h"

#include <random>

namespace gdr::rnic {
namespace {

TEST(FlowRules, RefuseWhatIsMalformed) {
  const auto with = [](auto change) {
    Rule rule = full_rule();
    change(rule.attributes());
    return rule.refusal();
  };
  EXPECT_EQ(with([](ibv_flow_attr&) {}), 0);
  EXPECT_EQ(with([](ibv_flow_attr& a) { a.port = 2; }), EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) { a.port = 0; }), EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) { a.comp_mask = 1; }), EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) { a.flags = 1; }), EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) { a.size -= 4; }), EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) { ++a.num_of_specs; }), EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) { a.num_of_specs = 255; }), EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) {
              const std::uint32_t unknown = 77;
              std::memcpy(&a.type, &unknown, sizeof unknown);
            }),
            EINVAL);
  EXPECT_EQ(with([](ibv_flow_attr& a) { a.type = IBV_FLOW_ATTR_SNIFFER; }), EINVAL);
}

TEST(FlowRules, RefuseSpecsOfAnotherSizeThanTheirType) {
  for (const int size : {0, 1, 5, 6, 12, 15, 17, 255, 65535}) {
    ibv_flow_spec_tcp_udp spec = to_port(1);
    spec.type = IBV_FLOW_SPEC_UDP;
    spec.size = static_cast<std::uint16_t>(size);
    EXPECT_EQ(Rule().add_bytes(spec).refusal(), EINVAL) << size;
  }
}

TEST(FlowRules, RefuseContradictionsAndRepetitions) {
  EXPECT_EQ(full_rule().add(IBV_FLOW_SPEC_TCP, to_port(1)).refusal(), EINVAL);
  EXPECT_EQ(full_rule().add(IBV_FLOW_SPEC_ETH, to_mac(kMac)).refusal(), EINVAL);
  ibv_flow_spec_eth arp = to_mac(kMac);
  arp.val.ether_type = big16(0x0806);
  arp.mask.ether_type = 0xffff;
  EXPECT_EQ(Rule().add(IBV_FLOW_SPEC_ETH, arp).refusal(), 0);
  EXPECT_EQ(Rule().add(IBV_FLOW_SPEC_ETH, arp).add(IBV_FLOW_SPEC_UDP, to_port(1)).refusal(),
            EINVAL);
  ibv_flow_spec_ipv4_ext tcp{};
  tcp.val.proto = 6;
  tcp.mask.proto = 0xff;
  for (const bool transport_first : {false, true}) {
    Rule rule;
    if (transport_first) rule.add(IBV_FLOW_SPEC_UDP, to_port(1));
    rule.add(IBV_FLOW_SPEC_IPV4_EXT, tcp);
    if (!transport_first) rule.add(IBV_FLOW_SPEC_UDP, to_port(1));
    EXPECT_EQ(rule.refusal(), EINVAL) << transport_first;
  }
}

TEST(FlowRules, SayWhatIsNotServed) {
  for (const auto type : {IBV_FLOW_SPEC_ESP, IBV_FLOW_SPEC_ACTION_DROP, IBV_FLOW_SPEC_ACTION_TAG,
                          IBV_FLOW_SPEC_VXLAN_TUNNEL}) {
    EXPECT_EQ(Rule().add(type, ibv_flow_spec_action_drop{}).refusal(), EOPNOTSUPP) << type;
  }
  const auto inner = static_cast<ibv_flow_spec_type>(IBV_FLOW_SPEC_INNER | IBV_FLOW_SPEC_UDP);
  EXPECT_EQ(Rule().add(inner, to_port(1)).refusal(), EOPNOTSUPP);
  Rule rule;
  rule.attributes().flags = IBV_FLOW_ATTR_FLAGS_DONT_TRAP;
  EXPECT_EQ(rule.refusal(), EOPNOTSUPP);
}

// Under the address sanitizer each attribute and frame has an allocation of just its size.
TEST(FlowRules, StayInsideAttributesAndFramesOfAnyBytes) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  int taken = 0;
  for (int round = 0; round < 20'000; ++round) {
    Rule rule = full_rule();
    if (random() % 2 != 0) rule.add(IBV_FLOW_SPEC_IPV4, to_address(random()));
    ibv_flow_attr& attributes = rule.attributes();
    // `size` is the program's word for how many bytes there are: never more than there are, nor as
    // few as the attribute's own, which say nothing of them.
    if (random() % 2 != 0) {
      const std::size_t specs = attributes.size - sizeof attributes;
      attributes.size = static_cast<std::uint16_t>(sizeof attributes + 1 + random() % specs);
    }
    if (random() % 2 != 0) attributes.num_of_specs = static_cast<std::uint8_t>(random());
    const auto match = rule.match();
    Bytes frame = udp_frame();
    for (int i = 0; i < 2; ++i)
      frame[random() % frame.size()] = static_cast<std::uint8_t>(random());
    frame.resize(random() % (frame.size() + 1));
    frame.shrink_to_fit();
    const FlowMatch used = match ? *match : *full_rule().match();
    taken += matches(used, kMac, frame) ? 1 : 0;
  }
  EXPECT_GT(taken, 0);
}

}  // namespace
}  // namespace gdr::rnic

// Raw packet queue pairs and flow rules between the two cabled devices.
#include <arpa/inet.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

struct UdpRule {
  ibv_flow_attr attr;
  ibv_flow_spec_eth eth;
  ibv_flow_spec_ipv4 ipv4;
  ibv_flow_spec_tcp_udp udp;
};
static_assert(sizeof(UdpRule) == sizeof(ibv_flow_attr) + sizeof(ibv_flow_spec_eth) +
                                     sizeof(ibv_flow_spec_ipv4) + sizeof(ibv_flow_spec_tcp_udp));

UdpRule rule_for_port(std::uint16_t port) {
  UdpRule rule{};
  rule.attr.type = IBV_FLOW_ATTR_NORMAL;
  rule.attr.size = sizeof rule;
  rule.attr.num_of_specs = 3;
  rule.attr.port = 1;
  rule.eth.type = IBV_FLOW_SPEC_ETH;
  rule.eth.size = sizeof rule.eth;
  rule.ipv4.type = IBV_FLOW_SPEC_IPV4;
  rule.ipv4.size = sizeof rule.ipv4;
  rule.udp.type = IBV_FLOW_SPEC_UDP;
  rule.udp.size = sizeof rule.udp;
  rule.udp.val.dst_port = htons(port);
  rule.udp.mask.dst_port = 0xffff;
  return rule;
}

class FlowTest : public VerbsTest {};

TEST_F(FlowTest, IsRefusedOnTheWrongPortOrAQueuePairThatIsNotRaw) {
  ibv_qp* raw = create_qp(IBV_QPT_RAW_PACKET);
  UdpRule rule = rule_for_port(4000);
  rule.attr.port = 2;
  EXPECT_EQ(ibv_create_flow(raw, &rule.attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  rule.attr.port = 1;
  ibv_qp* connected = create_qp(IBV_QPT_RC);
  EXPECT_EQ(ibv_create_flow(connected, &rule.attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(FlowTest, IsRefusedWhenItsSizesDoNotAddUp) {
  ibv_qp* raw = create_qp(IBV_QPT_RAW_PACKET);
  UdpRule rule = rule_for_port(4000);
  rule.attr.size = sizeof rule - 1;
  EXPECT_EQ(ibv_create_flow(raw, &rule.attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  rule = rule_for_port(4000);
  rule.udp.size = 4;
  EXPECT_EQ(ibv_create_flow(raw, &rule.attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(FlowTest, KeepsItsQueuePairBusy) {
  ibv_qp* raw = create_qp(IBV_QPT_RAW_PACKET);
  UdpRule rule = rule_for_port(4000);
  ibv_flow* flow = ibv_create_flow(raw, &rule.attr);
  ASSERT_NE(flow, nullptr) << std::strerror(errno);
  EXPECT_EQ(ibv_destroy_qp(raw), EBUSY);
  EXPECT_EQ(ibv_destroy_flow(flow), 0);
  EXPECT_EQ(ibv_destroy_qp(raw), 0);
}

}  // namespace
}  // namespace gdr::test

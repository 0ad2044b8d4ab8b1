// Raw packet queue pairs and flow rules between the two cabled devices.
#include "cable_fixture.h"

namespace gdr::test {
namespace {

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

TEST_F(FlowTest, GoesByItsSpecsWhereTheAttributesSizeSaysNothingOfThem) {
  ibv_qp* raw = create_qp(IBV_QPT_RAW_PACKET);
  UdpRule rule = rule_for_port(4000);
  // As rdma-core takes it. Its manual says nothing, pyverbs writes its own size, others 0.
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, sizeof rule.attr}) {
    rule.attr.size = static_cast<std::uint16_t>(size);
    EXPECT_NE(ibv_create_flow(raw, &rule.attr), nullptr) << std::strerror(errno);
  }
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

TEST_F(CableTest, BringsAFrameThatARuleMatchesWithItsChecksumsFilledIn) {
  UdpRule rule = rule_for_port(4000);
  ASSERT_NE(ibv_create_flow(receiver_, &rule.attr), nullptr) << std::strerror(errno);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  send(frame);
  const ibv_wc completion = wait_for_completion(far_cq_);
  ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
  EXPECT_EQ(completion.byte_len, frame.size());
  EXPECT_EQ(completion.qp_num, receiver_->qp_num);
  EXPECT_NE(completion.wc_flags & IBV_WC_IP_CSUM_OK, 0u);
  EXPECT_EQ(std::memcmp(received_.data() + kHeaders, frame.data() + kHeaders, 100), 0);
  EXPECT_NE(received_[24] | received_[25], 0);  // the IPv4 checksum
}

TEST_F(CableTest, DropsAFrameThatNoRuleMatches) {
  UdpRule rule = rule_for_port(4000);
  ASSERT_NE(ibv_create_flow(receiver_, &rule.attr), nullptr);
  std::vector<std::uint8_t> other = frame_to_port(4001);
  send(other);
  std::vector<std::uint8_t> wanted = frame_to_port(4000);
  send(wanted);
  const ibv_wc completion = wait_for_completion(far_cq_);
  EXPECT_EQ(completion.byte_len, wanted.size());
  EXPECT_EQ(received_[36] << 8 | received_[37], 4000);
}

TEST_F(CableTest, DropsEverythingOnceTheRuleIsGone) {
  UdpRule rule = rule_for_port(4000);
  ibv_flow* flow = ibv_create_flow(receiver_, &rule.attr);
  ASSERT_NE(flow, nullptr);
  ASSERT_EQ(ibv_destroy_flow(flow), 0);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  send(frame);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ibv_wc completion{};
  EXPECT_EQ(ibv_poll_cq(far_cq_, 1, &completion), 0);
}

TEST_F(CableTest, BringsAFrameToOthersOnItsOwnDeviceButNotBackToItsSender) {
  ibv_context* second = open_device(0);
  ASSERT_NE(second, nullptr);
  std::vector<std::uint8_t> bytes(2048);
  ibv_pd* pd = ibv_alloc_pd(second);
  ibv_cq* cq = ibv_create_cq(second, 16, nullptr, nullptr, 0);
  ibv_qp_init_attr init = attributes(IBV_QPT_RAW_PACKET);
  init.send_cq = init.recv_cq = cq;
  ibv_qp* other = ibv_create_qp(pd, &init);
  ASSERT_NE(other, nullptr);
  make_ready(other);
  ibv_sge into = segment_of(ibv_reg_mr(pd, bytes.data(), bytes.size(), kAllAccess));
  ibv_recv_wr receive{};
  receive.sg_list = &into;
  receive.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(other, &receive, &bad), 0);
  UdpRule rule = rule_for_port(4000);
  ASSERT_NE(ibv_create_flow(sender_, &rule.attr), nullptr);  // first: it would take the frame
  ASSERT_NE(ibv_create_flow(other, &rule.attr), nullptr);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  std::memset(frame.data(), 0xff, 6);  // broadcast
  send(frame);
  EXPECT_EQ(wait_for_completion(cq).qp_num, other->qp_num);
  EXPECT_TRUE(no_completion());
  EXPECT_EQ(ibv_close_device(second), 0);
}

ibv_flow_attr rule_without_specs(ibv_flow_attr_type type) {
  ibv_flow_attr attr{};
  attr.type = type;
  attr.size = sizeof attr;
  attr.port = 1;
  return attr;
}

TEST_F(CableTest, PrefersANormalRuleOfTheLastPriorityToADefaultRuleOfTheFirst) {
  ibv_flow_attr everything = rule_without_specs(IBV_FLOW_ATTR_ALL_DEFAULT);
  ibv_qp* other = nullptr;
  add_receiver(&other);
  ASSERT_NE(ibv_create_flow(other, &everything), nullptr) << std::strerror(errno);
  UdpRule rule = rule_for_port(4000);
  rule.attr.priority = 0xffff;
  ASSERT_NE(ibv_create_flow(receiver_, &rule.attr), nullptr);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  send(frame);
  EXPECT_EQ(wait_for_completion(far_cq_).qp_num, receiver_->qp_num);
  ibv_wc second{};
  EXPECT_EQ(ibv_poll_cq(far_cq_, 1, &second), 0);
}

TEST_F(CableTest, GivesASnifferACopyAndTheFrameToItsRule) {
  ibv_flow_attr sniffer = rule_without_specs(IBV_FLOW_ATTR_SNIFFER);
  ibv_qp* other = nullptr;
  add_receiver(&other);
  ASSERT_NE(ibv_create_flow(other, &sniffer), nullptr) << std::strerror(errno);
  UdpRule rule = rule_for_port(4000);
  ASSERT_NE(ibv_create_flow(receiver_, &rule.attr), nullptr);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  send(frame);
  const std::uint32_t first = wait_for_completion(far_cq_).qp_num;
  const std::uint32_t second = wait_for_completion(far_cq_).qp_num;
  EXPECT_NE(first, second);
  EXPECT_EQ(first + second, other->qp_num + receiver_->qp_num);
}

}  // namespace
}  // namespace gdr::test

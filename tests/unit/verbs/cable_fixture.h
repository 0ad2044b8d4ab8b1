// Two cabled devices with a raw packet queue pair each, and frames and rules for them.
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "verbs_fixture.h"

namespace gdr::test {

struct UdpRule {
  ibv_flow_attr attr;
  ibv_flow_spec_eth eth;
  ibv_flow_spec_ipv4 ipv4;
  ibv_flow_spec_tcp_udp udp;
};
static_assert(sizeof(UdpRule) == sizeof(ibv_flow_attr) + sizeof(ibv_flow_spec_eth) +
                                     sizeof(ibv_flow_spec_ipv4) + sizeof(ibv_flow_spec_tcp_udp));

inline UdpRule rule_for_port(std::uint16_t port) {
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

// A second device at the other end of the cable, with a raw queue pair that has one receive posted.
class CableTest : public VerbsTest {
 protected:
  static constexpr std::size_t kHeaders = 14 + 20 + 8;

  void SetUp() override {
    // The cable is one for all processes of a user, and the best of all their rules takes a frame:
    // tests that run beside each other would take each other's.
    alone_ = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(flock(alone_, LOCK_EX), 0) << std::strerror(errno);
    VerbsTest::SetUp();
    sender_ = create_qp(IBV_QPT_RAW_PACKET);
    make_ready(sender_);
    far_ = open_device(1);
    ASSERT_NE(far_, nullptr);
    far_pd_ = ibv_alloc_pd(far_);
    far_cq_ = ibv_create_cq(far_, 16, nullptr, nullptr, 0);
    add_receiver(&receiver_);
  }
  // One more raw queue pair on the far device, with a receive into the same bytes.
  void add_receiver(ibv_qp** receiver) {
    ibv_qp_init_attr init = attributes(IBV_QPT_RAW_PACKET);
    init.send_cq = init.recv_cq = far_cq_;
    *receiver = ibv_create_qp(far_pd_, &init);
    ASSERT_NE(*receiver, nullptr);
    make_ready(*receiver);
    ibv_mr* mr = ibv_reg_mr(far_pd_, received_.data(), received_.size(), kAllAccess);
    ASSERT_NE(mr, nullptr);
    ibv_sge into = segment_of(mr);
    ibv_recv_wr receive{};
    receive.sg_list = &into;
    receive.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(*receiver, &receive, &bad), 0);
  }
  void TearDown() override {
    if (far_ != nullptr) {
      EXPECT_EQ(ibv_close_device(far_), 0);
    }
    VerbsTest::TearDown();
    close(alone_);
  }
  static void make_ready(ibv_qp* qp) {
    ASSERT_EQ(to_init(qp), 0);
    ASSERT_EQ(to_rtr(qp, 0), 0);
    ASSERT_EQ(to_rts(qp), 0);
  }

  // Ethernet, IPv4 and UDP to the far device, checksums left to the NIC.
  std::vector<std::uint8_t> frame_to_port(std::uint16_t port) const {
    std::vector<std::uint8_t> frame(kHeaders + 100);
    ibv_ah_attr attr{};
    attr.port_num = 1;
    EXPECT_EQ(ibv_query_gid(far_, 1, kGidIndex, &attr.grh.dgid), 0);
    EXPECT_EQ(ibv_resolve_eth_l2_from_gid(context_, &attr, frame.data(), nullptr), 0);
    frame[12] = 0x08;
    frame[14] = 0x45;
    const std::uint16_t total = htons(static_cast<std::uint16_t>(frame.size() - 14));
    std::memcpy(&frame[16], &total, 2);
    frame[22] = 64;
    frame[23] = 17;
    frame[26] = 127;
    std::memcpy(&frame[30], attr.grh.dgid.raw + 12, 4);
    const std::uint16_t destination = htons(port);
    std::memcpy(&frame[36], &destination, 2);
    const std::uint16_t length = htons(static_cast<std::uint16_t>(frame.size() - 34));
    std::memcpy(&frame[38], &length, 2);
    for (std::size_t i = kHeaders; i < frame.size(); ++i) frame[i] = static_cast<std::uint8_t>(i);
    return frame;
  }

  void send(std::vector<std::uint8_t>& frame) {
    ibv_mr* mr = register_bytes(frame);
    ibv_sge segment = segment_of(mr);
    ibv_send_wr request = write_request(&segment, 0, 0);
    request.opcode = IBV_WR_SEND;
    request.send_flags |= IBV_SEND_IP_CSUM;
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(sender_, &request, &bad), 0);
    EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  }

  int alone_ = -1;
  ibv_context* far_ = nullptr;
  ibv_pd* far_pd_ = nullptr;
  ibv_cq* far_cq_ = nullptr;
  ibv_qp *sender_ = nullptr, *receiver_ = nullptr;
  std::vector<std::uint8_t> received_ = std::vector<std::uint8_t>(2048);
};

}  // namespace gdr::test

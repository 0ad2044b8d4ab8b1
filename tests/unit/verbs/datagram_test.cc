// UD: address handles, the GRH in front of a datagram, and the way back to its sender.
#include <netinet/ip.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

constexpr std::size_t kGrh = 40;
constexpr std::uint32_t kQkey = 0x11111111;  // as the fixture sets it

class DatagramTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    sender_ = create_qp(IBV_QPT_UD);
    receiver_ = create_qp(IBV_QPT_UD);
    connect(sender_, receiver_);
    source_mr_ = register_bytes(source_);
    target_mr_ = register_bytes(target_);
  }

  ibv_ah_attr to_own_port(std::uint8_t gid_index = kGidIndex) {
    ibv_ah_attr attr{};
    attr.port_num = 1;
    attr.is_global = 1;
    attr.grh.hop_limit = 64;
    attr.grh.traffic_class = 0x20;
    attr.grh.sgid_index = gid_index;
    EXPECT_EQ(ibv_query_gid(context_, 1, gid_index, &attr.grh.dgid), 0);
    return attr;
  }

  void post_receive() {
    ibv_sge into = segment_of(target_mr_);
    ibv_recv_wr receive{};
    receive.sg_list = &into;
    receive.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(receiver_, &receive, &bad), 0);
  }
  void send(ibv_ah* ah, std::uint32_t qkey) {
    ibv_sge from = segment_of(source_mr_);
    ibv_send_wr request = write_request(&from, 0, 0);
    request.opcode = IBV_WR_SEND;
    request.wr.ud = {ah, receiver_->qp_num, qkey};
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(sender_, &request, &bad), 0);
  }
  ibv_wc send_and_receive(ibv_ah* ah) {
    post_receive();
    send(ah, kQkey);
    ibv_wc received{};
    for (int i = 0; i < 2; ++i) {
      const ibv_wc completion = wait_for_completion();
      EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
      if (completion.opcode == IBV_WC_RECV) received = completion;
    }
    return received;
  }

  std::vector<std::uint8_t> source_ = std::vector<std::uint8_t>(100, 0x77);
  std::vector<std::uint8_t> target_ = std::vector<std::uint8_t>(200, 0);
  ibv_mr *source_mr_ = nullptr, *target_mr_ = nullptr;
  ibv_qp *sender_ = nullptr, *receiver_ = nullptr;
};

TEST_F(DatagramTest, ArrivesBehindAnIpv4HeaderAndSaysWhoSentIt) {
  ibv_ah_attr attr = to_own_port();
  ibv_ah* ah = ibv_create_ah(pd_, &attr);
  ASSERT_NE(ah, nullptr);
  const ibv_wc received = send_and_receive(ah);
  EXPECT_EQ(received.byte_len, kGrh + source_.size());
  EXPECT_EQ(received.src_qp, sender_->qp_num);
  EXPECT_NE(received.wc_flags & IBV_WC_GRH, 0u);
  EXPECT_EQ(received.sl, 0xa);  // mlx5's coding of RoCEv2 over IPv4, which UCX reads
  EXPECT_EQ(std::memcmp(target_.data() + kGrh, source_.data(), source_.size()), 0);
  iphdr ipv4;
  std::memcpy(&ipv4, target_.data() + 20, sizeof ipv4);
  EXPECT_EQ(ipv4.version, 4);
  EXPECT_EQ(ipv4.ihl, 5);
  EXPECT_EQ(std::memcmp(&ipv4.saddr, attr.grh.dgid.raw + 12, 4), 0);
  EXPECT_EQ(std::memcmp(&ipv4.daddr, attr.grh.dgid.raw + 12, 4), 0);
  EXPECT_EQ(ibv_destroy_ah(ah), 0);
}

TEST_F(DatagramTest, CanBeAnsweredByAHandleMadeFromItsCompletion) {
  ibv_ah_attr attr = to_own_port();
  ibv_ah* ah = ibv_create_ah(pd_, &attr);
  ibv_wc received = send_and_receive(ah);
  auto* grh = reinterpret_cast<ibv_grh*>(target_.data());
  ibv_ah_attr back{};
  ASSERT_EQ(ibv_init_ah_from_wc(context_, 1, &received, grh, &back), 0) << std::strerror(errno);
  EXPECT_EQ(back.is_global, 1);
  EXPECT_EQ(std::memcmp(back.grh.dgid.raw, attr.grh.dgid.raw, 16), 0);
  EXPECT_EQ(back.grh.sgid_index, kGidIndex);
  ibv_ah* answer = ibv_create_ah_from_wc(pd_, &received, grh, 1);
  ASSERT_NE(answer, nullptr);
  EXPECT_EQ(send_and_receive(answer).byte_len, kGrh + source_.size());
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
}

// The link-local addresses: an IPv6 header. What leaves as RoCE v1 is answered as v2.
TEST_F(DatagramTest, ArrivesBehindAnIpv6HeaderAtALinkLocalAddressAndCanBeAnswered) {
  for (const std::uint8_t index : {0, 1}) {
    ibv_ah_attr attr = to_own_port(index);
    ibv_ah* ah = ibv_create_ah(pd_, &attr);
    ASSERT_NE(ah, nullptr);
    ibv_wc received = send_and_receive(ah);
    EXPECT_EQ(received.sl, 0x9);  // RoCEv2 over IPv6
    auto* grh = reinterpret_cast<ibv_grh*>(target_.data());
    EXPECT_EQ(std::memcmp(&grh->sgid, &attr.grh.dgid, sizeof grh->sgid), 0);
    EXPECT_EQ(std::memcmp(&grh->dgid, &attr.grh.dgid, sizeof grh->dgid), 0);
    ibv_ah_attr back{};
    ASSERT_EQ(ibv_init_ah_from_wc(context_, 1, &received, grh, &back), 0) << std::strerror(errno);
    EXPECT_EQ(back.grh.sgid_index, 1);
    EXPECT_EQ(std::memcmp(&back.grh.dgid, &attr.grh.dgid, sizeof back.grh.dgid), 0);
    EXPECT_EQ(ibv_destroy_ah(ah), 0);
  }
}

TEST_F(DatagramTest, IsNotAnsweredWhenItsHeaderIsForSomeoneElse) {
  ibv_ah_attr attr = to_own_port();
  ibv_wc received = send_and_receive(ibv_create_ah(pd_, &attr));
  auto* grh = reinterpret_cast<ibv_grh*>(target_.data());
  target_[20 + 16] ^= 0x40;  // the IPv4 destination address
  ibv_ah_attr back{};
  EXPECT_EQ(ibv_init_ah_from_wc(context_, 1, &received, grh, &back), -1);
  EXPECT_EQ(errno, EINVAL);
  target_[20] = 0;  // neither IPv4 nor IPv6
  target_[0] = 0;
  EXPECT_EQ(ibv_create_ah_from_wc(pd_, &received, grh, 1), nullptr);
  EXPECT_EQ(errno, EPROTONOSUPPORT);
}

TEST_F(DatagramTest, HasNoHandleForAPathThatDoesNotExist) {
  ibv_ah_attr attr = to_own_port();
  attr.port_num = 2;
  EXPECT_EQ(ibv_create_ah(pd_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr = to_own_port();
  attr.is_global = 0;  // on Ethernet there is no LID to go by
  EXPECT_EQ(ibv_create_ah(pd_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr = to_own_port();
  attr.grh.sgid_index = 4;
  EXPECT_EQ(ibv_create_ah(pd_, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(DatagramTest, WithAWrongQkeyIsDroppedWithoutATrace) {
  ibv_ah_attr attr = to_own_port();
  ibv_ah* ah = ibv_create_ah(pd_, &attr);
  post_receive();
  send(ah, kQkey + 1);
  EXPECT_EQ(wait_for_completion().opcode, IBV_WC_SEND);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(no_completion());
}

TEST_F(DatagramTest, IsSentToTheAddressThatWasSetInABatch) {
  ibv_qp* extended = create_extended_qp(IBV_QPT_UD, IBV_QP_EX_WITH_SEND);
  ASSERT_NE(extended, nullptr);
  ASSERT_EQ(to_init(extended), 0);
  ASSERT_EQ(to_rtr(extended, 0), 0);
  ASSERT_EQ(to_rts(extended), 0);
  post_receive();
  ibv_ah_attr attr = to_own_port();
  ibv_ah* ah = ibv_create_ah(pd_, &attr);
  ibv_qp_ex* qp = ibv_qp_to_qp_ex(extended);
  ibv_wr_start(qp);
  qp->wr_flags = IBV_SEND_SIGNALED;
  ibv_wr_send(qp);
  ibv_wr_set_sge(qp, source_mr_->lkey, address_of(source_.data()), 100);
  EXPECT_EQ(ibv_wr_complete(qp), EINVAL);  // without an address
  ibv_wr_start(qp);
  ibv_wr_send(qp);
  ibv_wr_set_ud_addr(qp, ah, receiver_->qp_num, kQkey);
  ibv_wr_set_sge(qp, source_mr_->lkey, address_of(source_.data()), 100);
  ASSERT_EQ(ibv_wr_complete(qp), 0);
  bool received = false;
  for (int i = 0; i < 2; ++i) received |= wait_for_completion().opcode == IBV_WC_RECV;
  EXPECT_TRUE(received);
}

}  // namespace
}  // namespace gdr::test

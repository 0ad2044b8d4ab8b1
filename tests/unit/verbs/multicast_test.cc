// Multicast groups: wrong use, and what a sender itself receives. Across processes: two_process.
#include <arpa/inet.h>
#include <unistd.h>

#include <string>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

constexpr std::size_t kGlobalHeader = 40;

ibv_gid gid_of(const std::string& text) {
  ibv_gid gid{};
  EXPECT_EQ(inet_pton(AF_INET6, text.c_str(), gid.raw), 1);
  return gid;
}

class MulticastTest : public VerbsTest {
 protected:
  ibv_qp* ready(ibv_qp* qp) {
    EXPECT_EQ(to_init(qp), 0);
    EXPECT_EQ(to_rtr(qp, 0), 0);
    EXPECT_EQ(to_rts(qp), 0);
    return qp;
  }
  void receive(ibv_qp* qp) {
    ibv_sge into = segment_of(target_mr_);
    ibv_recv_wr request{};
    request.wr_id = qp->qp_num;
    request.sg_list = &into;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(qp, &request, &bad), 0);
  }
  void send(ibv_qp* qp, const ibv_gid& group, std::uint32_t number = 0xffffff) {
    ibv_ah_attr attr{};
    attr.port_num = 1;
    attr.is_global = 1;
    attr.grh.dgid = group;
    attr.grh.sgid_index = kGidIndex;
    ibv_ah* ah = ibv_create_ah(pd_, &attr);
    ASSERT_NE(ah, nullptr);
    ibv_sge from = segment_of(source_mr_);
    ibv_send_wr request = write_request(&from, 0, 0);
    request.opcode = IBV_WR_SEND;
    request.wr.ud = {ah, number, 0x11111111};
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
  }
  // How many of the completions up to the send's are receives.
  int received_with_the_send() {
    for (int count = 0;; ++count) {
      const ibv_wc completion = wait_for_completion();
      EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
      if (completion.opcode != IBV_WC_RECV) return count;
      EXPECT_EQ(completion.byte_len, kGlobalHeader + source_.size());
      EXPECT_NE(completion.wc_flags & IBV_WC_GRH, 0u);
    }
  }
  void SetUp() override {
    VerbsTest::SetUp();
    source_mr_ = register_bytes(source_);
    target_mr_ = register_bytes(target_);
  }

  std::vector<std::uint8_t> source_ = std::vector<std::uint8_t>(100, 0x77);
  std::vector<std::uint8_t> target_ = std::vector<std::uint8_t>(200, 0);
  ibv_mr *source_mr_ = nullptr, *target_mr_ = nullptr;
  // Its own: tests beside it have groups on this host, too.
  const std::string address_ = "::ffff:239.1." + std::to_string(getpid() >> 8 & 0xff) + "." +
                               std::to_string(getpid() & 0xff);
  const ibv_gid group_ = gid_of("ff0e" + address_), ipv4_group_ = gid_of(address_);
};

TEST_F(MulticastTest, TakesOnlyDatagramQueuePairsAndGroupAddresses) {
  ibv_qp* connected = create_qp(IBV_QPT_RC);
  EXPECT_EQ(ibv_attach_mcast(connected, &group_, 0), EINVAL);
  ibv_qp* qp = create_qp(IBV_QPT_UD);
  ibv_gid own{};
  ASSERT_EQ(ibv_query_gid(context_, 1, kGidIndex, &own), 0);
  EXPECT_EQ(ibv_attach_mcast(qp, &own, 0), EINVAL);
  EXPECT_EQ(ibv_detach_mcast(qp, &group_, 0), EINVAL);  // not a member
}

TEST_F(MulticastTest, KeepsItsQueuePairBusyAndMakesItAMemberOnce) {
  ibv_qp* qp = create_qp(IBV_QPT_UD);
  ASSERT_EQ(ibv_attach_mcast(qp, &group_, 0), 0);
  EXPECT_EQ(ibv_attach_mcast(qp, &group_, 0), 0);
  EXPECT_EQ(ibv_destroy_qp(qp), EBUSY);
  ASSERT_EQ(ibv_detach_mcast(qp, &group_, 0), 0);
  EXPECT_EQ(ibv_detach_mcast(qp, &group_, 0), EINVAL);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

TEST_F(MulticastTest, ReachesTheSenderItselfOnceIfItIsAMember) {
  ibv_qp* qp = ready(create_qp(IBV_QPT_UD));
  ibv_qp* other = ready(create_qp(IBV_QPT_UD));
  for (ibv_qp* member : {qp, other}) {
    ASSERT_EQ(ibv_attach_mcast(member, &group_, 0), 0);
    ASSERT_EQ(ibv_attach_mcast(member, &ipv4_group_, 0), 0);
    for (int i = 0; i < 4; ++i) receive(member);
  }
  send(qp, group_);
  EXPECT_EQ(received_with_the_send(), 2);
  EXPECT_EQ(target_[0] >> 4, 6);  // the group's IPv6 address has an IPv6 header, a GRH
  EXPECT_EQ(std::memcmp(&target_[24], group_.raw, 16), 0);
  EXPECT_EQ(std::memcmp(&target_[kGlobalHeader], source_.data(), source_.size()), 0);
  send(qp, ipv4_group_);
  EXPECT_EQ(received_with_the_send(), 2);
  EXPECT_EQ(target_[20], 0x45);
  EXPECT_EQ(std::memcmp(&target_[36], ipv4_group_.raw + 12, 4), 0);
  ASSERT_EQ(ibv_detach_mcast(qp, &group_, 0), 0);
  send(qp, group_);
  EXPECT_EQ(received_with_the_send(), 1);
  send(qp, group_, other->qp_num);  // a group is reached by its own number only
  EXPECT_EQ(received_with_the_send(), 0);
}

TEST_F(MulticastTest, DoesNotReachASenderThatBlocksItsOwn) {
  const ibv_qp_init_attr plain = attributes(IBV_QPT_UD);
  ibv_qp_init_attr_ex init{};
  init.send_cq = init.recv_cq = cq_;
  init.cap = plain.cap;
  init.qp_type = IBV_QPT_UD;
  init.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  init.pd = pd_;
  init.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
  ibv_qp* qp = ibv_create_qp_ex(context_, &init);
  ASSERT_NE(qp, nullptr) << std::strerror(errno);
  ready(qp);
  ASSERT_EQ(ibv_attach_mcast(qp, &group_, 0), 0);
  receive(qp);
  send(qp, group_);
  EXPECT_EQ(received_with_the_send(), 0);
}

TEST_F(MulticastTest, PassesMembersByThatCannotReceive) {
  ibv_qp* qp = ready(create_qp(IBV_QPT_UD));
  ibv_qp* idle = create_qp(IBV_QPT_UD);  // in RESET
  ibv_qp* empty = ready(create_qp(IBV_QPT_UD));
  ibv_qp* last = ready(create_qp(IBV_QPT_UD));
  for (ibv_qp* member : {idle, empty, last}) ASSERT_EQ(ibv_attach_mcast(member, &group_, 0), 0);
  receive(last);
  send(qp, group_);
  EXPECT_EQ(received_with_the_send(), 1);
}

TEST_F(MulticastTest, HasLimitsThatTheDeviceReports) {
  ibv_device_attr attr{};
  ASSERT_EQ(ibv_query_device(context_, &attr), 0);
  EXPECT_GT(attr.max_mcast_grp, 0);
  EXPECT_GT(attr.max_mcast_qp_attach, 0);
  ibv_qp* qp = create_qp(IBV_QPT_UD);
  ibv_gid group = group_;
  for (int i = 0; i < attr.max_mcast_grp; ++i) {
    group.raw[14] = static_cast<std::uint8_t>(i >> 8);
    group.raw[15] = static_cast<std::uint8_t>(i);
    ASSERT_EQ(ibv_attach_mcast(qp, &group, 0), 0) << i;
  }
  EXPECT_EQ(ibv_attach_mcast(qp, &ipv4_group_, 0), ENOMEM);
}

}  // namespace
}  // namespace gdr::test

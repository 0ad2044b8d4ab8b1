// Shared receive queues through the C interface, within one process.
#include <poll.h>

#include <atomic>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class SrqVerbs : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    srq_ = create(pd_);
    ASSERT_NE(srq_, nullptr) << std::strerror(errno);
  }

  static ibv_srq* create(ibv_pd* pd, std::uint32_t requests = 16, std::uint32_t segments = 2) {
    ibv_srq_init_attr init{};
    init.attr = {.max_wr = requests, .max_sge = segments, .srq_limit = 0};
    return ibv_create_srq(pd, &init);
  }
  ibv_qp* taker(ibv_qp_type type = IBV_QPT_RC) {
    ibv_qp_init_attr init = attributes(type);
    init.srq = srq_;
    ibv_qp* qp = ibv_create_qp(pd_, &init);
    EXPECT_NE(qp, nullptr) << std::strerror(errno);
    return qp;
  }
  int post(std::uint64_t id, std::vector<ibv_sge> segments = {}) {
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = segments.data();
    request.num_sge = static_cast<int>(segments.size());
    ibv_recv_wr* bad = nullptr;
    return ibv_post_srq_recv(srq_, &request, &bad);
  }
  static int send(ibv_qp* qp, std::vector<ibv_sge> segments = {}, ibv_ah* to = nullptr,
                  std::uint32_t number = 0) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.sg_list = segments.data();
    request.num_sge = static_cast<int>(segments.size());
    if (to != nullptr) request.wr.ud = {.ah = to, .remote_qpn = number, .remote_qkey = 0x11111111};
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(qp, &request, &bad);
  }
  static int move_to(ibv_qp* qp, ibv_qp_state state) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE);
  }
  // The next event, acknowledged unless `later`.
  ibv_async_event event(bool later = false) {
    pollfd wait{.fd = context_->async_fd, .events = POLLIN, .revents = 0};
    ibv_async_event event{};
    event.event_type = static_cast<ibv_event_type>(-1);
    if (poll(&wait, 1, kLastResortMs) != 1 || ibv_get_async_event(context_, &event) != 0)
      return event;
    if (!later) ibv_ack_async_event(&event);
    return event;
  }
  bool no_event() {
    pollfd wait{.fd = context_->async_fd, .events = POLLIN, .revents = 0};
    return poll(&wait, 1, 50) == 0;
  }

  ibv_srq* srq_ = nullptr;
};

TEST_F(SrqVerbs, AreGrantedWhatWasAskedForAtLeast) {
  ibv_srq_init_attr init{};
  init.attr = {.max_wr = 100, .max_sge = 3, .srq_limit = 77};
  int mine = 0;
  init.srq_context = &mine;
  ibv_srq* srq = ibv_create_srq(pd_, &init);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(init.attr.max_wr, 127u) << "as a ConnectX rounds";
  EXPECT_EQ(srq->srq_context, &mine);
  EXPECT_EQ(srq->pd, pd_);
  ibv_srq_attr now{};
  EXPECT_EQ(ibv_query_srq(srq, &now), 0);
  EXPECT_EQ(now.max_wr, init.attr.max_wr);
  EXPECT_EQ(now.max_sge, 3u);
  EXPECT_EQ(now.srq_limit, 0u) << "create does not arm";
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
}

TEST_F(SrqVerbs, AreRefusedAboveWhatTheDeviceReports) {
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(context_, &device), 0);
  ASSERT_GT(device.max_srq, 0);
  errno = 0;
  EXPECT_EQ(create(pd_, static_cast<std::uint32_t>(device.max_srq_wr) + 1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(create(pd_, 1, static_cast<std::uint32_t>(device.max_srq_sge) + 1), nullptr);
  EXPECT_EQ(create(pd_, 0), nullptr);
}

TEST_F(SrqVerbs, AreMadeByTheExtendedVerbToo) {
  ibv_srq_init_attr_ex init{};
  init.attr = {.max_wr = 4, .max_sge = 1, .srq_limit = 0};
  init.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  init.srq_type = IBV_SRQT_BASIC;
  init.pd = pd_;
  ibv_srq* srq = ibv_create_srq_ex(context_, &init);
  ASSERT_NE(srq, nullptr);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  // What ConnectX takes as well: a completion queue, which takes no part, and no type.
  init.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_CQ;
  init.cq = cq_;
  srq = ibv_create_srq_ex(context_, &init);
  ASSERT_NE(srq, nullptr) << std::strerror(errno);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  init.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
  srq = ibv_create_srq_ex(context_, &init);
  ASSERT_NE(srq, nullptr) << std::strerror(errno);
  EXPECT_EQ(ibv_destroy_srq(srq), 0);
  init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_CQ;  // in no domain
  EXPECT_EQ(ibv_create_srq_ex(context_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(SrqVerbs, HoldMoreThanAPowerOfTwoThatWasAskedFor) {
  for (const std::uint32_t asked : {1u, 2u, 32u, 33u, 4096u}) {
    ibv_srq_init_attr init{};
    init.attr = {.max_wr = asked, .max_sge = 1, .srq_limit = 0};
    ibv_srq* srq = ibv_create_srq(pd_, &init);
    ASSERT_NE(srq, nullptr);
    EXPECT_GE(init.attr.max_wr, asked);
    ibv_recv_wr request{}, *bad = nullptr;
    for (std::uint32_t i = 0; i < init.attr.max_wr; ++i) {
      ASSERT_EQ(ibv_post_srq_recv(srq, &request, &bad), 0) << i << " of " << asked;
    }
    EXPECT_EQ(ibv_post_srq_recv(srq, &request, &bad), ENOMEM);
    EXPECT_EQ(ibv_destroy_srq(srq), 0);
  }
}

TEST_F(SrqVerbs, FeedSeveralQueuePairs) {
  std::vector<std::uint8_t> from(64, 0x5a), into(64);
  ibv_mr* source = register_bytes(from);
  ibv_mr* target = register_bytes(into);
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = create_qp(IBV_QPT_RC);
  ibv_qp *c = taker(), *d = taker();
  connect(a, c);
  connect(b, d);
  const ibv_sge whole = segment_of(target);
  ASSERT_EQ(post(1, {{whole.addr, 32, whole.lkey}}), 0);
  ASSERT_EQ(post(2, {{whole.addr + 32, 32, whole.lkey}}), 0);
  ibv_sge bytes = segment_of(source);
  bytes.length = 32;
  ASSERT_EQ(send(b, {bytes}), 0);
  ibv_wc completion = wait_for_completion();
  EXPECT_EQ(completion.wr_id, 1u);
  EXPECT_EQ(completion.qp_num, d->qp_num);
  ASSERT_EQ(send(a, {bytes}), 0);
  completion = wait_for_completion();
  EXPECT_EQ(completion.wr_id, 2u);
  EXPECT_EQ(completion.qp_num, c->qp_num);
  EXPECT_EQ(into, from);
}

TEST_F(SrqVerbs, HoldASendUntilAReceiveIsPosted) {
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = taker();
  connect(a, b);
  ASSERT_EQ(send(a), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_TRUE(no_completion());
  ASSERT_EQ(post(4), 0);
  EXPECT_EQ(wait_for_completion().wr_id, 4u);
}

TEST_F(SrqVerbs, TakeDatagramsAndUnreliableConnections) {
  ibv_qp *a = create_qp(IBV_QPT_UC), *b = taker(IBV_QPT_UC);
  connect(a, b);
  ASSERT_EQ(post(1), 0);
  ASSERT_EQ(send(a), 0);
  EXPECT_EQ(wait_for_completion().wr_id, 1u);

  ibv_qp *c = create_qp(IBV_QPT_UD), *d = taker(IBV_QPT_UD);
  connect(c, d);
  ibv_ah_attr attr{};
  attr.port_num = 1;
  attr.is_global = 1;
  attr.grh.sgid_index = kGidIndex;
  ASSERT_EQ(ibv_query_gid(context_, 1, kGidIndex, &attr.grh.dgid), 0);
  ibv_ah* handle = ibv_create_ah(pd_, &attr);
  std::vector<std::uint8_t> into(64);
  ASSERT_EQ(send(c, {}, handle, d->qp_num), 0);  // dropped: nothing is posted
  ASSERT_EQ(post(2, {segment_of(register_bytes(into))}), 0);
  ASSERT_EQ(send(c, {}, handle, d->qp_num), 0);
  EXPECT_EQ(wait_for_completion().wr_id, 2u);
  EXPECT_TRUE(no_completion());
  EXPECT_EQ(ibv_destroy_ah(handle), 0);
}

TEST_F(SrqVerbs, TakeNoReceivesPostedToTheirQueuePairs) {
  ibv_qp* qp = taker();
  ASSERT_EQ(to_init(qp), 0);
  ibv_recv_wr request{};
  ibv_recv_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_recv(qp, &request, &bad), EINVAL);
  EXPECT_EQ(bad, &request);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(qp, &attr, 0, &init), 0);
  EXPECT_EQ(init.srq, srq_);
  EXPECT_EQ(attr.cap.max_recv_wr, 0u);
}

TEST_F(SrqVerbs, AreNotForRawPackets) {
  ibv_qp_init_attr init = attributes(IBV_QPT_RAW_PACKET);
  init.srq = srq_;
  errno = 0;
  EXPECT_EQ(ibv_create_qp(pd_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(SrqVerbs, AreBusyWhileAQueuePairUsesThem) {
  ibv_qp* qp = taker();
  EXPECT_EQ(ibv_destroy_srq(srq_), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_destroy_srq(srq_), 0);
}

// The keys of a receive are those of the queue's protection domain, not of the queue pair's.
TEST_F(SrqVerbs, CheckReceivesAgainstTheirOwnProtectionDomain) {
  ibv_pd* other = ibv_alloc_pd(context_);
  ibv_srq* foreign = create(other);
  ibv_qp_init_attr init = attributes(IBV_QPT_RC);
  init.srq = foreign;
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = ibv_create_qp(pd_, &init);
  connect(a, b);
  std::vector<std::uint8_t> bytes(64, 1), into(64), theirs(64);
  const ibv_sge from = segment_of(register_bytes(bytes));
  ibv_sge mine = segment_of(register_bytes(into));
  ibv_mr* region = ibv_reg_mr(other, theirs.data(), theirs.size(), kAllAccess);
  ibv_sge right = segment_of(region);
  ibv_recv_wr request{};
  request.num_sge = 1;
  request.sg_list = &right;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_srq_recv(foreign, &request, &bad), 0);
  request.sg_list = &mine;
  request.wr_id = 1;
  ASSERT_EQ(ibv_post_srq_recv(foreign, &request, &bad), 0);
  ASSERT_EQ(send(a, {from}), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
  EXPECT_EQ(theirs, bytes);
  ASSERT_EQ(send(a, {from}), 0);
  const ibv_wc refused = wait_for_completion();
  EXPECT_EQ(refused.wr_id, 1u);
  EXPECT_EQ(refused.status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(into, std::vector<std::uint8_t>(64));
}

TEST_F(SrqVerbs, RaiseTheirLimitOnce) {
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = taker();
  connect(a, b);
  for (std::uint64_t i = 0; i < 4; ++i) ASSERT_EQ(post(i), 0);
  ibv_srq_attr attr{};
  attr.srq_limit = 3;
  ASSERT_EQ(ibv_modify_srq(srq_, &attr, IBV_SRQ_LIMIT), 0);
  ASSERT_EQ(send(a), 0);
  EXPECT_TRUE(no_event());
  ASSERT_EQ(send(a), 0);
  ASSERT_EQ(send(a), 0);
  const ibv_async_event reached = event();
  EXPECT_EQ(reached.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  EXPECT_EQ(reached.element.srq, srq_);
  EXPECT_TRUE(no_event());
  ASSERT_EQ(ibv_query_srq(srq_, &attr), 0);
  EXPECT_EQ(attr.srq_limit, 0u);
}

TEST_F(SrqVerbs, ChangeTheirSizeOrSayWhyNot) {
  ibv_srq_attr attr{};
  attr.max_wr = 64;
  attr.srq_limit = 65;
  EXPECT_EQ(ibv_modify_srq(srq_, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT), EINVAL);
  ASSERT_EQ(ibv_query_srq(srq_, &attr), 0);
  EXPECT_EQ(attr.max_wr, 31u) << "both or none";
  attr.max_wr = 64;
  EXPECT_EQ(ibv_modify_srq(srq_, &attr, IBV_SRQ_MAX_WR), 0);
  for (std::uint64_t i = 0; i < 127; ++i) ASSERT_EQ(post(i), 0);
  EXPECT_EQ(post(127), ENOMEM);
  attr.max_wr = 16;
  EXPECT_EQ(ibv_modify_srq(srq_, &attr, IBV_SRQ_MAX_WR), EINVAL) << "127 are posted";
  EXPECT_EQ(ibv_modify_srq(srq_, &attr, 1 << 5), EINVAL);
}

TEST_F(SrqVerbs, TellWhenAFailedQueuePairTakesNoMore) {
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = taker();
  connect(a, b);
  ASSERT_EQ(post(1), 0);
  ASSERT_EQ(move_to(b, IBV_QPS_ERR), 0);
  const ibv_async_event last = event();
  EXPECT_EQ(last.event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_EQ(last.element.qp, b);
  EXPECT_TRUE(no_completion()) << "the receive stays for others";
  ibv_qp *c = create_qp(IBV_QPT_RC), *d = taker();
  connect(c, d);
  ASSERT_EQ(send(c), 0);
  EXPECT_EQ(wait_for_completion().wr_id, 1u);
}

TEST_F(SrqVerbs, CompleteTheReceiveThatAnErrorMeets) {
  std::vector<std::uint8_t> bytes(64), into(8);
  ibv_qp *a = create_qp(IBV_QPT_RC), *b = taker();
  connect(a, b);
  ASSERT_EQ(post(1, {segment_of(register_bytes(into))}), 0);
  ASSERT_EQ(post(2), 0);
  ASSERT_EQ(send(a, {segment_of(register_bytes(bytes))}), 0);
  const ibv_wc received = wait_for_completion();
  EXPECT_EQ(received.wr_id, 1u);
  EXPECT_EQ(received.status, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(event().event_type, IBV_EVENT_QP_REQ_ERR);
  EXPECT_EQ(event().event_type, IBV_EVENT_QP_LAST_WQE_REACHED);
  EXPECT_TRUE(no_completion());
}

TEST_F(SrqVerbs, WaitForTheirEventsToBeAcknowledged) {
  ibv_srq_attr attr{};
  attr.srq_limit = 1;
  ASSERT_EQ(ibv_modify_srq(srq_, &attr, IBV_SRQ_LIMIT), 0);  // none is posted
  ibv_async_event reached = event(true);
  ASSERT_EQ(reached.event_type, IBV_EVENT_SRQ_LIMIT_REACHED);
  std::atomic<bool> acknowledged{false};
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    acknowledged = true;
    ibv_ack_async_event(&reached);
  });
  EXPECT_EQ(ibv_destroy_srq(srq_), 0);
  EXPECT_TRUE(acknowledged);
  late.join();
}

}  // namespace
}  // namespace gdr::test

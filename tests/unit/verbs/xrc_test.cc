// XRC objects through the C interface: what belongs to what, what may be destroyed when. Who
// reaches whom is in tests/two_process/xrc_test.cc.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <set>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class XrcVerbs : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    xrcd_ = open(-1);
    ASSERT_NE(xrcd_, nullptr) << std::strerror(errno);
  }

  ibv_xrcd* open(int descriptor, int flags = O_CREAT) {
    ibv_xrcd_init_attr init{};
    init.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    init.fd = descriptor;
    init.oflags = flags;
    return ibv_open_xrcd(context_, &init);
  }
  ibv_srq_init_attr_ex srq_attributes() {
    ibv_srq_init_attr_ex init{};
    init.attr = {.max_wr = 8, .max_sge = 1, .srq_limit = 0};
    init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
                     IBV_SRQ_INIT_ATTR_CQ;
    init.srq_type = IBV_SRQT_XRC;
    init.pd = pd_;
    init.xrcd = xrcd_;
    init.cq = cq_;
    return init;
  }
  ibv_srq* srq() {
    ibv_srq_init_attr_ex init = srq_attributes();
    ibv_srq* made = ibv_create_srq_ex(context_, &init);
    EXPECT_NE(made, nullptr) << std::strerror(errno);
    return made;
  }
  ibv_qp* receiver(ibv_xrcd* xrcd) {
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_XRC_RECV;
    init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    init.xrcd = xrcd;
    return ibv_create_qp_ex(context_, &init);
  }
  static int step(ibv_qp* qp, ibv_qp_state state, int mask, std::uint32_t destination = 0) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    attr.port_num = 1;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = destination;
    attr.ah_attr.port_num = 1;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    attr.qp_access_flags = kAllAccess;
    return ibv_modify_qp(qp, &attr, IBV_QP_STATE | mask);
  }
  static constexpr int kInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  static constexpr int kReady = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
  static constexpr int kResponder = IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  static constexpr int kSends = IBV_QP_SQ_PSN | IBV_QP_TIMEOUT;
  static constexpr int kRequester = IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  static void connect_xrc(ibv_qp* from, ibv_qp* to) {
    ASSERT_EQ(step(from, IBV_QPS_INIT, kInit), 0);
    ASSERT_EQ(step(to, IBV_QPS_INIT, kInit), 0);
    ASSERT_EQ(step(from, IBV_QPS_RTR, kReady, to->qp_num), 0);
    ASSERT_EQ(step(to, IBV_QPS_RTR, kReady | kResponder, from->qp_num), 0);
    ASSERT_EQ(step(from, IBV_QPS_RTS, kSends | kRequester), 0);
    ASSERT_EQ(step(to, IBV_QPS_RTS, kSends), 0);
  }
  void receive(ibv_srq* srq, std::uint64_t id) {
    ibv_recv_wr request{};
    request.wr_id = id;
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_srq_recv(srq, &request, &bad), 0);
  }

  ibv_xrcd* xrcd_ = nullptr;
};

TEST_F(XrcVerbs, DomainsAreBusyWhileSomethingIsInThem) {
  ibv_srq* made = srq();
  EXPECT_EQ(ibv_close_xrcd(xrcd_), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq_), EBUSY);
  EXPECT_EQ(ibv_dealloc_pd(pd_), EBUSY);
  EXPECT_EQ(ibv_destroy_srq(made), 0);
  ibv_qp* qp = receiver(xrcd_);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(ibv_close_xrcd(xrcd_), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_close_xrcd(xrcd_), 0);
  EXPECT_EQ(ibv_destroy_cq(cq_), 0);
}

TEST_F(XrcVerbs, DomainsAreOpenedAsTheirFlagsSay) {
  const int file = memfd_create("xrc-test", MFD_CLOEXEC);
  EXPECT_EQ(open(file, 0), nullptr);
  EXPECT_EQ(errno, EAGAIN);
  ibv_xrcd* first = open(file, O_CREAT | O_EXCL);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(open(file, O_CREAT | O_EXCL), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_xrcd* second = open(file, 0);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(open(file + 1000), nullptr);
  EXPECT_EQ(errno, EBADF);
  ibv_xrcd_init_attr half{};
  half.comp_mask = IBV_XRCD_INIT_ATTR_FD;
  EXPECT_EQ(ibv_open_xrcd(context_, &half), nullptr);
  EXPECT_EQ(errno, EINVAL);
  close(file);
}

TEST_F(XrcVerbs, ObjectsNeedAllThatTheyStandOn) {
  for (const auto& missing : {IBV_SRQ_INIT_ATTR_PD, IBV_SRQ_INIT_ATTR_XRCD, IBV_SRQ_INIT_ATTR_CQ}) {
    ibv_srq_init_attr_ex init = srq_attributes();
    init.comp_mask &= ~static_cast<std::uint32_t>(missing);
    errno = 0;
    EXPECT_EQ(ibv_create_srq_ex(context_, &init), nullptr) << missing;
    EXPECT_EQ(errno, EINVAL);
  }
  ibv_srq_init_attr_ex tags = srq_attributes();
  tags.srq_type = IBV_SRQT_TM;
  EXPECT_EQ(ibv_create_srq_ex(context_, &tags), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(receiver(nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_qp_init_attr sender = attributes(IBV_QPT_XRC_SEND);
  sender.send_cq = nullptr;
  EXPECT_EQ(ibv_create_qp(pd_, &sender), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(XrcVerbs, OnlyXrcQueuesHaveANumber) {
  ibv_srq_init_attr init{};
  init.attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0};
  ibv_srq* basic = ibv_create_srq(pd_, &init);
  std::uint32_t number = 0;
  EXPECT_EQ(ibv_get_srq_num(basic, &number), EOPNOTSUPP);
  std::uint32_t first = 0, second = 0;
  EXPECT_EQ(ibv_get_srq_num(srq(), &first), 0);
  EXPECT_EQ(ibv_get_srq_num(srq(), &second), 0);
  EXPECT_NE(first, second);
  EXPECT_LE(first, 0xffffffu);
}

TEST_F(XrcVerbs, QueuePairsGoOneWay) {
  ibv_qp* sender = create_qp(IBV_QPT_XRC_SEND);
  ibv_qp* target = receiver(xrcd_);
  connect_xrc(sender, target);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad_receive = nullptr;
  EXPECT_EQ(ibv_post_recv(sender, &receive, &bad_receive), EINVAL);
  EXPECT_EQ(ibv_post_recv(target, &receive, &bad_receive), EINVAL);
  ibv_send_wr send{};
  ibv_send_wr* bad_send = nullptr;
  send.opcode = IBV_WR_SEND;
  EXPECT_EQ(ibv_post_send(target, &send, &bad_send), EINVAL);
  EXPECT_EQ(target->pd, nullptr);
  EXPECT_EQ(sender->recv_cq, nullptr);
}

TEST_F(XrcVerbs, StatesNeedWhatEachEndHas) {
  ibv_qp* sender = create_qp(IBV_QPT_XRC_SEND);
  ibv_qp* target = receiver(xrcd_);
  ASSERT_EQ(step(sender, IBV_QPS_INIT, kInit), 0);
  ASSERT_EQ(step(target, IBV_QPS_INIT, kInit), 0);
  EXPECT_EQ(step(sender, IBV_QPS_RTR, kReady & ~IBV_QP_AV, 1), EINVAL);
  EXPECT_EQ(step(target, IBV_QPS_RTR, kReady, 1), EINVAL);
  // What only the other end has is passed over, as by the kernel: perftest gives all to both.
  ASSERT_EQ(step(sender, IBV_QPS_RTR, kReady | kResponder, target->qp_num), 0);
  ASSERT_EQ(step(target, IBV_QPS_RTR, kReady | kResponder, sender->qp_num), 0);
  EXPECT_EQ(step(sender, IBV_QPS_RTS, kSends), EINVAL);
  EXPECT_EQ(step(target, IBV_QPS_RTS, kSends | kRequester), 0);
}

TEST_F(XrcVerbs, BothPostingInterfacesNameTheQueue) {
  ibv_qp* target = receiver(xrcd_);
  ibv_qp* sender = create_extended_qp(IBV_QPT_XRC_SEND, IBV_QP_EX_WITH_SEND);
  ASSERT_NE(sender, nullptr);
  connect_xrc(sender, target);
  ibv_srq* queue = srq();
  std::uint32_t number = 0;
  ASSERT_EQ(ibv_get_srq_num(queue, &number), 0);
  receive(queue, 1);
  receive(queue, 2);
  ibv_qp_ex* extended = ibv_qp_to_qp_ex(sender);
  ibv_wr_start(extended);
  extended->wr_flags = 0;
  ibv_wr_send(extended);
  ibv_wr_set_xrc_srqn(extended, number);
  EXPECT_EQ(ibv_wr_complete(extended), 0);
  const ibv_wc completion = wait_for_completion();
  EXPECT_EQ(completion.wr_id, 1u);
  EXPECT_EQ(completion.qp_num, target->qp_num);
  EXPECT_EQ(completion.src_qp, sender->qp_num);
  ibv_send_wr send{};
  ibv_send_wr* bad = nullptr;
  send.opcode = IBV_WR_SEND;
  send.qp_type.xrc.remote_srqn = number;
  EXPECT_EQ(ibv_post_send(sender, &send, &bad), 0);
  EXPECT_EQ(wait_for_completion().wr_id, 2u);
}

// Receives, and the memory that a request names, are those of the queue's protection domain.
TEST_F(XrcVerbs, TheQueuesProtectionDomainDecides) {
  ibv_pd* other = ibv_alloc_pd(context_);
  std::vector<std::uint8_t> mine(64), theirs(64);
  const ibv_mr* own = register_bytes(mine);
  const ibv_mr* foreign = ibv_reg_mr(other, theirs.data(), theirs.size(), kAllAccess);
  ibv_srq_init_attr_ex init = srq_attributes();
  init.pd = other;
  ibv_srq* queue = ibv_create_srq_ex(context_, &init);
  std::uint32_t number = 0;
  ASSERT_EQ(ibv_get_srq_num(queue, &number), 0);
  ibv_qp *sender = create_qp(IBV_QPT_XRC_SEND), *target = receiver(xrcd_);
  connect_xrc(sender, target);
  ibv_sge from = segment_of(own);
  for (const ibv_mr* to : {foreign, own}) {
    ibv_send_wr write = write_request(&from, address_of(to->addr), to->rkey);
    write.qp_type.xrc.remote_srqn = number;
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(sender, &write, &bad), 0);
    EXPECT_EQ(wait_for_completion().status, to == foreign ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
  }
}

TEST_F(XrcVerbs, AnOpenedQueuePairLivesUntilItsLastHandle) {
  ibv_qp *sender = create_qp(IBV_QPT_XRC_SEND), *target = receiver(xrcd_);
  connect_xrc(sender, target);
  ibv_qp_open_attr open_attributes{};
  open_attributes.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  open_attributes.qp_num = target->qp_num;
  open_attributes.qp_type = IBV_QPT_XRC_RECV;
  ibv_xrcd* wrong = open(-1);
  open_attributes.xrcd = wrong;
  EXPECT_EQ(ibv_open_qp(context_, &open_attributes), nullptr);
  EXPECT_EQ(errno, EINVAL);
  open_attributes.xrcd = xrcd_;
  ibv_qp* second = ibv_open_qp(context_, &open_attributes);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->qp_num, target->qp_num);
  EXPECT_EQ(second->state, IBV_QPS_RTS);
  EXPECT_EQ(ibv_destroy_qp(target), 0);
  ibv_srq* queue = srq();
  receive(queue, 3);
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  ASSERT_EQ(ibv_get_srq_num(queue, &send.qp_type.xrc.remote_srqn), 0);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(sender, &send, &bad), 0);
  EXPECT_EQ(wait_for_completion().wr_id, 3u);
  EXPECT_EQ(ibv_destroy_qp(second), 0);
  EXPECT_EQ(ibv_open_qp(context_, &open_attributes), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(XrcVerbs, EventsGoToEveryHandleThatIsOpen) {
  ibv_qp *sender = create_qp(IBV_QPT_XRC_SEND), *first = receiver(xrcd_);
  connect_xrc(sender, first);
  ibv_qp_open_attr attributes{};
  attributes.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  attributes.qp_num = first->qp_num;
  attributes.qp_type = IBV_QPT_XRC_RECV;
  attributes.xrcd = xrcd_;
  ibv_qp *second = ibv_open_qp(context_, &attributes), *third = ibv_open_qp(context_, &attributes);
  ASSERT_NE(second, nullptr);
  ASSERT_NE(third, nullptr);
  EXPECT_EQ(ibv_destroy_qp(first), 0);
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  send.qp_type.xrc.remote_srqn = 0xffffff;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(sender, &send, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_INV_REQ_ERR);
  std::set<ibv_qp*> told;
  for (int i = 0; i < 2; ++i) {
    ibv_async_event event{};
    ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
    EXPECT_EQ(event.event_type, IBV_EVENT_QP_REQ_ERR);
    told.insert(event.element.qp);
    ibv_ack_async_event(&event);
  }
  EXPECT_EQ(told, (std::set<ibv_qp*>{second, third}));
}

TEST_F(XrcVerbs, OnlyXrcRequestsTakeFromTheirQueues) {
  ibv_qp_init_attr init = attributes(IBV_QPT_RC);
  init.srq = srq();
  EXPECT_EQ(ibv_create_qp(pd_, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

// A window of type 2 serves the queue pair that bound it, which is an end that only sends.
TEST_F(XrcVerbs, WindowsOfType1ServeXrcRequestsAndThoseOfType2DoNot) {
  ibv_srq* queue = srq();
  std::uint32_t number = 0;
  ASSERT_EQ(ibv_get_srq_num(queue, &number), 0);
  std::vector<std::uint8_t> from(64, 0xa5), to(4096);
  const ibv_mr* source = register_bytes(from);
  ibv_mr* region = register_bytes(to, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND);
  for (const ibv_mw_type type : {IBV_MW_TYPE_1, IBV_MW_TYPE_2}) {
    ibv_qp *sender = create_qp(IBV_QPT_XRC_SEND), *target = receiver(xrcd_);
    connect_xrc(sender, target);
    ibv_mw* window = ibv_alloc_mw(pd_, type);
    const ibv_mw_bind_info info{region, address_of(to.data()) + 64, 64, IBV_ACCESS_REMOTE_WRITE};
    if (type == IBV_MW_TYPE_1) {
      ibv_mw_bind bind{.wr_id = 1, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
      ASSERT_EQ(ibv_bind_mw(sender, window, &bind), 0);
    } else {
      ibv_send_wr bind{};
      bind.opcode = IBV_WR_BIND_MW;
      bind.send_flags = IBV_SEND_SIGNALED;
      bind.bind_mw = {.mw = window, .rkey = ibv_inc_rkey(window->rkey), .bind_info = info};
      ibv_send_wr* bad = nullptr;
      ASSERT_EQ(ibv_post_send(sender, &bind, &bad), 0);
    }
    EXPECT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
    ibv_sge segment = segment_of(source);
    ibv_send_wr write = write_request(&segment, address_of(to.data()) + 64, window->rkey);
    write.qp_type.xrc.remote_srqn = number;
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(sender, &write, &bad), 0);
    EXPECT_EQ(wait_for_completion().status,
              type == IBV_MW_TYPE_1 ? IBV_WC_SUCCESS : IBV_WC_REM_ACCESS_ERR);
  }
  EXPECT_EQ(to[64], 0xa5);
}

TEST_F(XrcVerbs, ADestroyedQueueIsNotReachedByItsNumber) {
  ibv_qp *sender = create_qp(IBV_QPT_XRC_SEND), *target = receiver(xrcd_);
  connect_xrc(sender, target);
  ibv_srq* queue = srq();
  ibv_send_wr send{};
  send.opcode = IBV_WR_SEND;
  ASSERT_EQ(ibv_get_srq_num(queue, &send.qp_type.xrc.remote_srqn), 0);
  receive(queue, 1);
  ASSERT_EQ(ibv_destroy_srq(queue), 0);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(sender, &send, &bad), 0);
  EXPECT_EQ(wait_for_completion().status, IBV_WC_REM_INV_REQ_ERR);
}

}  // namespace
}  // namespace gdr::test

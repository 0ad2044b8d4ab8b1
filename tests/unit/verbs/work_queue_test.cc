// Receive work queues, indirection tables, and raw packet queue pairs that spread frames over them.
#include <poll.h>

#include "cable_fixture.h"

namespace gdr::test {
namespace {

constexpr std::uint8_t kHashKey[40] = {0x2c, 0xc6, 0x81, 0xd1, 0x5b, 0xdb, 0xf4, 0xf7, 0xfc, 0xa2,
                                       0x83, 0x19, 0xdb, 0x1a, 0x3e, 0x94, 0x6b, 0x9e, 0x38, 0xd9};

// Two work queues on the far device, with a completion queue each.
class WorkQueueTest : public CableTest {
 protected:
  void SetUp() override {
    CableTest::SetUp();
    for (int i = 0; i < 2; ++i) {
      cqs_[i] = ibv_create_cq(far_, 64, nullptr, nullptr, 0);
      queues_[i] = create_queue(cqs_[i]);
      ASSERT_NE(queues_[i], nullptr) << std::strerror(errno);
    }
    mr_ = ibv_reg_mr(far_pd_, received_.data(), received_.size(), kAllAccess);
  }
  ibv_wq* create_queue(ibv_cq* cq) {
    ibv_wq_init_attr attr{};
    attr.wq_type = IBV_WQT_RQ;
    attr.max_wr = 60;
    attr.max_sge = 1;
    attr.pd = far_pd_;
    attr.cq = cq;
    ibv_wq* wq = ibv_create_wq(far_, &attr);
    if (wq != nullptr) {
      EXPECT_GE(attr.max_wr, 60u);
    }
    return wq;
  }
  static int move_to(ibv_wq* wq, ibv_wq_state state) {
    ibv_wq_attr attr{};
    attr.attr_mask = IBV_WQ_ATTR_STATE;
    attr.wq_state = state;
    return ibv_modify_wq(wq, &attr);
  }
  int receive(ibv_wq* wq, std::uint32_t bytes = 2048) {
    ibv_sge into{address_of(received_.data()), bytes, mr_->lkey};
    ibv_recv_wr request{};
    request.sg_list = &into;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return ibv_post_wq_recv(wq, &request, &bad);
  }
  ibv_rwq_ind_table* create_table(std::uint32_t log_size = 1) {
    ibv_rwq_ind_table_init_attr attr{};
    attr.log_ind_tbl_size = log_size;
    attr.ind_tbl = queues_;
    return ibv_create_rwq_ind_table(far_, &attr);
  }
  ibv_qp_init_attr_ex spreading(ibv_rwq_ind_table* table) {
    ibv_qp_init_attr_ex attr{};
    attr.qp_type = IBV_QPT_RAW_PACKET;
    attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
    attr.pd = far_pd_;
    attr.rwq_ind_tbl = table;
    attr.rx_hash_conf = {.rx_hash_function = IBV_RX_HASH_FUNC_TOEPLITZ,
                         .rx_hash_key_len = sizeof kHashKey,
                         .rx_hash_key = const_cast<std::uint8_t*>(kHashKey),
                         .rx_hash_fields_mask = IBV_RX_HASH_SRC_IPV4 | IBV_RX_HASH_DST_IPV4};
    return attr;
  }

  ibv_cq* cqs_[2] = {};
  ibv_wq* queues_[2] = {};
  ibv_mr* mr_ = nullptr;
};

TEST_F(WorkQueueTest, TakesFramesByTheHashOfTheirAddressesAndEachFlowAlwaysOnTheSameOne) {
  for (ibv_wq* wq : queues_) {
    ASSERT_EQ(move_to(wq, IBV_WQS_RDY), 0);
    for (int i = 0; i < 60; ++i) ASSERT_EQ(receive(wq), 0);
  }
  ibv_qp_init_attr_ex attr = spreading(create_table());
  ibv_qp* qp = ibv_create_qp_ex(far_, &attr);
  ASSERT_NE(qp, nullptr) << std::strerror(errno);
  UdpRule rule = rule_for_port(4000);
  ibv_flow* flow = ibv_create_flow(qp, &rule.attr);
  ASSERT_NE(flow, nullptr) << std::strerror(errno);
  std::uint32_t last[2] = {};
  int taken[2] = {};
  for (int round = 0; round < 2; ++round) {
    for (std::uint8_t host = 0; host < 16; ++host) {
      std::vector<std::uint8_t> frame = frame_to_port(4000);
      frame[29] = host;  // of the source address
      send(frame);
      ibv_wc completions[2][2];
      const int found[2] = {ibv_poll_cq(cqs_[0], 2, completions[0]),
                            ibv_poll_cq(cqs_[1], 2, completions[1])};
      ASSERT_EQ(found[0] + found[1], 1) << "each frame goes to one queue";
      const int at = found[1];
      EXPECT_EQ(completions[at][0].status, IBV_WC_SUCCESS);
      EXPECT_EQ(completions[at][0].qp_num, queues_[at]->wq_num);
      const std::uint32_t bit = 1u << host;
      if (round == 1) {
        EXPECT_NE(last[at] & bit, 0u) << "the same flow, the same queue";
      }
      last[at] |= bit;
      ++taken[at];
    }
  }
  EXPECT_GT(taken[0], 0);
  EXPECT_GT(taken[1], 0);
  EXPECT_EQ(ibv_destroy_qp(qp), EBUSY);
  EXPECT_EQ(ibv_destroy_flow(flow), 0);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
}

TEST_F(WorkQueueTest, KeepsWhatItIsMadeOfBusy) {
  ibv_rwq_ind_table* table = create_table();
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(ibv_destroy_cq(cqs_[0]), EBUSY);
  EXPECT_EQ(ibv_destroy_wq(queues_[0]), EBUSY);
  ibv_qp_init_attr_ex attr = spreading(table);
  ibv_qp* qp = ibv_create_qp_ex(far_, &attr);
  ASSERT_NE(qp, nullptr);
  EXPECT_EQ(ibv_destroy_rwq_ind_table(table), EBUSY);
  ibv_qp_attr state{};
  state.qp_state = IBV_QPS_INIT;
  state.port_num = 1;
  EXPECT_EQ(ibv_modify_qp(qp, &state, IBV_QP_STATE | IBV_QP_PORT), EOPNOTSUPP);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_rwq_ind_table(table), 0);
  for (ibv_wq* wq : queues_) EXPECT_EQ(ibv_destroy_wq(wq), 0);
  EXPECT_EQ(ibv_destroy_cq(cqs_[0]), 0);
}

TEST_F(WorkQueueTest, GoesThroughItsStatesAndFlushesInError) {
  ibv_wq* wq = queues_[0];
  EXPECT_EQ(receive(wq), EINVAL);  // in RESET
  EXPECT_EQ(move_to(wq, IBV_WQS_ERR), EINVAL);
  ASSERT_EQ(move_to(wq, IBV_WQS_RDY), 0);
  ASSERT_EQ(receive(wq), 0);
  ASSERT_EQ(move_to(wq, IBV_WQS_ERR), 0);
  EXPECT_EQ(wq->state, IBV_WQS_ERR);
  EXPECT_EQ(wait_for_completion(cqs_[0]).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(move_to(wq, IBV_WQS_RDY), EINVAL);
  ibv_wq_attr attr{};
  attr.attr_mask = IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE;
  attr.curr_wq_state = IBV_WQS_RDY;
  EXPECT_EQ(ibv_modify_wq(wq, &attr), EINVAL);
  attr.curr_wq_state = IBV_WQS_ERR;
  EXPECT_EQ(ibv_modify_wq(wq, &attr), 0);  // to RESET
  attr.attr_mask = IBV_WQ_ATTR_FLAGS;
  EXPECT_EQ(ibv_modify_wq(wq, &attr), EOPNOTSUPP);
}

TEST_F(WorkQueueTest, FailsWithAnEventOfItsOwnWhenAFrameDoesNotFit) {
  for (ibv_wq* wq : queues_) {
    ASSERT_EQ(move_to(wq, IBV_WQS_RDY), 0);
    ASSERT_EQ(receive(wq, 20), 0);
  }
  ibv_qp_init_attr_ex attr = spreading(create_table());
  ibv_qp* qp = ibv_create_qp_ex(far_, &attr);
  ASSERT_NE(qp, nullptr);
  UdpRule rule = rule_for_port(4000);
  ASSERT_NE(ibv_create_flow(qp, &rule.attr), nullptr);
  std::vector<std::uint8_t> frame = frame_to_port(4000);
  send(frame);
  pollfd entry{far_->async_fd, POLLIN, 0};
  ASSERT_EQ(poll(&entry, 1, kLastResortMs), 1);
  ibv_async_event event{};
  ASSERT_EQ(ibv_get_async_event(far_, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_WQ_FATAL);
  EXPECT_TRUE(event.element.wq == queues_[0] || event.element.wq == queues_[1]);
  ibv_ack_async_event(&event);
}

TEST_F(WorkQueueTest, IsRefusedForWhatIsNotServed) {
  EXPECT_EQ(create_queue(nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(create_table(8), nullptr);  // 256 entries
  EXPECT_EQ(errno, EINVAL);
  ibv_rwq_ind_table* table = create_table();
  const auto refusal = [&](const auto& change) {
    ibv_qp_init_attr_ex attr = spreading(table);
    change(attr);
    errno = 0;
    return ibv_create_qp_ex(far_, &attr) == nullptr ? errno : 0;
  };
  EXPECT_EQ(refusal([](auto& a) { a.rx_hash_conf.rx_hash_key_len = 16; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.rx_hash_conf.rx_hash_function = 2; }), EOPNOTSUPP);
  EXPECT_EQ(refusal([](auto& a) { a.rx_hash_conf.rx_hash_fields_mask = IBV_RX_HASH_INNER; }),
            EOPNOTSUPP);
  EXPECT_EQ(refusal([](auto& a) { a.comp_mask &= ~IBV_QP_INIT_ATTR_IND_TABLE; }), EINVAL);
  EXPECT_EQ(refusal([](auto& a) { a.qp_type = IBV_QPT_UD; }), EINVAL);
  ibv_device_attr_ex device{};
  ASSERT_EQ(ibv_query_device_ex(far_, nullptr, &device), 0);
  EXPECT_EQ(device.rss_caps.max_rwq_indirection_table_size, 128u);
  EXPECT_GT(device.max_wq_type_rq, 0u);
}

}  // namespace
}  // namespace gdr::test

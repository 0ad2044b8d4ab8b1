// Extended completion queues: their readers, the device's clock, sizes and moderation.
#include <poll.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class ExtendedCompletionTest : public VerbsTest {
 protected:
  ibv_cq_ex* create(std::uint64_t fields, std::uint32_t flags = 0, std::uint32_t entries = 16) {
    ibv_cq_init_attr_ex init{};
    init.cqe = entries;
    init.channel = channel_;
    init.wc_flags = fields;
    init.comp_mask = flags != 0 ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0;
    init.flags = flags;
    ibv_cq_ex* cq = ibv_create_cq_ex(context_, &init);
    if (cq != nullptr) cq_ = ibv_cq_ex_to_cq(cq);
    return cq;
  }
  // Makes `count` successful completions on cq_: writes of nothing.
  void complete(int count) {
    if (sender_ == nullptr) {
      sender_ = create_qp(IBV_QPT_RC);
      connect(sender_, create_qp(IBV_QPT_RC));
    }
    for (int i = 0; i < count; ++i) {
      ibv_send_wr request = write_request(nullptr, 0, 0);
      request.wr_id = next_++;
      ibv_send_wr* bad = nullptr;
      ASSERT_EQ(ibv_post_send(sender_, &request, &bad), 0);
    }
  }

  // Whether the channel has an event within that time.
  bool is_told(int milliseconds) {
    pollfd entry{channel_->fd, POLLIN, 0};
    return poll(&entry, 1, milliseconds) == 1;
  }
  void take_event() {
    ASSERT_TRUE(is_told(5000));
    ibv_cq* told = nullptr;
    void* told_context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
    ibv_ack_cq_events(told, 1);
  }

  ibv_comp_channel* channel_ = nullptr;  // of the queues that create() makes
  ibv_qp* sender_ = nullptr;
  std::uint64_t next_ = 0;
};

TEST_F(ExtendedCompletionTest, GoesThroughABatchAndSaysWhenItIsOver) {
  for (const std::uint32_t flags : {0u, unsigned{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}}) {
    ibv_cq_ex* cq = create(IBV_WC_STANDARD_FLAGS, flags);
    ASSERT_NE(cq, nullptr);
    sender_ = nullptr;
    next_ = 0;
    ibv_poll_cq_attr attr{};
    EXPECT_EQ(ibv_start_poll(cq, &attr), ENOENT);
    EXPECT_EQ(ibv_start_poll(cq, &attr), ENOENT);  // no end_poll after a failure
    complete(3);
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
    for (std::uint64_t i = 0; i < 3; ++i) {
      EXPECT_EQ(cq->wr_id, i);
      EXPECT_EQ(cq->status, IBV_WC_SUCCESS);
      EXPECT_EQ(ibv_wc_read_opcode(cq), IBV_WC_RDMA_WRITE);
      EXPECT_EQ(ibv_wc_read_qp_num(cq), sender_->qp_num);
      EXPECT_EQ(ibv_wc_read_slid(cq), 0u);
      EXPECT_EQ(ibv_wc_read_dlid_path_bits(cq), 0u);
      EXPECT_EQ(ibv_next_poll(cq), i < 2 ? 0 : ENOENT);
    }
    ibv_end_poll(cq);
    complete(1);  // the queue is usable after the end of a batch
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
    ibv_end_poll(cq);
    attr.comp_mask = 1;
    EXPECT_EQ(ibv_start_poll(cq, &attr), EINVAL);
  }
}

TEST_F(ExtendedCompletionTest, EndsABatchWithWhatWasThereWhenItBegan) {
  channel_ = ibv_create_comp_channel(context_);
  for (const std::uint32_t flags : {0u, unsigned{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}}) {
    ibv_cq_ex* cq = create(IBV_WC_STANDARD_FLAGS, flags);
    ASSERT_NE(cq, nullptr);
    sender_ = nullptr;
    next_ = 0;
    ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
    complete(1);
    take_event();
    ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
    ibv_poll_cq_attr attr{};
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
    complete(1);
    EXPECT_EQ(ibv_next_poll(cq), ENOENT);
    ibv_end_poll(cq);
    take_event();
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0) << "an event, and nothing behind it";
    EXPECT_EQ(cq->wr_id, 1u);
    ibv_end_poll(cq);
  }
}

TEST_F(ExtendedCompletionTest, MakesNoEventOfWhatTheBatchTakesAndOneOfWhatItLeaves) {
  channel_ = ibv_create_comp_channel(context_);
  for (const std::uint32_t flags : {0u, unsigned{IBV_CREATE_CQ_ATTR_SINGLE_THREADED}}) {
    ibv_cq_ex* cq = create(IBV_WC_STANDARD_FLAGS, flags);
    ASSERT_NE(cq, nullptr);
    sender_ = nullptr;
    ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
    complete(2);
    take_event();
    ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
    ibv_poll_cq_attr attr{};
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
    EXPECT_EQ(ibv_next_poll(cq), 0);
    ibv_end_poll(cq);
    EXPECT_FALSE(is_told(0)) << "of what the batch has taken";
    complete(2);
    take_event();
    ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
    ibv_end_poll(cq);
    EXPECT_TRUE(is_told(0)) << "of what the batch has left";
    take_event();
    ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
    ibv_end_poll(cq);
  }
}

TEST_F(ExtendedCompletionTest, StampsInTheDevicesClockAndInTheWalls) {
  ibv_device_attr_ex device{};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &device), 0);
  EXPECT_EQ(device.hca_core_clock, 1'000'000u);  // kHz: the clock counts nanoseconds
  EXPECT_EQ(device.completion_timestamp_mask, UINT64_MAX);
  ibv_cq_ex* cq = create(IBV_WC_EX_WITH_COMPLETION_TIMESTAMP |
                         IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK | IBV_WC_EX_WITH_FLOW_TAG);
  ASSERT_NE(cq, nullptr) << std::strerror(errno);
  const auto device_time = [&] {
    ibv_values_ex values{};
    values.comp_mask = IBV_VALUES_MASK_RAW_CLOCK;
    EXPECT_EQ(ibv_query_rt_values_ex(context_, &values), 0);
    EXPECT_EQ(values.comp_mask, std::uint32_t{IBV_VALUES_MASK_RAW_CLOCK});
    EXPECT_EQ(values.raw_clock.tv_sec, 0);
    return static_cast<std::uint64_t>(values.raw_clock.tv_nsec);
  };
  const auto wall_time = [] {
    return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() /
                                      std::chrono::nanoseconds(1));
  };
  const std::uint64_t device_before = device_time(), wall_before = wall_time();
  complete(2);
  ibv_poll_cq_attr attr{};
  ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
  const std::uint64_t first = ibv_wc_read_completion_ts(cq);
  EXPECT_GE(first, device_before);
  EXPECT_GE(ibv_wc_read_completion_wallclock_ns(cq), wall_before);
  EXPECT_EQ(ibv_wc_read_flow_tag(cq), 0u);
  ASSERT_EQ(ibv_next_poll(cq), 0);
  EXPECT_GE(ibv_wc_read_completion_ts(cq), first);
  EXPECT_LE(ibv_wc_read_completion_ts(cq), device_time());
  EXPECT_LE(ibv_wc_read_completion_wallclock_ns(cq), wall_time());
  ibv_end_poll(cq);
  ibv_values_ex none{};
  none.comp_mask = 1u << 7;
  EXPECT_EQ(ibv_query_rt_values_ex(context_, &none), 0);
  EXPECT_EQ(none.comp_mask, 0u);  // nothing of what was asked for
}

TEST_F(ExtendedCompletionTest, RefusesFieldsAndFlagsThatItDoesNotServe) {
  EXPECT_EQ(create(std::uint64_t{1} << 40), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_EQ(create(0, 1u << 9), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(ExtendedCompletionTest, ServesEveryFieldThatProgramsAskForTogether) {
  ibv_cq_ex* cq = create(IBV_CREATE_CQ_SUP_WC_FLAGS);
  ASSERT_NE(cq, nullptr);
  complete(1);
  ibv_poll_cq_attr attributes{};
  ASSERT_EQ(ibv_start_poll(cq, &attributes), 0);
  EXPECT_EQ(ibv_wc_read_cvlan(cq), 0);  // nothing was stripped
  ibv_end_poll(cq);
}

TEST_F(ExtendedCompletionTest, IgnoresAnOverrunWhenToldTo) {
  ibv_cq_ex* cq = create(0, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, 2);
  ASSERT_NE(cq, nullptr);
  complete(5);
  ibv_wc completions[5];
  EXPECT_EQ(ibv_poll_cq(cq_, 5, completions), 2);
  complete(1);
  EXPECT_EQ(ibv_poll_cq(cq_, 5, completions), 1);
  pollfd entry{context_->async_fd, POLLIN, 0};
  EXPECT_EQ(poll(&entry, 1, 30), 0);
}

TEST_F(ExtendedCompletionTest, FailsToPollAfterAnOverrun) {
  ibv_cq_ex* cq = create(0, 0, 2);
  ASSERT_NE(cq, nullptr);
  complete(3);
  ibv_poll_cq_attr attr{};
  ASSERT_EQ(ibv_start_poll(cq, &attr), 0);
  EXPECT_EQ(ibv_next_poll(cq), 0);
  const int error = ibv_next_poll(cq);
  EXPECT_NE(error, 0);
  EXPECT_NE(error, ENOENT);
  ibv_end_poll(cq);
}

TEST_F(ExtendedCompletionTest, IsResizedWithWhatItHolds) {
  cq_ = ibv_create_cq(context_, 4, nullptr, nullptr, 0);
  complete(3);
  EXPECT_EQ(ibv_resize_cq(cq_, 2), EINVAL);
  EXPECT_EQ(ibv_resize_cq(cq_, 0), EINVAL);
  EXPECT_EQ(ibv_resize_cq(cq_, 1 << 30), EINVAL);
  EXPECT_EQ(cq_->cqe, 4);
  ASSERT_EQ(ibv_resize_cq(cq_, 20), 0);
  EXPECT_GE(cq_->cqe, 20);
  complete(10);
  ibv_wc completions[20];
  ASSERT_EQ(ibv_poll_cq(cq_, 20, completions), 13);
  for (std::uint64_t i = 0; i < 13; ++i) EXPECT_EQ(completions[i].wr_id, i);
}

TEST_F(ExtendedCompletionTest, HoldsEventsBackAsModerationAsks) {
  ibv_device_attr_ex device{};
  ASSERT_EQ(ibv_query_device_ex(context_, nullptr, &device), 0);
  EXPECT_EQ(device.cq_mod_caps.max_cq_count, 0xffff);
  EXPECT_EQ(device.cq_mod_caps.max_cq_period, 0xffff);
  channel_ = ibv_create_comp_channel(context_);
  cq_ = ibv_create_cq(context_, 64, nullptr, channel_, 0);
  ibv_modify_cq_attr attr{};
  attr.attr_mask = IBV_CQ_ATTR_MODERATE;
  attr.moderate = {.cq_count = 3, .cq_period = 60'000};
  ASSERT_EQ(ibv_modify_cq(cq_, &attr), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  complete(1);
  EXPECT_FALSE(is_told(0));
  take_event();  // after the period
  attr.attr_mask = 1u << 5;
  EXPECT_EQ(ibv_modify_cq(cq_, &attr), EOPNOTSUPP);
}

}  // namespace
}  // namespace gdr::test

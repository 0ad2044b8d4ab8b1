// Completion queues: channels, acknowledgements, the extended interface, overrun.
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class CompletionTest : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    channel_ = ibv_create_comp_channel(context_);
    ASSERT_NE(channel_, nullptr);
  }

  // A queue pair whose completions go to cq_, with one receive posted.
  ibv_qp* queue_pair_on(ibv_cq* cq) {
    cq_ = cq;
    ibv_qp* qp = create_qp(IBV_QPT_RC);
    EXPECT_EQ(to_init(qp), 0);
    return qp;
  }
  // Makes `count` completions: receives, flushed.
  void complete(ibv_qp* qp, int count = 1) {
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    for (int i = 0; i < count; ++i) ASSERT_EQ(ibv_post_recv(qp, &receive, &bad), 0);
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    ASSERT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), 0);
  }
  bool readable(int milliseconds) const {
    pollfd entry{channel_->fd, POLLIN, 0};
    return poll(&entry, 1, milliseconds) == 1;
  }

  ibv_comp_channel* channel_ = nullptr;
};

TEST_F(CompletionTest, MakesTheChannelReadableOnceWhenArmed) {
  int mark = 0;
  ibv_cq* cq = ibv_create_cq(context_, 16, &mark, channel_, 0);
  ASSERT_NE(cq, nullptr);
  ibv_qp* qp = queue_pair_on(cq);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  EXPECT_FALSE(readable(0));
  complete(qp, 3);
  ASSERT_TRUE(readable(kLastResortMs));
  ibv_cq* told = nullptr;
  void* told_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
  EXPECT_EQ(told, cq);
  EXPECT_EQ(told_context, &mark);
  EXPECT_FALSE(readable(50));
  ibv_ack_cq_events(cq, 1);
}

// It has armed the queue, and polls another one of the channel before it sleeps again.
TEST_F(CompletionTest, TellsAgainOfWhatAnArmedQueueHoldsWhenItsProgramWouldSleep) {
  ASSERT_EQ(fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK), 0);
  ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  ibv_qp* qp = queue_pair_on(cq);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  complete(qp);
  ASSERT_TRUE(readable(kLastResortMs));
  ibv_cq* told = nullptr;
  void* told_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  ASSERT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
  EXPECT_EQ(told, cq);
  ibv_ack_cq_events(cq, 2);
  ibv_wc completion{};
  ASSERT_EQ(ibv_poll_cq(cq, 1, &completion), 1);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  EXPECT_EQ(ibv_get_cq_event(channel_, &told, &told_context), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(CompletionTest, StaysSilentWhenNotArmed) {
  ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  complete(queue_pair_on(cq));
  EXPECT_EQ(wait_for_completion(cq).status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_FALSE(readable(50));
}

TEST_F(CompletionTest, SaysTryAgainOnANonBlockingChannel) {
  ASSERT_EQ(fcntl(channel_->fd, F_SETFL, fcntl(channel_->fd, F_GETFL) | O_NONBLOCK), 0);
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  EXPECT_EQ(ibv_get_cq_event(channel_, &cq, &cq_context), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(CompletionTest, WakesAThreadThatBlocksInGetCqEvent) {
  ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  ibv_qp* qp = queue_pair_on(cq);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  std::thread waiter([&] {
    ibv_cq* told = nullptr;
    void* told_context = nullptr;
    EXPECT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
    EXPECT_EQ(told, cq);
    ibv_ack_cq_events(told, 1);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  complete(qp);
  waiter.join();
}

TEST_F(CompletionTest, IsDestroyedOnlyWhenItsEventsAreAcknowledged) {
  ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  ibv_qp* qp = queue_pair_on(cq);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  complete(qp);
  ibv_cq* told = nullptr;
  void* told_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
  ASSERT_EQ(ibv_destroy_qp(qp), 0);
  std::atomic<bool> destroyed{false};
  std::thread destroyer([&] {
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
    destroyed = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(destroyed);
  ibv_ack_cq_events(told, 1);
  destroyer.join();
  EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0);
}

TEST_F(CompletionTest, TakesItsWaitingEventsAlongWhenDestroyed) {
  ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  ibv_qp* qp = queue_pair_on(cq);
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  complete(qp);
  ASSERT_TRUE(readable(kLastResortMs));
  ASSERT_EQ(ibv_destroy_qp(qp), 0);
  ASSERT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_FALSE(readable(0));
}

// Their records lie behind each other, in the order in which the events came.
TEST_F(CompletionTest, LeavesTheEventsOfOtherQueuesWhenDestroyed) {
  ibv_cq* gone = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  ibv_qp* first = queue_pair_on(gone);
  ibv_cq* kept = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  ibv_qp* second = queue_pair_on(kept);
  ASSERT_EQ(ibv_req_notify_cq(gone, 0), 0);
  ASSERT_EQ(ibv_req_notify_cq(kept, 0), 0);
  complete(first);
  ASSERT_TRUE(readable(kLastResortMs));
  complete(second);
  ASSERT_EQ(ibv_destroy_qp(first), 0);
  ASSERT_EQ(ibv_destroy_cq(gone), 0);
  ASSERT_TRUE(readable(kLastResortMs));
  ibv_cq* told = nullptr;
  void* told_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
  EXPECT_EQ(told, kept);
  ibv_ack_cq_events(told, 1);
  EXPECT_FALSE(readable(50));
}

// Each arming is answered, also where the program polls and arms again before it takes the event.
// The producer has made that by then: before, one event would answer both armings.
TEST_F(CompletionTest, CountsEventsThatNobodyHasTaken) {
  ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  ibv_qp* qp = queue_pair_on(cq);
  int waiting = 0;  // bytes in its channel
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
    complete(qp);
    EXPECT_EQ(wait_for_completion(cq).status, IBV_WC_WR_FLUSH_ERR);
    int before = std::exchange(waiting, 0);
    EXPECT_TRUE(
        soon([&] { return ioctl(channel_->fd, FIONREAD, &waiting) == 0 && waiting > before; }));
  }
  for (int i = 0; i < 3; ++i) {
    ibv_cq* told = nullptr;
    void* told_context = nullptr;
    ASSERT_TRUE(readable(kLastResortMs)) << i;
    ASSERT_EQ(ibv_get_cq_event(channel_, &told, &told_context), 0);
  }
  ibv_ack_cq_events(cq, 3);
  EXPECT_FALSE(readable(0));
}

TEST_F(CompletionTest, KeepsItsChannelBusy) {
  ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, channel_, 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel_), EBUSY);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel_), 0);
}

TEST_F(CompletionTest, HasAVectorForEachProcessor) {
  const long processors = sysconf(_SC_NPROCESSORS_ONLN);
  ASSERT_EQ(context_->num_comp_vectors, std::min(processors, 64L));
  for (int vector = 0; vector < context_->num_comp_vectors; ++vector) {
    ibv_cq* cq = ibv_create_cq(context_, 16, nullptr, nullptr, vector);
    ASSERT_NE(cq, nullptr) << vector;
    EXPECT_EQ(ibv_destroy_cq(cq), 0);
  }
}

TEST_F(CompletionTest, RefusesWrongSizesAndVectors) {
  EXPECT_EQ(ibv_create_cq(context_, 16, nullptr, nullptr, -1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_create_cq(context_, 0, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_create_cq(context_, -1, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(ibv_create_cq(context_, 1 << 30, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(ibv_create_cq(context_, 16, nullptr, nullptr, context_->num_comp_vectors), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(CompletionTest, ReportsAnOverrunAsAnEventAndAnError) {
  ibv_cq* cq = ibv_create_cq(context_, 1, nullptr, nullptr, 0);
  ASSERT_NE(cq, nullptr);
  ibv_qp* qp = queue_pair_on(cq);
  complete(qp, 8);
  ibv_async_event event{};
  pollfd entry{context_->async_fd, POLLIN, 0};
  ASSERT_EQ(poll(&entry, 1, kLastResortMs), 1);
  ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
  EXPECT_EQ(event.element.cq, cq);
  ibv_ack_async_event(&event);
  EXPECT_NE(ibv_create_cq(context_, 1, nullptr, nullptr, 0), nullptr);  // others go on
  ibv_wc completions[8];
  EXPECT_GE(ibv_poll_cq(cq, 8, completions), 0);  // what it held may still be taken
  EXPECT_LT(ibv_poll_cq(cq, 8, completions), 0);
}

TEST_F(CompletionTest, TakesItsQueuePairsToErrorWhenItOverruns) {
  ibv_cq* small = ibv_create_cq(context_, 1, nullptr, nullptr, 0);
  ibv_qp* bystander = create_qp(IBV_QPT_RC);
  connect(bystander, create_qp(IBV_QPT_RC));
  cq_ = small;
  ibv_qp* qp = create_qp(IBV_QPT_RC);
  ibv_qp* peer = create_qp(IBV_QPT_RC);
  connect(qp, peer);
  for (int i = 0; i < 2; ++i) {
    ibv_send_wr request = write_request(nullptr, 0, 0);
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, &request, &bad), 0);
  }
  int fatal = 0;
  for (int i = 0; i < 3; ++i) {
    pollfd entry{context_->async_fd, POLLIN, 0};
    ASSERT_EQ(poll(&entry, 1, kLastResortMs), 1);
    ibv_async_event event{};
    ASSERT_EQ(ibv_get_async_event(context_, &event), 0);
    if (event.event_type == IBV_EVENT_QP_FATAL) {
      ++fatal;
      EXPECT_TRUE(event.element.qp == qp || event.element.qp == peer);
    } else {
      EXPECT_EQ(event.event_type, IBV_EVENT_CQ_ERR);
    }
    ibv_ack_async_event(&event);
  }
  EXPECT_EQ(fatal, 2);
  const auto state_of = [](ibv_qp* of) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(ibv_query_qp(of, &attr, IBV_QP_STATE, &init), 0);
    return attr.qp_state;
  };
  EXPECT_EQ(state_of(qp), IBV_QPS_ERR);
  EXPECT_EQ(state_of(peer), IBV_QPS_ERR);
  EXPECT_EQ(state_of(bystander), IBV_QPS_RTS);
}

TEST_F(CompletionTest, HandsOutEachFieldThatTheExtendedInterfaceWasAskedFor) {
  ibv_cq_init_attr_ex init{};
  init.cqe = 16;
  init.wc_flags = IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM;
  ibv_cq_ex* extended = ibv_create_cq_ex(context_, &init);
  ASSERT_NE(extended, nullptr) << std::strerror(errno);
  ibv_qp* qp = queue_pair_on(ibv_cq_ex_to_cq(extended));
  ibv_poll_cq_attr attr{};
  EXPECT_EQ(ibv_start_poll(extended, &attr), ENOENT);
  complete(qp, 2);
  int error = ENOENT;
  (void)soon([&] { return (error = ibv_start_poll(extended, &attr)) != ENOENT; });
  ASSERT_EQ(error, 0);
  EXPECT_EQ(extended->status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(ibv_wc_read_qp_num(extended), qp->qp_num);
  while (ibv_next_poll(extended) == ENOENT) std::this_thread::yield();
  EXPECT_EQ(ibv_wc_read_opcode(extended), IBV_WC_RECV);
  EXPECT_EQ(ibv_next_poll(extended), ENOENT);
  ibv_end_poll(extended);
}

}  // namespace
}  // namespace gdr::test

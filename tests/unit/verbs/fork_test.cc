// A process that forks while it has a device open.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <tuple>
#include <utility>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class Fork : public VerbsTest {
 protected:
  void SetUp() override {
    VerbsTest::SetUp();
    source_ = register_bytes(from_);
    target_ = register_bytes(to_);
    a_ = create_qp(IBV_QPT_RC);
    b_ = create_qp(IBV_QPT_RC);
    connect(a_, b_);
  }
  void TearDown() override {
    destroy();
    VerbsTest::TearDown();
  }

  // 0, or the number of the step that failed.
  int destroy() {
    if (ibv_destroy_qp(a_) != 0 || ibv_destroy_qp(b_) != 0) return 1;
    if (ibv_dereg_mr(source_) != 0 || ibv_dereg_mr(target_) != 0) return 2;
    if (ibv_destroy_cq(cq_) != 0) return 3;
    if (ibv_dealloc_pd(pd_) != 0) return 4;
    return 0;
  }

  void write_through() {
    std::fill(to_.begin(), to_.end(), std::uint8_t{0});
    ibv_sge segment = segment_of(source_);
    ibv_send_wr request = write_request(&segment, address_of(to_.data()), target_->rkey);
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(a_, &request, &bad), 0);
    ASSERT_EQ(wait_for_completion().status, IBV_WC_SUCCESS);
    EXPECT_EQ(to_, from_);
  }

  // Runs `body` in a child and gives its exit status; a child that hangs is ended by a signal.
  template <typename Body>
  static int in_child(const Body& body) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(600);
      body();
      _exit(::testing::Test::HasFailure() ? 99 : 0);
    }
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return status;
  }

  std::vector<std::uint8_t> from_ = std::vector<std::uint8_t>(4096, 0x5a);
  std::vector<std::uint8_t> to_ = std::vector<std::uint8_t>(4096);
  ibv_mr* source_ = nullptr;
  ibv_mr* target_ = nullptr;
  ibv_qp* a_ = nullptr;
  ibv_qp* b_ = nullptr;
};

TEST_F(Fork, ChildDestroysWhatItInheritedAndTheParentGoesOn) {
  EXPECT_EQ(in_child([this] {
              ASSERT_EQ(destroy(), 0);
              ASSERT_EQ(ibv_close_device(context_), 0);
            }),
            0);
  write_through();
}

TEST_F(Fork, ChildCannotPostToWhatItInherited) {
  EXPECT_EQ(in_child([this] {
              ibv_sge segment = segment_of(source_);
              ibv_send_wr request = write_request(&segment, address_of(to_.data()), target_->rkey);
              ibv_send_wr* bad = nullptr;
              EXPECT_NE(ibv_post_send(a_, &request, &bad), 0);
              EXPECT_EQ(bad, &request);
              ibv_qp* fresh = create_qp(IBV_QPT_UD);
              ASSERT_NE(fresh, nullptr);
              ASSERT_EQ(to_init(fresh), 0);
              EXPECT_EQ(to_rtr(fresh, 0), EIO);
              EXPECT_EQ(ibv_destroy_qp(fresh), 0);
            }),
            0);
  write_through();
}

TEST_F(Fork, ChildOpensTheDeviceAfreshAndClosesTheInheritedOne) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer knows no threads in the child of a process with threads";
#endif
  EXPECT_EQ(in_child([this] {
              const auto inherited = [this] {
                ASSERT_EQ(destroy(), 0);
                ASSERT_EQ(ibv_close_device(context_), 0);
              };
              inherited();
              SetUp();
              ASSERT_FALSE(HasFailure());
              write_through();
              TearDown();
            }),
            0);
  write_through();
}

// Whatever the other threads held at that moment.
TEST_F(Fork, ChildIsFineWhileOtherThreadsPostAndRegister) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer knows no threads in the child of a process with threads";
#endif
#if defined(__SANITIZE_ADDRESS__) && defined(__GNUC__) && __GNUC__ < 14
  GTEST_SKIP() << "the address sanitizer of GCC before 14 leaves its allocator locked in the child";
#endif
  ibv_pd* const others = ibv_alloc_pd(context_);
  ASSERT_NE(others, nullptr);
  std::atomic<bool> stop{false};
  std::thread registering([&] {
    std::vector<std::uint8_t> bytes(4096);
    while (!stop) {
      ibv_mr* mr = ibv_reg_mr(others, bytes.data(), bytes.size(), kAllAccess);
      ibv_qp_init_attr init = attributes(IBV_QPT_RC);
      ibv_qp* qp = ibv_create_qp(others, &init);
      if (qp != nullptr) ibv_destroy_qp(qp);
      if (mr != nullptr) ibv_dereg_mr(mr);
    }
  });
  std::thread allocating([&] {
    while (!stop) ibv_dealloc_pd(ibv_alloc_pd(context_));
  });
  std::thread posting([&] {
    ibv_sge segment = segment_of(source_);
    ibv_send_wr request = write_request(&segment, address_of(to_.data()), target_->rkey);
    request.send_flags = 0;
    ibv_send_wr* bad = nullptr;
    while (!stop) (void)ibv_post_send(a_, &request, &bad);
  });
  for (int i = 0; i < 50 && !HasFailure(); ++i) {
    EXPECT_EQ(in_child([this] {
                ibv_destroy_qp(a_);
                ibv_destroy_qp(b_);
                ASSERT_EQ(ibv_dereg_mr(source_), 0);
                context_ = open_device(0);
                ASSERT_NE(context_, nullptr);
              }),
              0);
  }
  stop = true;
  registering.join();
  allocating.join();
  posting.join();
  EXPECT_EQ(ibv_dealloc_pd(others), 0);
}

// They are counted by descriptors that both processes have.
TEST_F(Fork, ChildThatDestroysQueuesTakesNoEventFromItsParent) {
  ibv_comp_channel* const channel = ibv_create_comp_channel(context_);
  ASSERT_NE(channel, nullptr);
  ibv_cq* const without = cq_;
  cq_ = ibv_create_cq(context_, 64, nullptr, channel, 0);
  ASSERT_NE(cq_, nullptr);
  ASSERT_EQ(ibv_req_notify_cq(cq_, 0), 0);
  ibv_qp* const a = std::exchange(a_, create_qp(IBV_QPT_RC));
  ibv_qp* const b = std::exchange(b_, create_qp(IBV_QPT_RC));
  connect(a_, b_);
  write_through();
  EXPECT_EQ(in_child([&] {
              ASSERT_EQ(ibv_destroy_qp(a_), 0);
              ASSERT_EQ(ibv_destroy_qp(b_), 0);
              ASSERT_EQ(ibv_destroy_cq(cq_), 0);
              ASSERT_EQ(ibv_destroy_comp_channel(channel), 0);
            }),
            0);
  pollfd waiting{.fd = channel->fd, .events = POLLIN, .revents = 0};
  ASSERT_EQ(poll(&waiting, 1, 0), 1);
  ibv_cq* queue = nullptr;
  void* its = nullptr;
  ASSERT_EQ(ibv_get_cq_event(channel, &queue, &its), 0);
  EXPECT_EQ(queue, cq_);
  // What the program has not acknowledged here is not awaited there.
  EXPECT_EQ(in_child([&] {
              ASSERT_EQ(ibv_destroy_qp(a_), 0);
              ASSERT_EQ(ibv_destroy_qp(b_), 0);
              ASSERT_EQ(ibv_destroy_cq(cq_), 0);
            }),
            0);
  ibv_ack_cq_events(queue, 1);
  EXPECT_EQ(ibv_destroy_qp(a_), 0);
  EXPECT_EQ(ibv_destroy_qp(b_), 0);
  EXPECT_EQ(ibv_destroy_cq(cq_), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
  std::tie(a_, b_, cq_) = std::tie(a, b, without);
}

}  // namespace
}  // namespace gdr::test

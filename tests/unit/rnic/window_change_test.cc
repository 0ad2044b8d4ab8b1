#include "rnic/delivery/window_change.h"

#include "adapter_fixture.h"

namespace gdr::rnic {
namespace {

using Went = WindowChange::Went;

class WindowChangeTest : public AdapterTest {
 protected:
  void SetUp() override {
    AdapterTest::SetUp();
    qp_ = queue_pair(IBV_QPT_RC);
    bring_to(*qp_, IBV_QPS_RTS);
    auto region = adapter_->register_memory(reinterpret_cast<std::uint64_t>(memory_),
                                            {.iova = reinterpret_cast<std::uint64_t>(memory_),
                                             .length = sizeof memory_,
                                             .access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND,
                                             .protection_domain = domain_});
    ASSERT_TRUE(region);
    region_.lkey = *region;
    auto window = adapter_->create_window(true, domain_);
    ASSERT_TRUE(window);
    window_.handle = window_.rkey = *window;
    window_.type = IBV_MW_TYPE_2;
  }
  void TearDown() override {
    adapter_->destroy_queue_pair(*qp_);
    adapter_->destroy_window(window_.handle);
    EXPECT_TRUE(adapter_->deregister(region_.lkey));
  }

  void post_bind(std::uint64_t length) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_BIND_MW;
    request.bind_mw.mw = &window_;
    request.bind_mw.rkey = ibv_inc_rkey(window_.rkey);
    request.bind_mw.bind_info = {&region_, reinterpret_cast<std::uint64_t>(memory_), length,
                                 IBV_ACCESS_REMOTE_READ};
    const ibv_send_wr* bad = nullptr;
    ASSERT_EQ(qp_->post_send(&request, &bad), 0);
  }
  bool is_bound() {
    return is_window_of(adapter_->segment(), window_.rkey, domain_, qp_->number());
  }

  std::shared_ptr<QueuePair> qp_;
  WindowChange change_;
  ibv_mr region_{};
  ibv_mw window_{};
  alignas(8) std::byte memory_[64]{};
};

TEST_F(WindowChangeTest, BindsAtOnceWhenNobodyCopies) {
  post_bind(sizeof memory_);
  EXPECT_EQ(change_.go_on(*adapter_, *qp_), Went::kDone);
  EXPECT_TRUE(is_bound());
}

TEST_F(WindowChangeTest, RefusesMoreThanItsRegion) {
  post_bind(sizeof memory_ + 1);
  EXPECT_EQ(change_.go_on(*adapter_, *qp_), Went::kRefused);
  EXPECT_FALSE(is_bound());
}

TEST_F(WindowChangeTest, WaitsForWhoeverHoldsAResponder) {
  post_bind(sizeof memory_);
  std::uint64_t word = 0;
  const Token other = make_token(4, 1);
  ASSERT_EQ(try_lock(qp_->shared().responder, other, liveness_, kToken, &word), Taken::kFree);
  EXPECT_EQ(change_.go_on(*adapter_, *qp_), Went::kWaits);
  EXPECT_FALSE(is_bound());
  unlock(qp_->shared().responder);
  EXPECT_EQ(change_.go_on(*adapter_, *qp_), Went::kDone);
  EXPECT_TRUE(is_bound());
}

// Whoever asked for that copy may be dead, and then no lock tells of it.
TEST_F(WindowChangeTest, WaitsForTheCopyThatTheServiceThreadIsAt) {
  post_bind(sizeof memory_);
  path_.copies = 7;  // odd: it is at one
  EXPECT_EQ(change_.go_on(*adapter_, *qp_), Went::kWaits);
  EXPECT_EQ(change_.go_on(*adapter_, *qp_), Went::kWaits);
  path_.copies = 9;  // at the next one, which has found the key gone
  EXPECT_EQ(change_.go_on(*adapter_, *qp_), Went::kDone);
  EXPECT_TRUE(is_bound());
}

}  // namespace
}  // namespace gdr::rnic

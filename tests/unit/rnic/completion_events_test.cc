// When a completion queue tells that something has come.
#include "completion_queue_fixture.h"
#include "soon.h"

namespace gdr::rnic {
namespace {

TEST_F(CompletionQueueTest, NotifiesOnceForEachArming) {
  push(0);
  EXPECT_EQ(notifications_, 0);
  (void)taken();
  queue_->request_notification(false);
  push(1), push(2);
  EXPECT_EQ(notifications_, 1);
  queue_->request_notification(false);
  EXPECT_EQ(notifications_, 1);  // a poll takes them now
  push(3);
  EXPECT_EQ(notifications_, 2);
}

TEST_F(CompletionQueueTest, NotifiesOfWhatCameBetweenThePollAndTheArming) {
  push(0);
  queue_->request_notification(false);
  EXPECT_EQ(notifications_, 1);
  EXPECT_EQ(taken(), (Ids{0}));
  push(1);
  queue_->request_notification(false);
  EXPECT_EQ(notifications_, 2);
  EXPECT_EQ(taken(), (Ids{1}));
  queue_->request_notification(true);
  push(2);
  EXPECT_EQ(notifications_, 2);  // not solicited
  queue_->request_notification(true);
  EXPECT_EQ(notifications_, 2);
}

TEST_F(CompletionQueueTest, NotifiesOfWhatAPollLeavesBehindTheArming) {
  queue_->request_notification(false);
  push(0), push(1), push(2);
  EXPECT_EQ(notifications_, 1);
  queue_->request_notification(false);
  SharedCompletion two[2];
  EXPECT_EQ(queue_->poll(two), 2);
  EXPECT_EQ(notifications_, 2);
  EXPECT_EQ(queue_->poll(two), 1);
  queue_->request_notification(false);
  EXPECT_EQ(notifications_, 2);
}

// Whoever pushes is slower than the program, which another event has woken.
TEST_F(CompletionQueueTest, NotifiesOfWhatFollowsACompletionThatWasTakenBeforeItsEventWasTold) {
  queue_->request_notification(false);
  ASSERT_EQ(push_completion(adapter_->segment(), queue_->index(), entry(0), {}, false,
                            adapter_->token(), adapter_->liveness()),
            Push::kEventDue);
  EXPECT_EQ(taken(), (Ids{0}));
  queue_->deliver_event();
  EXPECT_EQ(notifications_, 1);
  push(1);
  queue_->request_notification(false);
  EXPECT_EQ(notifications_, 2);
}

TEST_F(CompletionQueueTest, NotifiesOfWhatAPollLeftBeforeTheArming) {
  queue_->request_notification(false);
  push(0), push(1);
  SharedCompletion one[1];
  EXPECT_EQ(queue_->poll(one), 1);
  EXPECT_EQ(notifications_, 1);
  queue_->request_notification(false);
  EXPECT_EQ(notifications_, 2);
}

TEST_F(CompletionQueueTest, ArmedForSolicitedOnesIgnoresOthersButNotErrors) {
  queue_->request_notification(true);
  push(0);
  EXPECT_EQ(notifications_, 0);
  queue_->push(entry(1), true);
  EXPECT_EQ(notifications_, 1);
  queue_->request_notification(true);
  queue_->push(entry(2, 1, IBV_WC_WR_FLUSH_ERR), false);
  EXPECT_EQ(notifications_, 2);
}

TEST_F(CompletionQueueTest, ArmedForAllIsNotWeakenedByALaterArmingForSolicitedOnes) {
  queue_->request_notification(false);
  queue_->request_notification(true);
  push(0);
  EXPECT_EQ(notifications_, 1);
}

TEST_F(CompletionQueueTest, WaitsWithItsEventForTheCountThatModerationAsksFor) {
  queue_->moderate(3, 3600 * kSecond);
  queue_->request_notification(false);
  push(0), push(1);
  EXPECT_TRUE(adapter_->serve());  // its timer runs
  EXPECT_EQ(notifications_, 0);
  push(2);
  EXPECT_EQ(notifications_, 1);
  push(3);
  EXPECT_EQ(notifications_, 1);  // not armed
  queue_->request_notification(false);
  push(4), push(5), push(6);
  EXPECT_EQ(notifications_, 2);
  EXPECT_FALSE(adapter_->serve());
}

TEST_F(CompletionQueueTest, WaitsNoLongerThanThePeriodThatModerationAsksFor) {
  queue_->moderate(100, 20 * kMillisecond);
  queue_->request_notification(false);
  const Nanoseconds begun = now();
  push(0);
  while (adapter_->serve() && now() - begun < test::kLastResort) sched_yield();
  EXPECT_EQ(notifications_, 1);
  EXPECT_GE(now() - begun, 20 * kMillisecond);
  queue_->request_notification(false);
  push(1);
  queue_->moderate(100, 0);  // no period is no moderation, also of what is held back already
  adapter_->serve();
  EXPECT_EQ(notifications_, 2);
  queue_->request_notification(false);
  push(2);
  EXPECT_EQ(notifications_, 3);
}

TEST_F(CompletionQueueTest, TellsItsPathOfTheFirstCompletionThatModerationHoldsBack) {
  queue_->moderate(3, 3600 * kSecond);
  const auto push_one = [&] { return queue_->push(entry(1), false); };
  EXPECT_EQ(push_one(), Push::kPushed);  // nobody waits
  (void)taken();
  queue_->request_notification(false);
  EXPECT_EQ(push_one(), Push::kHeld);
  EXPECT_EQ(push_one(), Push::kPushed);
  EXPECT_EQ(push_one(), Push::kEventDue);
}

}  // namespace
}  // namespace gdr::rnic

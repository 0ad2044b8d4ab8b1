// After a region is deregistered, a queue pair destroyed or moved to error, no byte changes any
// more, whatever the initiator had begun.
#include <gtest/gtest.h>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 8 << 20;
constexpr std::uint8_t kMark = 0x5a;
constexpr int kRounds = 20;

using Stop = std::function<void(TargetSide)>;

// The target stops a stream of writes, marks its memory at once, and looks whether the mark stays.
void target(Wire& wire, int delay, const Stop& stop) {
  be_target(wire, {.bytes = kBytes}, [&](TargetSide t) {
    t.wire.meet();
    usleep(static_cast<unsigned>(delay));
    stop(t);
    t.memory.fill(kMark);
    usleep(20'000);
    const std::int64_t changed = t.memory.first_not(kMark, 0, kBytes);
    require(changed == -1, "no byte changes afterwards; byte " + std::to_string(changed) + " did");
    t.wire.meet();
  });
}

void initiate(Child& child, ibv_wc_status expected) {
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill(0x11);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  Patience patience;
  if (expected == IBV_WC_RETRY_EXC_ERR)
    patience = {.timeout = 10, .retry_count = 1};  // 4 ms, twice
  const Remote remote = connect_to_target(side, qp, child.wire(), patience);
  child.wire().meet();
  ibv_wc completion{};
  do {
    side.write(qp, memory, 0, kBytes, remote);
    completion = side.completion();
  } while (completion.status == IBV_WC_SUCCESS);
  EXPECT_EQ(completion.status, expected) << ibv_wc_status_str(completion.status);
  child.wire().meet();
  child.finish();
}

void run(const Stop& stop, ibv_wc_status expected) {
  for (int round = 0; round < kRounds; ++round) {
    Child child([&](Wire& wire) { target(wire, 2000 + 377 * round, stop); });
    initiate(child, expected);
    if (::testing::Test::HasFailure()) return;
  }
}

void deregister(TargetSide t) { t.memory.deregister(); }
void move_away(TargetSide t) {
  static std::uint8_t other[4096];
  require(ibv_rereg_mr(t.memory.region(), IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, other,
                       sizeof other, 0) == 0,
          "re-registered");
}
void withdraw_rights(TargetSide t) {
  require(ibv_rereg_mr(t.memory.region(), IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0,
                       IBV_ACCESS_LOCAL_WRITE) == 0,
          "without remote rights");
}
void destroy(TargetSide t) { require(ibv_destroy_qp(t.qp) == 0, "destroyed"); }
void to_error(TargetSide t) { require(Side::move_to(t.qp, IBV_QPS_ERR) == 0, "to ERR"); }
void to_reset(TargetSide t) { require(Side::move_to(t.qp, IBV_QPS_RESET) == 0, "to RESET"); }

TEST(Quiescence, HoldsAfterDeregistration) { run(deregister, IBV_WC_REM_ACCESS_ERR); }
TEST(Quiescence, HoldsAfterReregistrationOfOtherMemory) { run(move_away, IBV_WC_REM_ACCESS_ERR); }
TEST(Quiescence, HoldsAfterReregistrationWithoutRemoteRights) {
  run(withdraw_rights, IBV_WC_REM_ACCESS_ERR);
}
TEST(Quiescence, HoldsAfterAQueuePairIsDestroyed) { run(destroy, IBV_WC_RETRY_EXC_ERR); }
TEST(Quiescence, HoldsAfterAQueuePairIsMovedToError) { run(to_error, IBV_WC_RETRY_EXC_ERR); }
TEST(Quiescence, HoldsAfterAQueuePairIsReset) { run(to_reset, IBV_WC_RETRY_EXC_ERR); }

// The same where the target's own service thread does the copying.
TEST(OpaqueQuiescence, HoldsAfterDeregistration) {
  run_opaque([] { run(deregister, IBV_WC_REM_ACCESS_ERR); });
}
TEST(OpaqueQuiescence, HoldsAfterReregistrationOfOtherMemory) {
  run_opaque([] { run(move_away, IBV_WC_REM_ACCESS_ERR); });
}
TEST(OpaqueQuiescence, HoldsAfterAQueuePairIsDestroyed) {
  run_opaque([] { run(destroy, IBV_WC_RETRY_EXC_ERR); });
}
TEST(OpaqueQuiescence, HoldsAfterAQueuePairIsMovedToError) {
  run_opaque([] { run(to_error, IBV_WC_RETRY_EXC_ERR); });
}
TEST(OpaqueQuiescence, HoldsAfterAQueuePairIsReset) {
  run_opaque([] { run(to_reset, IBV_WC_RETRY_EXC_ERR); });
}

}  // namespace
}  // namespace gdr::test

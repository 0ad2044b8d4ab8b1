// A target that dies: the initiator's requests fail within a bounded time.
#include <gtest/gtest.h>
#include <signal.h>

#include "base/clock.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr Nanoseconds kBound = 20 * kSecond;

void sleep_until_killed(TargetSide t) {
  t.wire.meet();
  t.wire.receive<char>();
}

TEST(Death, OfTheTargetBeforeAWriteIsRetryExceeded) {
  Child child([](Wire& wire) { be_target(wire, {}, sleep_until_killed); });
  Side side;
  Memory& memory = side.memory(1 << 20);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.write(qp, memory, 0, 4096, remote);
  side.expect(IBV_WC_SUCCESS);
  child.kill();
  const Nanoseconds start = now();
  side.write(qp, memory, 0, 4096, remote);
  side.expect(IBV_WC_RETRY_EXC_ERR);
  EXPECT_LT(now() - start, kBound);
  side.write(qp, memory, 0, 4096, remote, 0, 9);
  EXPECT_EQ(side.expect(IBV_WC_WR_FLUSH_ERR).wr_id, 9u);
}

// A NIC sends again and again before it gives up: until then the program can read its last
// messages.
TEST(Death, OfTheTargetIsNotToldAtOnce) {
  Child child([](Wire& wire) { be_target(wire, {}, sleep_until_killed); });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  const Nanoseconds start = now();
  child.kill();
  side.write(qp, memory, 0, 64, remote);
  side.expect(IBV_WC_RETRY_EXC_ERR);
  EXPECT_GE(now() - start, 40 * kMillisecond);
  EXPECT_LT(now() - start, kBound);
}

TEST(Death, TargetsDeathUnderAStreamOfWritesIsRetryExceeded) {
  for (int round = 0; round < 5; ++round) {
    Child child([](Wire& wire) { be_target(wire, {.bytes = 8 << 20}, sleep_until_killed); });
    Side side;
    Memory& memory = side.memory(8 << 20);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    const Remote remote = connect_to_target(side, qp, child.wire());
    child.wire().meet();
    const pid_t pid = child.pid();
    Child killer([pid, round](Wire&) {
      usleep(5'000u + 1'700u * static_cast<unsigned>(round));
      ::kill(pid, SIGKILL);
    });
    ibv_wc completion{};
    Nanoseconds last = now();
    do {
      last = now();
      side.write(qp, memory, 0, 8 << 20, remote);
      completion = side.completion();
    } while (completion.status == IBV_WC_SUCCESS);
    EXPECT_EQ(completion.status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_LT(now() - last, kBound);
    killer.finish();
  }
}

TEST(Death, OfTheTargetEndsTheWaitForItsReceive) {
  Child child([](Wire& wire) { be_target(wire, {}, sleep_until_killed); });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.send(qp, memory, 0, 64);
  side.expect_quiet();
  const Nanoseconds start = now();
  child.kill();
  side.expect(IBV_WC_RETRY_EXC_ERR);
  EXPECT_LT(now() - start, kBound);
}

// Stopped before the two have met: as on a network, an acknowledgement that is late.
TEST(Death, TargetStoppedAtFirstContactIsNotTakenForDead) {
  Child target([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(4096);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(side.endpoint(qp));
    wire.send(memory.remote());
    side.connect(qp, wire.receive<Endpoint>());
    wire.meet();
    wire.meet();
    require(memory.first_not(0x77, 0, 64) == -1, "the write has arrived");
  });
  const auto endpoint = target.wire().receive<Endpoint>();
  const auto remote = target.wire().receive<Remote>();
  ASSERT_EQ(::kill(target.pid(), SIGSTOP), 0);
  Side side;  // calls at the target's slot: nobody answers
  Memory& memory = side.memory(4096);
  memory.fill(0x77);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  side.connect(qp, endpoint, {.timeout = 18, .retry_count = 7});  // 1 s, eight times
  side.write(qp, memory, 0, 64, remote);
  side.expect_quiet(700);
  ASSERT_EQ(::kill(target.pid(), SIGCONT), 0);
  target.wire().send(side.endpoint(qp));
  side.expect(IBV_WC_SUCCESS);
  target.wire().meet();
  target.wire().meet();
  target.finish();
}

}  // namespace
}  // namespace gdr::test

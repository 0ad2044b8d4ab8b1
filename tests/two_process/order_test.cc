// Nothing overtakes: what waits holds back what follows it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "connection.h"

namespace gdr::test {
namespace {

void check_held_back() {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(0);
      t.wire.meet();
      t.wire.meet();  // both are posted now
      usleep(50'000);
      require(t.memory.first_not(0, 0, 8192) == -1, "the write waits behind the send");
      t.side.receive(t.qp, {t.memory.segment(0, 4096)}, 5);
      t.side.expect(IBV_WC_SUCCESS);
      t.wire.meet();
      require(t.memory.first_not_pattern(1, 0, 100) == -1, "the send's bytes");
      require(t.memory.first_not_pattern(1, 4096, 100) == -1, "the write's bytes");
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  memory.fill_pattern(1, 0, 100);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.send(qp, memory, 0, 100, 1);
  side.write(qp, memory, 0, 100, remote, 4096, 2);
  side.expect_quiet(20);  // a send completes only when it is matched
  child.wire().meet();
  EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, 1u);
  EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, 2u);
  child.wire().meet();
  child.finish();
}

TEST(Order, ASendWithoutAReceiveHoldsBackTheWriteBehindIt) { check_held_back(); }
TEST(Order, HoldsTowardsAnOpaqueProcess) { run_opaque(check_held_back); }

TEST(Order, MessagesArriveInTheOrderTheyWereSentWhoeverIsFaster) {
  constexpr std::uint64_t kMessages = 20'000;
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      std::uint64_t posted = 0;
      const auto post = [&] {
        t.side.receive(t.qp, {t.memory.segment(posted % 64 * 8, 8)}, posted);
        ++posted;
      };
      t.wire.meet();
      while (posted < 8) post();
      for (std::uint64_t i = 0; i < kMessages; ++i) {
        const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
        require(completion.wr_id == i && completion.imm_data == static_cast<std::uint32_t>(i),
                "message " + std::to_string(i) + " comes next");
        std::uint64_t value = 0;
        __builtin_memcpy(&value, t.memory.bytes() + i % 64 * 8, 8);
        require(value == i, "with its own bytes");
        if (posted < kMessages) post();
      }
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  std::uint64_t sent = 0, done = 0;
  while (done < kMessages) {
    if (sent < kMessages && sent - done < 32) {
      __builtin_memcpy(memory.bytes() + sent % 64 * 8, &sent, 8);
      side.send(qp, memory, sent % 64 * 8, 8, sent, IBV_WR_SEND_WITH_IMM);
      ++sent;
    } else {
      ASSERT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, done++);
    }
  }
  child.finish();
}

// The sender is stopped as soon as its receiver has the message, and goes on when the answer is
// there.
void check_answered_at_once(ibv_qp_type type, ibv_wr_opcode opcode) {
#ifndef GDR_FAULT_HOOKS
  GTEST_SKIP() << "built without fault hooks";
#endif
  Child child([=](Wire& wire) {
    setenv("GDR_STOP", "receive_pushed:1", 1);
    be_target(wire, {.type = type}, [opcode](TargetSide t) {
      const auto to = t.wire.receive<Remote>();
      t.side.receive(t.qp, {t.memory.segment(0, 4096)}, 2);
      t.wire.meet();
      if (opcode == IBV_WR_SEND) {
        t.side.send(t.qp, t.memory, 0, 100, 1);
      } else {
        t.side.write(t.qp, t.memory, 0, 100, to, 0, 1, opcode);
      }
      require(t.side.completion().wr_id == 1, "the message's own completion comes first");
      require(t.side.completion().wr_id == 2, "then the answer");
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(type);
  connect_to_target(side, qp, child.wire());
  child.wire().send(memory.remote());
  side.receive(qp, {memory.segment(0, 4096)}, 3);
  child.wire().meet();
  siginfo_t stopped{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &stopped, WSTOPPED | WNOWAIT), 0);
  ASSERT_EQ(stopped.si_status, SIGSTOP);
  EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, 3u);
  side.send(qp, memory, 0, 100, 4);
  usleep(100'000);
  kill(child.pid(), SIGCONT);
  EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, 4u);
  child.finish();
}

TEST(Order, OwnCompletionOfAMessageComesBeforeItsAnswer) {
  check_answered_at_once(IBV_QPT_RC, IBV_WR_SEND);
}
TEST(Order, OwnCompletionOfAWriteWithImmediateComesBeforeItsAnswer) {
  check_answered_at_once(IBV_QPT_RC, IBV_WR_RDMA_WRITE_WITH_IMM);
}
TEST(Order, OwnCompletionOfAnUnreliableMessageComesBeforeItsAnswer) {
  check_answered_at_once(IBV_QPT_UC, IBV_WR_SEND);
}

TEST(Order, AReceiverThatStaysAwayIsRnrRetryExceeded) {
  Child child([](Wire& wire) {
    // 20.48 ms is code 22 of the RNR timer.
    be_target(wire, {.patience = {.minimum_rnr_timer = 22}}, [](TargetSide t) { t.wire.meet(); });
  });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire(), {.rnr_retry = 3});
  const Nanoseconds start = now();
  side.send(qp, memory, 0, 8, 1);
  side.send(qp, memory, 0, 8, 2);
  EXPECT_EQ(side.expect(IBV_WC_RNR_RETRY_EXC_ERR).wr_id, 1u);
  const Nanoseconds waited = now() - start;
  EXPECT_GE(waited, 3 * 20 * kMillisecond);
  EXPECT_LT(waited, 20 * kSecond);
  EXPECT_EQ(side.expect(IBV_WC_WR_FLUSH_ERR).wr_id, 2u);
  child.wire().meet();
  child.finish();
}

TEST(Order, SixtyFourQueuePairsAtOnceDoNotMixTheirBytes) {
  constexpr std::size_t kPairs = 64, kBytes = 4096;
  Child child([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(kPairs * kBytes);
    wire.send(memory.remote());
    for (std::size_t i = 0; i < kPairs; ++i) {
      ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
      wire.send(side.endpoint(qp));
      side.connect(qp, wire.receive<Endpoint>());
      wire.meet();
    }
    wire.meet();
    for (std::size_t i = 0; i < kPairs; ++i) {
      require(memory.first_not_pattern(i, i * kBytes, kBytes) == -1, "each has its own bytes");
    }
  });
  Side side;
  Memory& memory = side.memory(kPairs * kBytes);
  const auto remote = child.wire().receive<Remote>();
  std::vector<ibv_qp*> pairs;
  for (std::size_t i = 0; i < kPairs; ++i) {
    memory.fill_pattern(i, i * kBytes, kBytes);
    ibv_qp* qp = pairs.emplace_back(side.queue_pair(IBV_QPT_RC));
    const auto endpoint = child.wire().receive<Endpoint>();
    child.wire().send(side.endpoint(qp));
    side.connect(qp, endpoint);
    child.wire().meet();
  }
  for (int round = 0; round < 8; ++round) {
    for (std::size_t i = 0; i < kPairs; ++i) {
      side.write(pairs[i], memory, i * kBytes, kBytes, remote, i * kBytes, i);
    }
    for (std::size_t i = 0; i < kPairs; ++i) side.expect(IBV_WC_SUCCESS);
  }
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

// A shared receive queue whose receives several processes take at once.
#include <gtest/gtest.h>

#include <set>

#include "base/clock.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kStride = 4096;
constexpr std::size_t kReceives = 128;

ibv_srq* shared_queue(Side& side, std::uint32_t requests = kReceives) {
  ibv_srq_init_attr init{};
  init.attr = {.max_wr = requests, .max_sge = 1, .srq_limit = 0};
  ibv_srq* srq = ibv_create_srq(side.domain(), &init);
  require(srq != nullptr, "a shared receive queue");
  return srq;
}

// An initiator: connects `qp` over its wire and then does `body`.
void be_initiator(Wire& wire, const std::function<void(Side&, Memory&, ibv_qp*)>& body) {
  Side side;
  Memory& memory = side.memory(1 << 20);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, wire);
  body(side, memory, qp);
}

// The other end of it, in the process of the test.
ibv_qp* accept(Side& side, Memory& memory, ibv_srq* srq, Wire& wire, ibv_cq* queue = nullptr) {
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, false, queue, srq);
  wire.send(side.endpoint(qp));
  wire.send(memory.remote());
  side.connect(qp, wire.receive<Endpoint>());
  wire.meet();
  return qp;
}

// Sizes on both sides of what a completion carries.
std::size_t size_of(std::uint64_t i) { return 8 + i * 37 % 700; }

void send_many(Side& side, Memory& memory, ibv_qp* qp, std::uint64_t seed, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    memory.fill_pattern(seed + i, 0, size_of(i));
    side.send(qp, memory, 0, size_of(i), i, IBV_WR_SEND_WITH_IMM);
    side.expect(IBV_WC_SUCCESS);
  }
}

TEST(SharedReceives, GoToOneOfSeveralProcessesEach) {
  constexpr std::uint64_t kInitiators = 3, kMessages = 2000;
  std::vector<std::unique_ptr<Child>> children;
  for (std::uint64_t who = 0; who < kInitiators; ++who) {
    children.push_back(std::make_unique<Child>([who](Wire& wire) {
      be_initiator(wire, [&](Side& side, Memory& memory, ibv_qp* qp) {
        wire.meet();
        send_many(side, memory, qp, who << 32, kMessages);
        wire.meet();
      });
    }));
  }
  Side side;
  Memory& memory = side.memory(kReceives * kStride);
  ibv_srq* srq = shared_queue(side);
  std::vector<std::uint32_t> numbers;
  for (auto& child : children) numbers.push_back(accept(side, memory, srq, child->wire())->qp_num);
  const auto post = [&](std::uint64_t id) {
    side.receive(srq, {memory.segment(id * kStride, kStride)}, id);
  };
  for (std::uint64_t id = 0; id < kReceives; ++id) post(id);
  for (auto& child : children) child->wire().meet();
  std::vector<std::uint64_t> next(kInitiators);
  for (std::uint64_t i = 0; i < kInitiators * kMessages; ++i) {
    const ibv_wc completion = side.expect(IBV_WC_SUCCESS);
    const auto who = static_cast<std::uint64_t>(
        std::find(numbers.begin(), numbers.end(), completion.qp_num) - numbers.begin());
    ASSERT_LT(who, kInitiators);
    ASSERT_EQ(completion.imm_data, next[who]) << "of one sender in its order";
    ASSERT_EQ(completion.byte_len, size_of(next[who]));
    ASSERT_EQ(memory.first_not_pattern((who << 32) + next[who], completion.wr_id * kStride,
                                       completion.byte_len),
              -1);
    ++next[who];
    post(completion.wr_id);
  }
  for (auto& child : children) child->wire().meet();
  for (auto& child : children) child->finish();
}

TEST(SharedReceives, WakeEveryProcessThatWaitsForOne) {
  constexpr std::uint64_t kRounds = 20;
  std::vector<std::unique_ptr<Child>> children;
  for (int who = 0; who < 3; ++who) {
    children.push_back(std::make_unique<Child>([](Wire& wire) {
      be_initiator(wire, [&](Side& side, Memory& memory, ibv_qp* qp) {
        for (std::uint64_t i = 0; i < kRounds; ++i) {
          wire.meet();
          send_many(side, memory, qp, i, 1);
        }
      });
    }));
  }
  Side side;
  Memory& memory = side.memory(kStride);
  ibv_srq* srq = shared_queue(side);
  for (auto& child : children) accept(side, memory, srq, child->wire());
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    for (auto& child : children) child->wire().meet();
    side.expect_quiet(5);
    for (std::size_t i = 0; i < children.size(); ++i) {
      side.receive(srq, {memory.segment(0, kStride)}, i);
      ASSERT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, i) << "round " << round;
    }
  }
  for (auto& child : children) child->finish();
}

TEST(SharedReceives, EndTheWaitWithRetryExceededWhenNoneComes) {
  Child child([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(4096);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    connect_to_target(side, qp, wire, {.rnr_retry = 2});
    side.send(qp, memory, 0, 64);
    side.expect(IBV_WC_RNR_RETRY_EXC_ERR);
    wire.meet();
  });
  Side side;
  Memory& memory = side.memory(kStride);
  accept(side, memory, shared_queue(side), child.wire());
  child.wire().meet();
  child.finish();
}

// Killed at any moment of it: each receive is completed, or is still there for another process.
TEST(SharedReceives, AreAllAccountedForWhenAnInitiatorDies) {
  for (unsigned round = 0; round < 8; ++round) {
    Child victim([](Wire& wire) {
      be_initiator(wire, [&](Side& side, Memory& memory, ibv_qp* qp) {
        send_many(side, memory, qp, 1, ~std::uint64_t{0});
      });
    });
    Child survivor([](Wire& wire) {
      be_initiator(wire, [&](Side& side, Memory& memory, ibv_qp* qp) {
        const auto count = wire.receive<std::uint64_t>();
        send_many(side, memory, qp, 1, count);
        wire.meet();
      });
    });
    Side side;
    Memory& memory = side.memory(kReceives * kStride);
    ibv_srq* srq = shared_queue(side);
    ibv_qp* of_victim = accept(side, memory, srq, victim.wire());
    ibv_qp* of_survivor = accept(side, memory, srq, survivor.wire());
    std::set<std::uint64_t> posted;
    const auto post = [&](std::uint64_t id) {
      side.receive(srq, {memory.segment(id * kStride, kStride)}, id);
      ASSERT_TRUE(posted.insert(id).second);
    };
    for (std::uint64_t id = 0; id < kReceives; ++id) post(id);
    const Nanoseconds end = now() + (2 + 3 * round) * kMillisecond;
    while (now() < end) {
      ibv_wc completion{};
      if (ibv_poll_cq(side.queue(), 1, &completion) == 0) continue;
      ASSERT_EQ(posted.erase(completion.wr_id), 1u) << "given out twice";
      post(completion.wr_id);
    }
    victim.kill();
    // Whatever the dead one had taken comes back with the error.
    require(Side::move_to(of_victim, IBV_QPS_ERR) == 0, "to error");
    EXPECT_EQ(side.event(), IBV_EVENT_QP_LAST_WQE_REACHED);
    ibv_wc completion{};
    while (ibv_poll_cq(side.queue(), 1, &completion) == 1) {
      ASSERT_EQ(completion.qp_num, of_victim->qp_num);
      ASSERT_EQ(posted.erase(completion.wr_id), 1u) << "given out twice";
    }
    survivor.wire().send(static_cast<std::uint64_t>(posted.size()));
    while (!posted.empty()) {
      completion = side.expect(IBV_WC_SUCCESS);
      ASSERT_EQ(completion.qp_num, of_survivor->qp_num);
      ASSERT_EQ(posted.erase(completion.wr_id), 1u) << "given out twice";
    }
    survivor.wire().meet();
    survivor.finish();
  }
}

TEST(SharedReceives, RaiseTheirLimitThroughAnotherProcess) {
  Child child([](Wire& wire) {
    be_initiator(wire, [&](Side& side, Memory& memory, ibv_qp* qp) {
      wire.meet();
      send_many(side, memory, qp, 0, 2);
      wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kStride);
  ibv_srq* srq = shared_queue(side);
  accept(side, memory, srq, child.wire());
  for (std::uint64_t i = 0; i < 4; ++i) side.receive(srq, {memory.segment(0, kStride)}, i);
  ibv_srq_attr attr{};
  attr.srq_limit = 3;
  ASSERT_EQ(ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
  child.wire().meet();
  EXPECT_EQ(side.event(), IBV_EVENT_SRQ_LIMIT_REACHED);
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

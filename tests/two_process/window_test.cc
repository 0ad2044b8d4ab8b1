// Memory windows between two processes: what they grant, and that nothing moves once they are gone.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 4 << 20, kOffset = 4096, kLength = 1 << 20;
constexpr unsigned kOwnersAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_MW_BIND;

ibv_mw* allocate(Side& side, ibv_mw_type type) {
  ibv_mw* mw = ibv_alloc_mw(side.domain(), type);
  require(mw != nullptr, "a memory window");
  return mw;
}

ibv_wc try_to_bind(TargetSide t, ibv_mw* mw, const ibv_mw_bind_info& info) {
  if (mw->type == IBV_MW_TYPE_1) {
    ibv_mw_bind bind{.wr_id = 1, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
    require(ibv_bind_mw(t.qp, mw, &bind) == 0, "a bind is posted");
  } else {
    ibv_send_wr request{};
    request.opcode = IBV_WR_BIND_MW;
    request.send_flags = IBV_SEND_SIGNALED;
    request.bind_mw = {mw, ibv_inc_rkey(mw->rkey), info};
    t.side.post(t.qp, request, {});
  }
  return t.side.completion();
}

Remote bind(TargetSide t, ibv_mw* mw, unsigned access, std::size_t length = kLength) {
  const ibv_mw_bind_info info{t.memory.region(), t.memory.remote().address + kOffset, length,
                              access};
  const ibv_wc completion = try_to_bind(t, mw, info);
  require(completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_BIND_MW, "bound");
  return {info.addr, info.length, mw->rkey};
}

ibv_wc try_to_invalidate(TargetSide t, std::uint32_t key) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_LOCAL_INV;
  request.send_flags = IBV_SEND_SIGNALED;
  request.invalidate_rkey = key;
  t.side.post(t.qp, request, {});
  return t.side.completion();
}

void invalidate(TargetSide t, std::uint32_t key) {
  const ibv_wc completion = try_to_invalidate(t, key);
  require(completion.status == IBV_WC_SUCCESS && completion.opcode == IBV_WC_LOCAL_INV,
          "invalidated");
}

void check_grants(ibv_mw_type type) {
  Child child([=](Wire& wire) {
    be_target(wire, {.bytes = kBytes, .access = kOwnersAccess}, [=](TargetSide t) {
      t.memory.fill(0x77);
      ibv_mw* mw = allocate(t.side, type);
      t.wire.send(bind(t, mw, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ));
      t.wire.meet();
      for (std::size_t i = 0; i < kLength; ++i) {
        require(t.memory.bytes()[kOffset + i] == pattern(3, i), "byte " + std::to_string(i));
      }
      require(t.memory.first_not(0x77, 0, kOffset) == -1, "nothing before the window");
      require(t.memory.first_not(0x77, kOffset + kLength, 4096) == -1, "nor behind it");
      require(t.side.event() == IBV_EVENT_QP_ACCESS_ERR, "the event of what went beyond");
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill_pattern(3, 0, kLength);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  const auto window = child.wire().receive<Remote>();
  side.write(qp, memory, 0, kLength, window);
  side.expect(IBV_WC_SUCCESS);
  side.read(qp, memory, kLength, kLength, window);
  side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(memory.bytes(), memory.bytes() + kLength, kLength), 0);
  child.wire().meet();
  side.write(qp, memory, 0, 64, window, kLength - 63);
  side.expect(IBV_WC_REM_ACCESS_ERR);
  child.wire().meet();
  child.finish();
}

TEST(Window, OfType1GrantsItsRangeAndNoMore) { check_grants(IBV_MW_TYPE_1); }
TEST(Window, OfType2GrantsNothingToAnotherQueuePair) {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kBytes, .access = kOwnersAccess}, [](TargetSide t) {
      t.memory.fill(0x77);
      ibv_qp* other = t.side.queue_pair(IBV_QPT_RC);
      t.wire.send(t.side.endpoint(other));
      t.side.connect(other, t.wire.receive<Endpoint>());
      t.wire.send(bind(t, allocate(t.side, IBV_MW_TYPE_2), IBV_ACCESS_REMOTE_WRITE));
      require(t.side.event() == IBV_EVENT_QP_ACCESS_ERR, "the other queue pair's event");
      require(t.memory.first_not(0x77, 0, kBytes) == -1, "no byte moves");
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  connect_to_target(side, side.queue_pair(IBV_QPT_RC), child.wire());
  ibv_qp* other = side.queue_pair(IBV_QPT_RC);
  child.wire().send(side.endpoint(other));
  side.connect(other, child.wire().receive<Endpoint>());
  side.write(other, memory, 0, 64, child.wire().receive<Remote>());
  side.expect(IBV_WC_REM_ACCESS_ERR);
  child.wire().meet();
  child.finish();
}
TEST(Window, OfType2GrantsItsRangeAndNoMore) { check_grants(IBV_MW_TYPE_2); }
TEST(Window, GrantsItsRangeWhereTheOwnerCopies) {
  run_opaque([] { check_grants(IBV_MW_TYPE_2); });
}

void check_remote_invalidation() {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kBytes, .access = kOwnersAccess}, [](TargetSide t) {
      ibv_mw* mw = allocate(t.side, IBV_MW_TYPE_2);
      const Remote window = bind(t, mw, IBV_ACCESS_REMOTE_WRITE);
      t.side.receive(t.qp, {t.memory.segment(0, 64)}, 5);
      t.wire.send(window);
      const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
      require(completion.wr_id == 5 && completion.byte_len == 64, "the message");
      require(completion.wc_flags == IBV_WC_WITH_INV, "says that it invalidated");
      require(completion.invalidated_rkey == window.key, "what it invalidated");
      const Remote again = bind(t, mw, IBV_ACCESS_REMOTE_WRITE);  // free again
      require(again.key != window.key, "under another key");
      t.wire.send(again);
      t.wire.meet();
      invalidate(t, again.key);
      t.wire.meet();
      require(t.side.event() == IBV_EVENT_QP_ACCESS_ERR, "its event");
      t.memory.deregister();  // nothing is bound
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  const auto window = child.wire().receive<Remote>();
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_INV;
  request.send_flags = IBV_SEND_SIGNALED;
  request.invalidate_rkey = window.key;
  side.post(qp, request, {memory.segment(0, 64)});
  side.expect(IBV_WC_SUCCESS);
  const auto again = child.wire().receive<Remote>();
  side.write(qp, memory, 0, 64, again);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.wire().meet();
  side.write(qp, memory, 0, 64, again);
  side.expect(IBV_WC_REM_ACCESS_ERR);
  child.finish();
}

TEST(Window, IsInvalidatedByAMessageAndByItsOwner) { check_remote_invalidation(); }
TEST(Window, IsInvalidatedWhereTheOwnerCopies) { run_opaque(check_remote_invalidation); }

TEST(Window, AMessageThatInvalidatesNoWindowFails) {
  Child child([](Wire& wire) {
    be_target(wire, {.access = kOwnersAccess}, [](TargetSide t) {
      t.memory.fill(0x77);
      t.side.receive(t.qp, {t.memory.segment(0, 64)}, 5);
      t.wire.meet();
      require(t.side.expect(IBV_WC_WR_FLUSH_ERR).wr_id == 5, "its receive is flushed");
      require(t.side.event() == IBV_EVENT_QP_ACCESS_ERR, "its event");
      require(t.memory.first_not(0x77, 0, 4096) == -1, "no byte moves");
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_INV;
  request.send_flags = IBV_SEND_SIGNALED;
  request.invalidate_rkey = remote.key;  // a region's
  side.post(qp, request, {memory.segment(0, 64)});
  side.expect(IBV_WC_REM_ACCESS_ERR);
  child.wire().meet();
  child.finish();
}

// The owner takes a window back in the middle of a long write, marks its memory as soon as that is
// complete, and looks whether the mark stays.
void take_back(TargetSide t, int round, ibv_mw_type type) {
  ibv_mw* mw = allocate(t.side, type);
  const std::size_t length = t.memory.size() - kOffset;
  const Remote window = bind(t, mw, IBV_ACCESS_REMOTE_WRITE, length);
  t.wire.send(window);
  t.wire.meet();
  usleep(static_cast<unsigned>(200 + 300 * round));
  const bool binds = type == IBV_MW_TYPE_1;
  const ibv_wc taken =
      binds ? try_to_bind(t, mw, {t.memory.region(), 0, 0, 0}) : try_to_invalidate(t, window.key);
  if (taken.status == IBV_WC_WR_FLUSH_ERR) {
    // The write was broken off, and the queue pair with it.
    require(Side::move_to(t.qp, IBV_QPS_ERR) == 0, "to ERR");
  } else {
    require(taken.status == IBV_WC_SUCCESS, "taken back");
    require(taken.opcode == (binds ? IBV_WC_BIND_MW : IBV_WC_LOCAL_INV), "by what was posted");
  }
  t.memory.fill(0x5a);
  usleep(20'000);
  require(t.memory.first_not(0x5a, 0, t.memory.size()) == -1, "no byte changes afterwards");
}

void check_quiescence(ibv_mw_type type) {
  constexpr std::size_t kLong = 32 << 20;
  for (int round = 0; round < 10; ++round) {
    Child child([=](Wire& wire) {
      be_target(wire, {.bytes = kLong, .access = kOwnersAccess},
                [=](TargetSide t) { take_back(t, round, type); });
    });
    Side side;
    Memory& memory = side.memory(kLong);
    memory.fill(0x11);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    connect_to_target(side, qp, child.wire());
    const auto window = child.wire().receive<Remote>();
    child.wire().meet();
    side.write(qp, memory, 0, window.length, window);
    const ibv_wc_status status = side.completion().status;
    EXPECT_TRUE(status == IBV_WC_SUCCESS || status == IBV_WC_REM_ACCESS_ERR) << status;
    child.finish();
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Quiescence, HoldsAfterAWindowOfType1IsUnbound) { check_quiescence(IBV_MW_TYPE_1); }
TEST(Quiescence, HoldsAfterAWindowOfType2IsInvalidated) { check_quiescence(IBV_MW_TYPE_2); }
TEST(OpaqueQuiescence, HoldsAfterAWindowOfType2IsInvalidated) {
  run_opaque([] { check_quiescence(IBV_MW_TYPE_2); });
}

}  // namespace
}  // namespace gdr::test

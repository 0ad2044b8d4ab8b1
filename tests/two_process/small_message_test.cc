// Small messages travel beside their completion and are placed by whoever polls it: nobody can
// tell.
#include <gtest/gtest.h>

#include "connection.h"
#include "rnic/shared.h"

namespace gdr::test {
namespace {

constexpr std::uint8_t kBefore = 0xc3;
constexpr std::size_t kMost = rnic::kCarriedBytes + 40;
constexpr std::size_t kStride = 512;
constexpr std::size_t kRound = 100;  // receives at a time
constexpr std::size_t kSizes[] = {64, 8192, 1, 300, 256, 4096, 255, 257};

std::size_t place(std::size_t size) { return size * kStride + size % 7; }

void check(TargetSide t, std::size_t size) {
  const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
  require(completion.wr_id == size && completion.byte_len == size, "in order");
  const std::size_t at = place(size), end = at + size;
  require(t.memory.first_not_pattern(size, at, size) == -1, "all of " + std::to_string(size));
  require(t.memory.first_not(kBefore, size * kStride, size % 7) == -1, "none before");
  require(t.memory.first_not(kBefore, end, (size + 1) * kStride - end) == -1, "none behind");
}

TEST(SmallMessages, ArriveByteByByteInEverySizeAndNothingBesideThem) {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kStride * (kMost + 1)}, [](TargetSide t) {
      t.memory.fill(kBefore);
      for (std::size_t first = 1; first <= kMost; first += kRound) {
        const std::size_t end = std::min(first + kRound, kMost + 1);
        for (std::size_t i = first; i < end; ++i) {
          t.side.receive(t.qp, {t.memory.segment(place(i), i)}, i);
        }
        t.wire.meet();
        for (std::size_t i = first; i < end; ++i) check(t, i);
      }
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kStride * (kMost + 1));
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 512);
  connect_to_target(side, qp, child.wire());
  for (std::size_t i = 1; i <= kMost; ++i) {
    if (i % kRound == 1) child.wire().meet();
    memory.fill_pattern(i, place(i), i);
    side.send(qp, memory, place(i), i);
    side.expect(IBV_WC_SUCCESS);
  }
  child.wire().meet();
  child.finish();
}

TEST(SmallMessages, AreSpreadOverTheSegmentsOfTheirReceive) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(kBefore);
      t.side.receive(t.qp, {t.memory.segment(100, 10), t.memory.segment(5, 20)});
      t.wire.meet();
      t.side.expect(IBV_WC_SUCCESS);
      t.wire.send_bytes(t.memory.bytes() + 100, 10);
      t.wire.send_bytes(t.memory.bytes() + 5, 20);
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  memory.fill_pattern(3, 0, 30);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.send(qp, memory, 0, 30);
  side.expect(IBV_WC_SUCCESS);
  std::uint8_t got[30];
  child.wire().receive_bytes(got, 10);
  child.wire().receive_bytes(got + 10, 20);
  for (std::size_t i = 0; i < sizeof got; ++i) ASSERT_EQ(got[i], memory.bytes()[i]) << i;
  child.wire().meet();
  child.finish();
}

// On a NIC its bytes are in memory before the completion is; so they are before the region goes.
TEST(SmallMessages, ArriveThoughTheirRegionIsDeregisteredBeforeTheyArePolled) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(kBefore);
      t.side.receive(t.qp, {t.memory.segment(64, 200)});
      t.wire.meet();
      t.wire.meet();
      t.memory.deregister();
      require(t.memory.first_not_pattern(9, 64, 200) == -1, "the bytes are there");
      t.memory.fill(kBefore);
      t.side.expect(IBV_WC_SUCCESS);
      require(t.memory.first_not(kBefore, 0, 4096) == -1, "and come once");
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  memory.fill_pattern(9, 0, 4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  memory.fill_pattern(9, 64, 200);
  side.send(qp, memory, 64, 200);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

TEST(SmallMessages, KeepTheirOrderAmongLargeOnes) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      for (std::size_t i = 0; i < std::size(kSizes); ++i) {
        t.side.receive(t.qp, {t.memory.segment(i * 16384, 16384)}, i);
      }
      t.wire.meet();
      for (std::size_t i = 0; i < std::size(kSizes); ++i) {
        const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
        require(completion.wr_id == i && completion.byte_len == kSizes[i], "in order");
        require(t.memory.first_not_pattern(i, i * 16384, kSizes[i]) == -1, "every byte");
      }
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(1 << 20);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  for (std::size_t i = 0; i < std::size(kSizes); ++i) {
    memory.fill_pattern(i, i * 16384, kSizes[i]);
    side.send(qp, memory, i * 16384, kSizes[i]);
  }
  for (std::size_t i = 0; i < std::size(kSizes); ++i) side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

// The initiator's buffer belongs to the program again as soon as the completion is there.
TEST(SmallMessages, AreTakenFromTheirBufferBeforeTheirCompletion) {
  constexpr int kCount = 200;
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      for (int i = 0; i < kCount; ++i) {
        t.side.receive(t.qp, {t.memory.segment(static_cast<std::size_t>(i) * 64, 64)});
      }
      t.wire.meet();
      t.wire.meet();  // all are sent: none has been polled
      for (int i = 0; i < kCount; ++i) t.side.expect(IBV_WC_SUCCESS);
      for (int i = 0; i < kCount; ++i) {
        require(t.memory.first_not(static_cast<std::uint8_t>(i), static_cast<std::size_t>(i) * 64,
                                   64) == -1,
                "each its own");
      }
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  for (int i = 0; i < kCount; ++i) {
    memory.fill(static_cast<std::uint8_t>(i));
    side.send(qp, memory, 0, 64);
    side.expect(IBV_WC_SUCCESS);
  }
  child.wire().meet();
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

// Messages of some KiB pass through the bounce ring of the receiver's completion queue, unless it
// is full: nobody can tell.
#include <gtest/gtest.h>

#include <memory>

#include "connection.h"
#include "rnic/bounce_ring.h"

namespace gdr::test {
namespace {

constexpr std::size_t kMost = rnic::kBouncedBytes;
constexpr std::size_t kStride = kMost + 64;
constexpr std::uint8_t kBefore = 0xc3;
constexpr std::size_t kSizes[] = {257,  271,  272,  273,  300,       1023,  4095,      4096,
                                  4097, 8192, 8256, 8257, kMost - 1, kMost, kMost + 1, 65536};

TEST(ShortMessages, ArriveByteByByteAroundEveryLimitAndNothingBesideThem) {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = 1 << 18}, [](TargetSide t) {
      for (const std::size_t size : kSizes) {
        t.memory.fill(kBefore);
        t.side.receive(t.qp, {t.memory.segment(size % 7, size)}, size);
        t.wire.meet();
        const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
        require(completion.wr_id == size && completion.byte_len == size, "its completion");
        require(completion.vendor_err == 0, "no vendor's error");
        require(t.memory.first_not_pattern(size, size % 7, size) == -1, std::to_string(size));
        require(t.memory.first_not(kBefore, 0, size % 7) == -1, "none before");
        require(t.memory.first_not(kBefore, size % 7 + size, 1000) == -1, "none behind");
      }
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(1 << 18);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  for (const std::size_t size : kSizes) {
    memory.fill_pattern(size, size % 5, size);
    child.wire().meet();
    side.send(qp, memory, size % 5, size);
    side.expect(IBV_WC_SUCCESS);
    memory.fill(0);  // the buffer is the program's again
  }
  child.wire().meet();
  child.finish();
}

TEST(ShortMessages, ArriveInOrderThoughMoreAreSentThanTheRingHolds) {
  constexpr std::size_t kCount = 100, kSize = 8000;
  static_assert(kCount * kSize > 2 * rnic::kBounceRingBytes);
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kCount * kStride}, [](TargetSide t) {
      for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < kCount; ++i) {
          t.side.receive(t.qp, {t.memory.segment(i * kStride, kSize)}, i);
        }
        t.wire.meet();
        t.wire.meet();  // all are sent: none has been polled
        for (std::size_t i = 0; i < kCount; ++i) {
          require(t.side.expect(IBV_WC_SUCCESS).wr_id == i, "in order");
          require(t.memory.first_not_pattern(i, i * kStride, kSize) == -1, std::to_string(i));
        }
      }
    });
  });
  Side side;
  Memory& memory = side.memory(kStride);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 512);
  connect_to_target(side, qp, child.wire());
  for (int round = 0; round < 3; ++round) {
    child.wire().meet();
    for (std::size_t i = 0; i < kCount; ++i) {
      memory.fill_pattern(i, 0, kSize);
      side.send(qp, memory, 0, kSize);
      side.expect(IBV_WC_SUCCESS);
    }
    child.wire().meet();
  }
  child.finish();
}

// Several processes bounce into one ring at a time, and find it full at a time.
TEST(ShortMessages, FromSeveralProcessesAtATimeArriveWhole) {
  constexpr std::uint32_t kSenders = 4, kEach = 400, kRoom = 64;
  constexpr std::size_t kSize = 6000;
  std::vector<std::unique_ptr<Child>> children;
  for (std::uint32_t who = 0; who < kSenders; ++who) {
    children.push_back(std::make_unique<Child>([who](Wire& wire) {
      Side side;
      Memory& memory = side.memory(kSize);
      ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
      wire.send(side.endpoint(qp));
      side.connect(qp, wire.receive<Endpoint>());
      wire.meet();
      for (std::uint32_t i = 0; i < kEach; ++i) {
        memory.fill_pattern(who * kEach + i, 0, kSize);
        side.send(qp, memory, 0, kSize);
        side.expect(IBV_WC_SUCCESS);
      }
      wire.meet();
    }));
  }
  Side side;
  Memory& memory = side.memory(kSenders * kRoom * kStride);
  std::vector<ibv_qp*> queue_pairs;
  for (std::uint32_t who = 0; who < kSenders; ++who) {
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC, kRoom);
    queue_pairs.push_back(qp);
    const auto there = children[who]->wire().receive<Endpoint>();
    children[who]->wire().send(side.endpoint(qp));
    side.connect(qp, there);
    for (std::uint32_t i = 0; i < kRoom; ++i) {
      const std::uint64_t place = who * kRoom + i;
      side.receive(qp, {memory.segment(place * kStride, kSize)}, place);
    }
  }
  for (auto& child : children) child->wire().meet();
  std::vector<std::uint32_t> seen(kSenders);
  for (std::uint32_t n = 0; n < kSenders * kEach; ++n) {
    const std::uint64_t place = side.expect(IBV_WC_SUCCESS).wr_id, who = place / kRoom;
    ASSERT_EQ(memory.first_not_pattern(who * kEach + seen[who], place * kStride, kSize), -1)
        << who << " " << seen[who];
    ++seen[who];
    side.receive(queue_pairs[who], {memory.segment(place * kStride, kSize)}, place);
  }
  for (auto& child : children) child->wire().meet();
  for (auto& child : children) child->finish();
}

// On a NIC its bytes are in memory before the completion is; so they are before the region goes.
TEST(ShortMessages, ArriveThoughTheirRegionIsDeregisteredBeforeTheyArePolled) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(kBefore);
      t.side.receive(t.qp, {t.memory.segment(64, 5000)});
      t.wire.meet();
      t.wire.meet();
      t.memory.deregister();
      require(t.memory.first_not_pattern(9, 64, 5000) == -1, "the bytes are there");
      t.memory.fill(kBefore);
      t.side.expect(IBV_WC_SUCCESS);
      require(t.memory.first_not(kBefore, 0, 8192) == -1, "and come once");
    });
  });
  Side side;
  Memory& memory = side.memory(8192);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  memory.fill_pattern(9, 64, 5000);
  side.send(qp, memory, 64, 5000);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

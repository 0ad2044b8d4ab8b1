// Lists of short RDMA writes and reads: one system call carries several of them. Nobody can tell:
// each arrives whole and in the order of posting.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "base/clock.h"
#include "connection.h"
#include "request_list.h"

namespace gdr::test {
namespace {

constexpr std::size_t kPage = 4096;

// Where the messages of a list of many lengths lie at the target: some touch, others do not.
struct Span {
  std::size_t at, length;
};
std::vector<Span> spans() {
  constexpr std::size_t kLengths[] = {8, 8, 1, 64, 65, 0, 200, 1024, 8, 4096, 100};
  std::vector<Span> all;
  std::size_t at = 3;
  for (std::uint32_t i = 0; i < 200; ++i) {
    const std::size_t length = kLengths[i % std::size(kLengths)];
    all.push_back({at, length});
    at += length + (i % 4 == 3 ? 37 : 0);
  }
  return all;
}

class ListsOfEachLength : public testing::TestWithParam<bool> {
};  // whether each request is told of

TEST_P(ListsOfEachLength, OfWritesArriveWholeAtTheirPlaces) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.wire.meet();
      std::size_t end = 0;
      std::uint64_t seed = 0;
      for (const Span& span : spans()) {
        require(t.memory.first_not(0, end, span.at - end) == -1, "nothing lies in between");
        require(t.memory.first_not_pattern(seed++, span.at, span.length) == -1, "its bytes");
        end = span.at + span.length;
      }
    });
  });
  Side side;
  Memory& memory = side.memory(1 << 20);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, RequestList::kMost);
  const Remote to = connect_to_target(side, qp, child.wire());
  RequestList list(IBV_WR_RDMA_WRITE);
  std::size_t at = 0;
  for (const Span& span : spans()) {
    const std::uint32_t number = list.size();
    memory.fill_pattern(number, at, span.length);
    const bool is_inline = number % 5 == 2 && span.length <= 200;
    list.add(memory, at, span.length, to, span.at, 1 + number % 3,
             is_inline ? std::uint32_t{IBV_SEND_INLINE} : 0);
    at += span.length + 11;
  }
  list.post(qp, GetParam());
  for (std::uint32_t i = GetParam() ? 0 : list.size() - 1; i < list.size(); ++i) {
    EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, i);
  }
  side.expect_quiet();
  child.wire().meet();
  child.finish();
}

TEST_P(ListsOfEachLength, OfReadsFetchTheirOwnBytes) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      std::uint64_t seed = 0;
      for (const Span& span : spans()) t.memory.fill_pattern(seed++, span.at, span.length);
      t.wire.meet();
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(1 << 20);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, RequestList::kMost);
  const Remote from = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  RequestList list(IBV_WR_RDMA_READ);
  std::size_t at = 0;
  for (const Span& span : spans()) {
    list.add(memory, at, span.length, from, span.at, 1 + list.size() % 3);
    at += span.length + 11;
  }
  list.post(qp, GetParam());
  for (std::uint32_t i = GetParam() ? 0 : list.size() - 1; i < list.size(); ++i) {
    EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, i);
  }
  at = 0;
  std::uint64_t seed = 0;
  for (const Span& span : spans()) {
    EXPECT_EQ(memory.first_not_pattern(seed++, at, span.length), -1);
    EXPECT_EQ(memory.first_not(0, at + span.length, 11), -1);
    at += span.length + 11;
  }
  child.wire().meet();
  child.finish();
}

std::string told(const testing::TestParamInfo<bool>& which) {
  return which.param ? "WithEachTold" : "WithTheLastTold";
}
INSTANTIATE_TEST_SUITE_P(Completions, ListsOfEachLength, testing::Bool(), told);

// Rounds of a payload and the flag that tells of it, many in one list; the reader looks at the
// flags from the last to the first.
TEST(CoalescedLists, AReaderThatSpinsSeesNoFlagBeforeTheBytesBehindWhichItWasPosted) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0}, kEnough = 100;
  constexpr std::size_t kPairs = 24, kPayload = 152, kStride = 256, kSeen = kPairs * kStride;
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.wire.meet();
      const auto word = [&](std::size_t at) {
        return reinterpret_cast<std::atomic<std::uint64_t>*>(t.memory.bytes() + at)->load();
      };
      const Nanoseconds start = now();
      std::uint64_t last = 0, looks = 0, seen = 0;
      bool is_in_order = true;
      while (last != kLast && now() - start < 2 * kLastResort && is_in_order) {
        last = word((kPairs - 1) * kStride + kPayload);
        std::uint64_t newer = last;
        for (std::size_t i = kPairs; i-- > 0;) {
          const std::uint64_t flag = word(i * kStride + kPayload);
          is_in_order &= flag >= newer;
          newer = ~std::uint64_t{0};
          for (std::size_t at = 0; at < kPayload; at += 8) {
            newer = std::min(newer, word(i * kStride + at));
          }
          is_in_order &= newer >= flag;
          seen += flag != last ? 1 : 0;
        }
        std::memcpy(t.memory.bytes() + kSeen, &seen, sizeof seen);
        ++looks;
      }
      require(is_in_order, "nothing is older than what was posted behind it");
      require(last == kLast, "the last round arrives");
      require(seen > 0, "some of " + std::to_string(looks) + " looks fell into a list");
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(1 << 20);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, RequestList::kMost);
  const Remote to = connect_to_target(side, qp, child.wire());
  RequestList list(IBV_WR_RDMA_WRITE);
  for (std::size_t i = 0; i < kPairs; ++i) {
    list.add(memory, 0, kPayload, to, i * kStride);
    list.add(memory, 0, 8, to, i * kStride + kPayload);
  }
  child.wire().meet();
  const auto write_round = [&](std::uint64_t round) {
    for (std::size_t at = 0; at < kPayload; at += 8) {
      std::memcpy(memory.bytes() + at, &round, sizeof round);
    }
    list.post(qp, false);
    side.expect(IBV_WC_SUCCESS);
  };
  // Until the reader has looked into enough lists that were under way.
  std::uint64_t seen = 0;
  const Nanoseconds start = now();
  const auto goes_on = [&] {  // one will do where they hardly ever run at the same time
    return seen < kEnough && now() - start < (seen == 0 ? kLastResort : 15 * kSecond);
  };
  for (std::uint64_t round = 1; goes_on(); ++round) {
    write_round(round);
    if (round % 64 != 0) continue;
    side.read(qp, memory, kSeen, sizeof seen, to, kSeen);
    side.expect(IBV_WC_SUCCESS);
    std::memcpy(&seen, memory.bytes() + kSeen, sizeof seen);
  }
  write_round(kLast);
  child.wire().meet();
  child.finish();
}

// A list of every kind: those that go together lie between those that do not.
TEST(CoalescedLists, KeepTheirOrderAmongRequestsOfOtherKinds) {
  constexpr std::uint32_t kRounds = 300;
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      for (std::uint32_t i = 0; i < 64; ++i) t.side.receive(t.qp, {t.memory.segment(4096, 8)}, i);
      t.wire.meet();
      for (std::uint32_t round = 0; round < kRounds; ++round) {
        const ibv_wc told = t.side.expect(IBV_WC_SUCCESS);
        std::uint64_t written[3];
        std::memcpy(written, t.memory.bytes(), sizeof written);
        require(told.imm_data == round && written[0] >= round && written[1] >= round,
                "what was posted before it is there");
        t.side.receive(t.qp, {t.memory.segment(4096, 8)}, round);
      }
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kPage);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote there = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::memcpy(memory.bytes(), &round, sizeof round);
    ibv_sge value = memory.segment(0, 8), back = memory.segment(64, 8),
            sum = memory.segment(128, 8);
    struct Step {
      ibv_wr_opcode opcode;
      ibv_sge* segment;
      std::size_t at;
    };
    const Step steps[] = {{IBV_WR_RDMA_WRITE, &value, 0},
                          {IBV_WR_RDMA_WRITE, &value, 8},
                          {IBV_WR_RDMA_READ, &back, 8},
                          {IBV_WR_RDMA_READ, &back, 0},
                          {IBV_WR_RDMA_WRITE, &back, 32},
                          {IBV_WR_ATOMIC_FETCH_AND_ADD, &sum, 40},
                          {IBV_WR_RDMA_WRITE_WITH_IMM, &value, 16}};
    ibv_send_wr requests[std::size(steps)]{};
    for (std::size_t i = 0; i < std::size(steps); ++i) {
      requests[i].opcode = steps[i].opcode;
      requests[i].sg_list = steps[i].segment;
      requests[i].num_sge = 1;
      requests[i].imm_data = static_cast<std::uint32_t>(round);
      if (steps[i].opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
        requests[i].wr.atomic = {there.address + steps[i].at, 1, 0, there.key};
      } else {
        requests[i].wr.rdma = {there.address + steps[i].at, there.key};
      }
      if (i + 1 < std::size(steps)) requests[i].next = &requests[i + 1];
    }
    requests[std::size(steps) - 1].send_flags = IBV_SEND_SIGNALED;
    ibv_send_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_send(qp, requests, &bad), 0);
    side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(std::memcmp(memory.bytes() + 64, &round, 8), 0) << "a read sees the write before it";
    EXPECT_EQ(std::memcmp(memory.bytes() + 128, &round, 8), 0) << "each atomic once";
  }
  child.wire().meet();
  child.finish();
}

void check_opaque() {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.wire.meet();
      for (std::size_t i = 0; i < 40; ++i) {
        require(t.memory.first_not(0x33, i * 64, 8) == -1, "each arrives");
      }
    });
  });
  Side side;
  Memory& memory = side.memory(kPage);
  memory.fill(0x33);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote to = connect_to_target(side, qp, child.wire());
  RequestList list(IBV_WR_RDMA_WRITE);
  for (std::size_t i = 0; i < 40; ++i) list.add(memory, 0, 8, to, i * 64);
  list.post(qp, false);
  EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, 39u);
  child.wire().meet();
  child.finish();
}
TEST(CoalescedLists, ArriveAtAnOpaqueProcess) { run_opaque(check_opaque); }
TEST(CoalescedLists, ArriveWhereTheKernelKnowsNoCopiesBetweenProcesses) {
  run_opaque(check_opaque, ENOSYS);
}

}  // namespace
}  // namespace gdr::test

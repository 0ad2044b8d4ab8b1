// Reliable connections between two processes: every byte of every size arrives, and nothing else
// changes.
#include <gtest/gtest.h>

#include "base/clock.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kSizes[] = {
    0,    1,    7,     63,    64,    65,     127,     128,           1000,           4095,
    4096, 4097, 65535, 65536, 65537, 262144, 1 << 20, (1 << 20) + 1, (1 << 23) - 13, 1 << 23};
constexpr std::size_t kGuard = 4096 + 3;  // odd on purpose
constexpr std::size_t kMost = (1 << 23) + 2 * kGuard;
constexpr std::uint8_t kUntouched = 0xa5;

void bring_to_init(ibv_qp* qp) {
  require(step(qp, attributes_towards(0, {}), IBV_QPS_INIT) == 0, "to INIT");
}

// The message lies at kGuard; everything else is as it was.
void check_memory(const Memory& memory, std::uint64_t seed, std::size_t length) {
  require(memory.first_not_pattern(seed, kGuard, length) == -1, "every byte arrived");
  require(memory.first_not(kUntouched, 0, kGuard) == -1, "nothing changed before");
  require(memory.first_not(kUntouched, kGuard + length, kGuard) == -1, "nothing changed behind");
}

void check_writes() {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kMost}, [](TargetSide t) {
      for (const std::size_t size : kSizes) {
        t.memory.fill(kUntouched);
        t.wire.meet();
        t.wire.meet();
        check_memory(t.memory, size, size);
      }
    });
  });
  Side side;
  Memory& memory = side.memory(kMost);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  for (const std::size_t size : kSizes) {
    memory.fill_pattern(size, 5, size);
    child.wire().meet();
    side.write(qp, memory, 5, size, remote, kGuard, size);
    EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, size);
    child.wire().meet();
  }
  child.finish();
}

void check_reads() {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kMost}, [](TargetSide t) {
      for (const std::size_t size : kSizes) {
        t.memory.fill_pattern(size, 5, size);
        t.wire.meet();
        t.wire.meet();
      }
    });
  });
  Side side;
  Memory& memory = side.memory(kMost);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  for (const std::size_t size : kSizes) {
    memory.fill(kUntouched);
    child.wire().meet();
    side.read(qp, memory, kGuard, size, remote, 5, size);
    EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, size);
    check_memory(memory, size, size);
    child.wire().meet();
  }
  child.finish();
}

void check_sends() {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kMost}, [](TargetSide t) {
      for (const std::size_t size : kSizes) {
        t.memory.fill(kUntouched);
        const std::size_t first = size / 3, second = size / 2 - first;
        t.side.receive(t.qp,
                       {t.memory.segment(kGuard, first), t.memory.segment(kGuard + first, second),
                        t.memory.segment(kGuard + first + second, size - first - second)},
                       size);
        t.wire.meet();
        const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
        require(completion.wr_id == size && completion.byte_len == size &&
                    completion.opcode == IBV_WC_RECV && completion.qp_num == t.qp->qp_num,
                "the completion tells what arrived");
        check_memory(t.memory, size, size);
        t.wire.meet();
      }
    });
  });
  Side side;
  Memory& memory = side.memory(kMost);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  for (const std::size_t size : kSizes) {
    memory.fill_pattern(size, 3, size);
    child.wire().meet();
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    request.send_flags = IBV_SEND_SIGNALED;
    const std::size_t first = size / 5;
    side.post(qp, request, {memory.segment(3, first), memory.segment(3 + first, size - first)});
    side.expect(IBV_WC_SUCCESS);
    child.wire().meet();
  }
  child.finish();
}

// A request that waits on this host goes with its connection; the next connection leads elsewhere.
TEST(ReliableConnection, ThatLeadsBeyondTheHostIsNotServedByThePathThatItHadBefore) {
  constexpr Patience kFirst{.rnr_retry = 7}, kNext{.timeout = 14, .retry_count = 0};  // 67 ms
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* silent = side.queue_pair(IBV_QPT_RC);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  side.connect(silent, side.endpoint(qp));
  Endpoint elsewhere = side.endpoint(silent);
  elsewhere.gid = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 211, 7, 9}};
  for (int round = 0; round < 10; ++round) {
    side.connect(qp, side.endpoint(silent), kFirst);
    side.send(qp, memory, 0, 64);  // waits for a receive
    usleep(1000);
    ASSERT_EQ(Side::move_to(qp, IBV_QPS_RESET), 0);
    bring_to_init(qp);
    side.connect(qp, elsewhere, kNext);
    const Nanoseconds start = now();
    side.send(qp, memory, 0, 64, 9);
    EXPECT_EQ(side.expect(IBV_WC_RETRY_EXC_ERR).wr_id, 9u);
    EXPECT_GE(now() - start, 50 * kMillisecond) << "nobody answered in that time";
    ASSERT_EQ(Side::move_to(qp, IBV_QPS_RESET), 0);
    bring_to_init(qp);
  }
}

TEST(ReliableConnection, WritesEveryByteOfEverySizeAndNothingElse) { check_writes(); }
TEST(ReliableConnection, ReadsEveryByteOfEverySizeAndNothingElse) { check_reads(); }
TEST(ReliableConnection, SendsEveryByteOfEverySizeIntoSeveralSegments) { check_sends(); }

// Where the kernel refuses process_vm_*, the target's service thread copies.
TEST(OpaqueConnection, WritesEveryByteOfEverySizeAndNothingElse) { run_opaque(check_writes); }
TEST(OpaqueConnection, HoldsWhereAFilterSaysThatThereAreNoSuchCalls) {
  run_opaque(check_writes, ENOSYS);
}
TEST(OpaqueConnection, HoldsUnderTheStrictestProfileOfAContainer) {
  run_opaque(check_writes, EPERM, kStrictest);
}
TEST(OpaqueConnection, ReadsEveryByteOfEverySizeAndNothingElse) { run_opaque(check_reads); }
TEST(OpaqueConnection, SendsEveryByteOfEverySizeIntoSeveralSegments) { run_opaque(check_sends); }

}  // namespace
}  // namespace gdr::test

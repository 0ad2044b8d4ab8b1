// Reliable connections between two processes: every byte of every size arrives, and nothing else
// changes.
#include <gtest/gtest.h>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kSizes[] = {
    0,    1,    7,     63,    64,    65,     127,     128,           1000,           4095,
    4096, 4097, 65535, 65536, 65537, 262144, 1 << 20, (1 << 20) + 1, (1 << 23) - 13, 1 << 23};
constexpr std::size_t kGuard = 4096 + 3;  // odd on purpose
constexpr std::size_t kMost = (1 << 23) + 2 * kGuard;
constexpr std::uint8_t kUntouched = 0xa5;

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

TEST(ReliableConnection, WritesEveryByteOfEverySizeAndNothingElse) { check_writes(); }
TEST(ReliableConnection, ReadsEveryByteOfEverySizeAndNothingElse) { check_reads(); }
TEST(ReliableConnection, SendsEveryByteOfEverySizeIntoSeveralSegments) { check_sends(); }

// Where the kernel refuses process_vm_*, the target's service thread copies.
TEST(OpaqueConnection, WritesEveryByteOfEverySizeAndNothingElse) { run_opaque(check_writes); }
TEST(OpaqueConnection, ReadsEveryByteOfEverySizeAndNothingElse) { run_opaque(check_reads); }
TEST(OpaqueConnection, SendsEveryByteOfEverySizeIntoSeveralSegments) { run_opaque(check_sends); }

}  // namespace
}  // namespace gdr::test

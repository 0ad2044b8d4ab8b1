// Immediate data, atomics, inline data, selective signalling, unreliable connections.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>

#include "connection.h"

namespace gdr::test {
namespace {

// A target that posts `count` receives of its whole memory and tells what completed.
void tell_receives(TargetSide t, int count) {
  for (int i = 0; i < count; ++i) {
    t.side.receive(t.qp, {t.memory.segment(0, t.memory.size())}, static_cast<std::uint64_t>(i));
  }
  t.wire.meet();
  for (int i = 0; i < count; ++i) t.wire.send(t.side.completion());
  t.wire.meet();
}

void check_immediate(ibv_qp_type type) {
  Child child([type](Wire& wire) {
    be_target(wire, {.type = type}, [](TargetSide t) {
      tell_receives(t, 2);
      require(t.memory.first_not_pattern(4, 0, 5000) == -1, "the bytes of the write are there");
    });
  });
  Side side;
  Memory& memory = side.memory(1 << 16);
  memory.fill_pattern(4, 0, 5000);
  ibv_qp* qp = side.queue_pair(type);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.write(qp, memory, 0, 5000, remote, 0, 0x11223344, IBV_WR_RDMA_WRITE_WITH_IMM);
  side.send(qp, memory, 0, 10, 0x55667788, IBV_WR_SEND_WITH_IMM);
  side.expect(IBV_WC_SUCCESS), side.expect(IBV_WC_SUCCESS);
  const auto written = child.wire().receive<ibv_wc>(), sent = child.wire().receive<ibv_wc>();
  EXPECT_EQ(written.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(written.byte_len, 5000u);
  EXPECT_EQ(written.imm_data, 0x11223344u);
  EXPECT_TRUE(written.wc_flags & IBV_WC_WITH_IMM);
  EXPECT_EQ(sent.opcode, IBV_WC_RECV);
  EXPECT_EQ(sent.imm_data, 0x55667788u);
  EXPECT_EQ(sent.wr_id, 1u);
  child.wire().meet();
  child.finish();
}

TEST(Operations, ImmediateDataArrivesWithItsBytes) { check_immediate(IBV_QPT_RC); }
TEST(Operations, ImmediateDataArrivesOnAnUnreliableConnection) { check_immediate(IBV_QPT_UC); }

ibv_send_wr atomic(ibv_wr_opcode opcode, const Remote& remote, std::uint64_t compare_add,
                   std::uint64_t swap = 0) {
  ibv_send_wr request{};
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.atomic.remote_addr = remote.address;
  request.wr.atomic.rkey = remote.key;
  request.wr.atomic.compare_add = compare_add;
  request.wr.atomic.swap = swap;
  return request;
}

constexpr int kAdds = 5000;

void add(Side& side, ibv_qp* qp, const Remote& remote) {
  Memory& memory = side.memory(4096);
  for (int i = 0; i < kAdds; ++i) {
    side.post(qp, atomic(IBV_WR_ATOMIC_FETCH_AND_ADD, remote, 3), {memory.segment(8, 8)});
    side.expect(IBV_WC_SUCCESS);
  }
}

void check_atomics() {
  // One process owns the number; two others add to it at once.
  Child owner([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(4096);
    ibv_qp* qps[2] = {side.queue_pair(IBV_QPT_RC), side.queue_pair(IBV_QPT_RC)};
    for (ibv_qp* qp : qps) {
      wire.send(side.endpoint(qp));
      wire.send(memory.remote());
      side.connect(qp, wire.receive<Endpoint>());
      wire.meet();
    }
    wire.meet();
    std::uint64_t value = 0;
    std::memcpy(&value, memory.bytes(), 8);
    require(value == 77, "what the swap left is there");
    require(memory.first_not(0, 8, 4088) == -1, "and nothing else changed");
  });
  Child adder([&](Wire& wire) {
    const auto endpoint = wire.receive<Endpoint>();
    const auto remote = wire.receive<Remote>();
    Side side;
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    wire.send(side.endpoint(qp));
    side.connect(qp, endpoint);
    wire.meet();
    add(side, qp, remote);
    wire.meet();
  });
  adder.wire().send(owner.wire().receive<Endpoint>());
  adder.wire().send(owner.wire().receive<Remote>());
  owner.wire().send(adder.wire().receive<Endpoint>());
  owner.wire().meet();
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, owner.wire());
  adder.wire().meet();
  add(side, qp, remote);
  adder.wire().meet();
  const auto value = [&] {
    std::uint64_t at = 0;
    std::memcpy(&at, memory.bytes() + 16, 8);
    return at;
  };
  const std::uint64_t total = std::uint64_t{2} * kAdds * 3;
  side.post(qp, atomic(IBV_WR_ATOMIC_CMP_AND_SWP, remote, total + 1, 5), {memory.segment(16, 8)});
  EXPECT_EQ(side.expect(IBV_WC_SUCCESS).opcode, IBV_WC_COMP_SWAP);
  EXPECT_EQ(value(), total);  // no addition was lost
  side.post(qp, atomic(IBV_WR_ATOMIC_CMP_AND_SWP, remote, total, 77), {memory.segment(16, 8)});
  side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(value(), total);  // the failed swap had changed nothing
  owner.wire().meet();
  owner.finish();
  adder.finish();
}

TEST(Operations, AtomicsOfTwoProcessesLoseNothing) { check_atomics(); }
TEST(Operations, AtomicsOnAnOpaqueProcessLoseNothing) { run_opaque(check_atomics); }

TEST(Operations, InlineDataMayChangeOnceItIsPosted) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(0);
      t.wire.meet();
      t.wire.meet();
      require(t.memory.first_not_pattern(6, 100, 200) == -1, "what was posted arrived");
    });
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  std::uint8_t bytes[200];
  for (std::size_t i = 0; i < sizeof bytes; ++i) bytes[i] = pattern(6, i);
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE;
  request.wr.rdma = {remote.address + 100, remote.key};
  side.post(qp, request, {{reinterpret_cast<std::uint64_t>(bytes), sizeof bytes, 0}});  // no key
  std::memset(bytes, 0xff, sizeof bytes);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

TEST(Operations, OnlySignalledRequestsCompleteAndTheyDoSoInOrder) {
  Child child([](Wire& wire) { be_target(wire, {}, [](TargetSide t) { t.wire.meet(); }); });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  for (std::uint64_t i = 1; i <= 200; ++i) {
    ibv_send_wr request{};
    request.wr_id = i;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = i % 50 == 0 ? IBV_SEND_SIGNALED : 0;
    request.wr.rdma = {remote.address, remote.key};
    side.post(qp, request, {memory.segment(0, 64)});
  }
  for (std::uint64_t i = 50; i <= 200; i += 50) EXPECT_EQ(side.expect(IBV_WC_SUCCESS).wr_id, i);
  side.expect_quiet(5);
  child.wire().meet();
  child.finish();
}

TEST(Operations, AnUnreliableConnectionDropsWhatIsNotExpectedAndGoesOn) {
  Child child([](Wire& wire) {
    be_target(wire, {.type = IBV_QPT_UC}, [](TargetSide t) {
      t.memory.fill(0);
      t.wire.meet();
      t.wire.meet();
      t.side.expect_quiet(5);
      t.side.receive(t.qp, {t.memory.segment(0, 4096)}, 5);
      t.wire.meet();
      const ibv_wc completion = t.side.expect(IBV_WC_SUCCESS);
      require(completion.byte_len == 300, "the second message, not the first");
      require(t.memory.first_not_pattern(8, 0, 300) == -1, "every byte of it");
      require(t.memory.first_not(0, 300, 1000) == -1, "no byte more");
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  memory.fill_pattern(8, 0, 4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UC);
  Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.send(qp, memory, 0, 100);  // no receive: dropped
  side.expect(IBV_WC_SUCCESS);
  remote.key ^= 1;
  side.write(qp, memory, 0, 100, remote);  // no such key: dropped
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.wire().meet();
  side.send(qp, memory, 0, 300);
  side.expect(IBV_WC_SUCCESS);
  child.finish();
}

}  // namespace
}  // namespace gdr::test

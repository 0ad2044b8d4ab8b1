// GPU memory between processes: what others can open is copied to without its owner, and what they
// cannot is copied by its owner.
#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>

#include "gpu_side.h"
#include "stopped.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = kGpuBytes;
constexpr std::size_t kOffset = 12'345, kLength = (1 << 20) + 77;

class OpenedGpuMemory : public testing::TestWithParam<Allocator> {};

TEST_P(OpenedGpuMemory, IsWrittenAndReadWhileItsOwnersProcessIsStopped) {
  Child child([](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory& gpu, Side&) {
      (void)wire.receive<char>();
      require(gpu.first_not(5, kOffset, kLength) == -1, "what was written is there, and only that");
      wire.send('.');
      (void)wire.receive<char>();
    });
  });
  use_gpu();
  Side side;
  GpuMemory from(side, Allocator::kMemAlloc), back(side, Allocator::kMemAlloc);
  Memory& host = side.memory(kLength);
  from.fill_pattern(5, 0, kLength);
  const int before = mapped_gpu_memory();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  ASSERT_TRUE(soon([&] { return has_opened_more_than(before); })) << "it is opened unasked";
  usleep(100'000);
  {
    const Stopped stopped(child.pid());
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_WRITE;
    request.wr.rdma = {remote.address + kOffset, remote.key};
    side.post(qp, request, {from.segment(0, kLength)});
    side.expect(IBV_WC_SUCCESS);
    request.opcode = IBV_WR_RDMA_READ;
    side.post(qp, request, {back.segment(kOffset, kLength)});
    side.expect(IBV_WC_SUCCESS);
    side.post(qp, request, {host.segment(0, kLength)});
    side.expect(IBV_WC_SUCCESS);
  }
  EXPECT_EQ(back.first_not(5, kOffset, kLength), -1);
  EXPECT_EQ(host.first_not_pattern(5, 0, kLength), -1);
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.wire().send('.');
  child.finish();
}

TEST_P(OpenedGpuMemory, FreedWhileRegisteredIsNotConfusedWithTheNextAllocation) {
  constexpr int kNext = 4;
  const std::vector<unsigned char> content(kBytes, 0x77);
  Child child([&](Wire& wire) {
    be_gpu_target(wire, GetParam(), kBytes, [&](GpuMemory& gpu, Side&) {
      (void)wire.receive<char>();
      gpu.memory().free();
      std::vector<std::unique_ptr<memory::soft_gpu::Memory>> next;
      for (int i = 0; i < kNext; ++i) {
        next.push_back(std::make_unique<memory::soft_gpu::Memory>(GetParam(), kBytes));
        next.back()->fill(content);
      }
      wire.send('.');
      (void)wire.receive<char>();
      for (const auto& one : next) require(one->read() == content, "nothing was written there");
      wire.send('.');
    });
  });
  use_gpu();
  Side side;
  Memory& host = side.memory(kBytes);
  host.fill_pattern(3, 0, kBytes);
  const GpuMemory own(side, Allocator::kMemAlloc);  // what copies need is there before the count
  const int before = mapped_gpu_memory();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  ASSERT_TRUE(soon([&] { return has_opened_more_than(before); }));
  side.write(qp, host, 0, kBytes, remote);
  side.expect(IBV_WC_SUCCESS);
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  side.write(qp, host, 0, kBytes, remote);
  (void)side.completion();  // an error, or bytes into memory that nobody has any more
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.finish();
}

INSTANTIATE_TEST_SUITE_P(Allocator, OpenedGpuMemory,
                         testing::Values(Allocator::kMemAlloc, Allocator::kVmm),
                         [](const auto& one) { return name_of(one.param); });

TEST(GpuSharing, MemoryFreedByItsUserIsNotBlamedOnThePeer) {
  Child child([](Wire& wire) {
    be_gpu_target(wire, Allocator::kVmm, kBytes, [&](GpuMemory& gpu, Side&) {
      (void)wire.receive<char>();
      require(gpu.first_not(0, 0, 0) == -1, "nothing was written");
    });
  });
  use_gpu();
  Side side;
  GpuMemory from(side, Allocator::kMemAlloc);
  const int before = mapped_gpu_memory();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  ASSERT_TRUE(soon([&] { return has_opened_more_than(before); }));
  usleep(100'000);
  from.memory().free();
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {remote.address, remote.key};
  side.post(qp, request, {from.segment(0, 4096)});
  side.expect(IBV_WC_LOC_PROT_ERR);
  child.wire().send('.');
  child.finish();
}

struct Kind {
  const char* name;
  Allocator allocator;
  std::size_t bytes;
};

class ServedGpuMemory : public testing::TestWithParam<Kind> {};

TEST_P(ServedGpuMemory, ThatOthersCannotOpenIsWrittenByItsOwner) {
  const std::size_t length = GetParam().bytes - 100;
  Child child([&](Wire& wire) {
    be_gpu_target(wire, GetParam().allocator, GetParam().bytes, [&](GpuMemory& gpu, Side&) {
      (void)wire.receive<char>();
      require(gpu.first_not(6, 50, length) == -1, "what was written is there, and only that");
      wire.send('.');
    });
  });
  use_gpu();
  Side side;
  GpuMemory from(side, Allocator::kMemAlloc);
  from.fill_pattern(6, 0, length);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {remote.address + 50, remote.key};
  side.post(qp, request, {from.segment(0, length)});
  side.expect(IBV_WC_SUCCESS);
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.finish();
}

TEST_P(ServedGpuMemory, FreedWhileRegisteredIsNotWritten) {
  const std::vector<unsigned char> content(GetParam().bytes, 0x77);
  Child child([&](Wire& wire) {
    be_gpu_target(wire, GetParam().allocator, GetParam().bytes, [&](GpuMemory& gpu, Side&) {
      gpu.memory().free();
      const memory::soft_gpu::Memory next(GetParam().allocator, GetParam().bytes);
      next.fill(content);
      wire.send('.');
      (void)wire.receive<char>();
      require(next.read() == content, "nothing was written there");
      wire.send('.');
    });
  });
  use_gpu();
  Side side;
  Memory& host = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  connect_to_target(side, qp, child.wire());
  const auto remote = child.wire().receive<Remote>();
  EXPECT_EQ(child.wire().receive<char>(), '.');
  side.write(qp, host, 0, 4096, remote);
  side.expect(IBV_WC_REM_OP_ERR);
  child.wire().send('.');
  EXPECT_EQ(child.wire().receive<char>(), '.');
  child.finish();
}

INSTANTIATE_TEST_SUITE_P(Kind, ServedGpuMemory,
                         testing::Values(Kind{"Pool", Allocator::kPool, kBytes},
                                         Kind{"SmallAllocation", Allocator::kMemAlloc, 64 << 10}),
                         [](const auto& one) { return one.param.name; });

// Many registrations of one buffer after the other: nothing of them is left open.
TEST(GpuSharing, WhatItsOwnerHasDeregisteredIsClosed) {
  if (is_real_gpu()) GTEST_SKIP() << "what a genuine driver has opened cannot be counted";
  constexpr int kRounds = 50;
  Child child([](Wire& wire) {
    be_gpu_target(wire, Allocator::kVmm, kBytes, [&](GpuMemory& gpu, Side& side) {
      (void)wire.receive<char>();
      gpu.deregister();
      for (int round = 0; round < kRounds; ++round) {
        GpuMemory next(side, round % 2 == 0 ? Allocator::kVmm : Allocator::kMemAlloc);
        wire.send(next.remote());
        (void)wire.receive<char>();
      }
      wire.send('.');
      (void)wire.receive<char>();
    });
  });
  use_gpu();
  Side side;
  Memory& host = side.memory(4096);
  host.fill_pattern(1, 0, 4096);
  const GpuMemory own(side, Allocator::kMemAlloc);  // what copies need is there before the count
  const int before = mapped_gpu_memory();
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true);
  connect_to_target(side, qp, child.wire());
  (void)child.wire().receive<Remote>();
  ASSERT_TRUE(soon([&] { return mapped_gpu_memory() > before; }));
  child.wire().send('.');
  for (int round = 0; round < kRounds; ++round) {
    const auto remote = child.wire().receive<Remote>();
    side.write(qp, host, 0, 4096, remote, 8);
    side.expect(IBV_WC_SUCCESS);
    child.wire().send('.');
  }
  EXPECT_EQ(child.wire().receive<char>(), '.');
  EXPECT_TRUE(soon([&] { return mapped_gpu_memory() == before; }))
      << mapped_gpu_memory() << " instead of " << before;
  child.wire().send('.');
  child.finish();
}

}  // namespace
}  // namespace gdr::test

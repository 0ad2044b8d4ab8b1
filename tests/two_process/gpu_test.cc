// GPU memory between processes: what others can open is copied to without its owner, and what they
// cannot is copied by its owner.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <fstream>

#include "base/clock.h"
#include "connection.h"
#include "soft_gpu.h"

namespace gdr::test {
namespace {

using memory::soft_gpu::Allocator;

constexpr std::size_t kBytes = 4 << 20;
constexpr std::size_t kOffset = 12'345, kLength = (1 << 20) + 77;

// A GPU buffer of a process, registered; 0 bytes around what a test writes stay 0xee.
class GpuMemory {
 public:
  GpuMemory(Side& side, Allocator allocator, std::size_t bytes = kBytes)
      : memory_(allocator, bytes), bytes_(bytes) {
    memory_.fill(std::vector<unsigned char>(bytes, 0xee));
    region_ = ibv_reg_mr(side.domain(), reinterpret_cast<void*>(memory_.address()), bytes,
                         static_cast<int>(kAllAccess));
    require(region_ != nullptr, "GPU memory is registered");
  }
  ~GpuMemory() { deregister(); }
  void deregister() {
    if (region_ != nullptr) ibv_dereg_mr(region_);
    region_ = nullptr;
  }

  memory::soft_gpu::Memory& memory() { return memory_; }
  Remote remote() const { return {memory_.address(), bytes_, region_->rkey}; }
  ibv_sge segment(std::size_t offset, std::size_t length) const {
    return {memory_.address() + offset, static_cast<std::uint32_t>(length), region_->lkey};
  }
  void fill_pattern(std::uint64_t seed, std::size_t offset, std::size_t length) {
    std::vector<unsigned char> bytes = memory_.read();
    for (std::size_t i = 0; i < length; ++i) bytes[offset + i] = pattern(seed, i);
    memory_.fill(bytes);
  }
  // Where it first differs from the pattern at that place and 0xee around it; -1: nowhere.
  std::int64_t first_not(std::uint64_t seed, std::size_t offset, std::size_t length) const {
    const std::vector<unsigned char> bytes = memory_.read();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      const bool inside = i >= offset && i < offset + length;
      if (bytes[i] != (inside ? pattern(seed, i - offset) : 0xee)) {
        return static_cast<std::int64_t>(i);
      }
    }
    return -1;
  }

 private:
  memory::soft_gpu::Memory memory_;
  std::size_t bytes_;
  ibv_mr* region_ = nullptr;
};

void use_gpu() {
  const cuda::Driver* driver = memory::soft_gpu::driver();
  require(driver != nullptr, "the software GPU is there");
  cuda::CUcontext primary = nullptr;
  require(driver->device_primary_ctx_retain(&primary, 0) == cuda::CUDA_SUCCESS &&
              driver->ctx_set_current(primary) == cuda::CUDA_SUCCESS,
          "its context is current");
}

// How many pieces of GPU memory this process has mapped, its own and others'.
int mapped_gpu_memory() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:gdrkit-soft-gpu") != std::string::npos) ++count;
  }
  return count;
}

// That another process's memory has been opened since `before`. A genuine driver shows it nowhere.
bool has_opened_more_than(int before) {
  if (getenv(memory::soft_gpu::kRealDriver) == nullptr) return mapped_gpu_memory() > before;
  usleep(1'000'000);
  return true;
}

bool soon(const std::function<bool()>& condition) {
  for (const Nanoseconds end = now() + 10 * kSecond; now() < end; usleep(1000)) {
    if (condition()) return true;
  }
  return false;
}

// A process with GPU memory and a queue pair, which does nothing by itself.
void be_gpu_target(Wire& wire, Allocator allocator, std::size_t bytes,
                   const std::function<void(GpuMemory&, Side&)>& body) {
  use_gpu();
  be_target(wire, {.bytes = 4096}, [&](TargetSide target) {
    GpuMemory gpu(target.side, allocator, bytes);
    wire.send(gpu.remote());
    body(gpu, target.side);
  });
}

class Stopped {
 public:
  explicit Stopped(pid_t pid) : pid_(pid) {
    kill(pid_, SIGSTOP);
    waitpid(pid_, nullptr, WUNTRACED);
  }
  ~Stopped() { kill(pid_, SIGCONT); }

 private:
  const pid_t pid_;
};

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

TEST_P(OpenedGpuMemory, ThatItsOwnerFreedWhileRegisteredIsNotThatOfTheNextAllocation) {
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
                         [](const auto& one) {
                           return one.param == Allocator::kVmm ? "Vmm" : "MemAlloc";
                         });

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

INSTANTIATE_TEST_SUITE_P(Kind, ServedGpuMemory,
                         testing::Values(Kind{"Pool", Allocator::kPool, kBytes},
                                         Kind{"SmallAllocation", Allocator::kMemAlloc, 64 << 10}),
                         [](const auto& one) { return one.param.name; });

// Many registrations of one buffer after the other: nothing of them is left open.
TEST(GpuSharing, WhatItsOwnerHasDeregisteredIsClosed) {
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

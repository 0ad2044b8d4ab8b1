// What may happen to GPU memory while it is registered, by allocator: it is freed, its context is
// reset, it is registered twice or very often.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include "alone.h"
#include "gpu_side.h"
#include "open_descriptors.h"

namespace gdr::test {
namespace {

constexpr ibv_wc_status kGone = IBV_WC_REM_OP_ERR;  // the key is good, its memory is not
constexpr int kNextAllocations = 4;
const std::vector<unsigned char> kUntouched(kGpuBytes, 0x77);

// Allocations made after one was freed: some of them usually get its addresses.
class NextAllocations {
 public:
  explicit NextAllocations(Allocator allocator) {
    for (auto& one : memories_) {
      one = std::make_unique<memory::soft_gpu::Memory>(allocator, kGpuBytes);
      one->fill(kUntouched);
    }
  }
  void expect_untouched() const {
    for (const auto& one : memories_) EXPECT_TRUE(one->read() == kUntouched);
  }

 private:
  std::unique_ptr<memory::soft_gpu::Memory> memories_[kNextAllocations];
};

ibv_mr* registered(Side& side, std::uint64_t address, std::size_t length) {
  return ibv_reg_mr(side.domain(), reinterpret_cast<void*>(address), length,
                    static_cast<int>(kAllAccess));
}

class GpuLifetime : public testing::TestWithParam<Allocator> {};

TEST_P(GpuLifetime, MemoryFreedWhileRegisteredIsNotWritten) {
  Loopback loop;
  Memory& host = loop.side.memory(kGpuBytes);
  GpuMemory gpu(loop.side, GetParam());
  const Remote remote = gpu.remote();
  gpu.memory().free();
  const NextAllocations next(GetParam());
  for (const std::size_t length : {std::size_t{1}, std::size_t{100}, kGpuBytes}) {
    loop.write(host.segment(0, length), remote, 0);
    EXPECT_EQ(loop.side.completion().status, kGone) << length;
    loop.renew();
  }
  next.expect_untouched();
}

TEST_P(GpuLifetime, MemoryFreedWhileRegisteredIsNotRead) {
  Loopback loop;
  Memory& host = loop.side.memory(kGpuBytes);
  host.fill(0x11);
  GpuMemory gpu(loop.side, GetParam());
  const Remote remote = gpu.remote();
  const ibv_sge local = gpu.segment(0, kGpuBytes);
  gpu.memory().free();
  const NextAllocations next(GetParam());
  loop.read(host.segment(0, kGpuBytes), remote, 0);
  EXPECT_EQ(loop.side.completion().status, kGone);
  loop.renew();
  loop.write(local, host.remote(), 0);
  EXPECT_EQ(loop.side.completion().status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(host.first_not(0x11, 0, kGpuBytes), -1);
}

TEST_P(GpuLifetime, RegionOfFreedMemoryIsDeregisteredAndItsAddressesServeTheNext) {
  Loopback loop;
  Memory& host = loop.side.memory(kGpuBytes);
  host.fill_pattern(4, 0, 5000);
  for (int round = 0; round < 20; ++round) {
    memory::soft_gpu::Memory memory(GetParam(), kGpuBytes);
    ibv_mr* region = registered(loop.side, memory.address(), kGpuBytes);
    ASSERT_NE(region, nullptr);
    memory.free();
    EXPECT_EQ(ibv_dereg_mr(region), 0);
    GpuMemory next(loop.side, GetParam());
    loop.write(host.segment(0, 5000), next.remote(), 99);
    loop.side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(next.first_not(4, 99, 5000), -1);
  }
}

TEST_P(GpuLifetime, TwoRegistrationsOfOneBufferEndEachForItself) {
  Loopback loop;
  Memory& host = loop.side.memory(4096);
  host.fill_pattern(8, 0, 4096);
  for (const bool first_ends : {true, false}) {
    GpuMemory gpu(loop.side, GetParam());
    ibv_mr* region = registered(loop.side, gpu.memory().address() + 1000, 100'000);
    ASSERT_NE(region, nullptr);
    const Remote whole = gpu.remote();
    const Remote part{gpu.memory().address() + 1000, 100'000, region->rkey};
    EXPECT_NE(whole.key, part.key);
    if (first_ends) {
      gpu.deregister();
    } else {
      EXPECT_EQ(ibv_dereg_mr(region), 0);
    }
    loop.write(host.segment(0, 4096), first_ends ? part : whole, first_ends ? 23 : 1023);
    loop.side.expect(IBV_WC_SUCCESS);
    EXPECT_EQ(gpu.first_not(8, 1023, 4096), -1);
    loop.write(host.segment(0, 4096), first_ends ? whole : part, 0);
    loop.side.expect(IBV_WC_REM_ACCESS_ERR);
    EXPECT_EQ(gpu.first_not(8, 1023, 4096), -1);
    loop.renew();
    if (first_ends) {
      EXPECT_EQ(ibv_dereg_mr(region), 0);
    }
  }
}

TEST_P(GpuLifetime, IsRegisteredAtAnyOffsetAndNothingElseIsReached) {
  Loopback loop;
  Memory& host = loop.side.memory(kGpuBytes);
  std::uint64_t seed = 1;
  for (const std::size_t offset :
       {std::size_t{0}, std::size_t{1}, std::size_t{4095}, std::size_t{65'537}, kGpuBytes - 1}) {
    for (const std::size_t wanted : {std::size_t{1}, std::size_t{3}, std::size_t{70'001}}) {
      const std::size_t length = std::min(wanted, kGpuBytes - offset);
      SCOPED_TRACE(testing::Message() << length << " bytes at " << offset);
      GpuMemory gpu(loop.side, GetParam());
      ibv_mr* region = registered(loop.side, gpu.memory().address() + offset, length);
      ASSERT_NE(region, nullptr);
      const Remote remote{gpu.memory().address() + offset, length, region->rkey};
      host.fill_pattern(++seed, 0, length + 1);
      loop.write(host.segment(0, length), remote, 0);
      loop.side.expect(IBV_WC_SUCCESS);
      loop.write(host.segment(0, length + 1), remote, 0);
      loop.side.expect(IBV_WC_REM_ACCESS_ERR);
      loop.renew();
      EXPECT_EQ(gpu.first_not(seed, offset, length), -1);
      EXPECT_EQ(ibv_dereg_mr(region), 0);
    }
  }
}

// What an address held before, and whether it still does.
class Identity {
 public:
  explicit Identity(std::uint64_t address) : address_(address), id_(found()) {}
  bool lives() const { return id_ != 0 && found() == id_; }

 private:
  unsigned long long found() const {
    unsigned long long id = 0;
    const auto result = memory::soft_gpu::driver()->pointer_get_attribute(
        &id, cuda::CU_POINTER_ATTRIBUTE_BUFFER_ID, address_);
    return result == cuda::CUDA_SUCCESS ? id : 0;
  }
  std::uint64_t address_;
  unsigned long long id_;
};

// cuMemAlloc's memory goes with its context; that of the other allocators belongs to none.
TEST_P(GpuLifetime, ResetOfTheContextEndsTheKeysOfWhatItFreedAndNoOthers) {
  Loopback loop;
  Memory& host = loop.side.memory(4096);
  host.fill_pattern(5, 0, 4096);
  GpuMemory gpu(loop.side, GetParam());
  const Identity identity(gpu.memory().address());
  ASSERT_EQ(memory::soft_gpu::driver()->device_primary_ctx_reset(0), cuda::CUDA_SUCCESS);
  use_gpu();
  const bool lives = identity.lives();
  EXPECT_FALSE(lives && GetParam() == Allocator::kMemAlloc);
  {
    const NextAllocations next(GetParam());
    loop.write(host.segment(0, 4096), gpu.remote(), 77);
    EXPECT_EQ(loop.side.completion().status, lives ? IBV_WC_SUCCESS : kGone);
    loop.renew();
    next.expect_untouched();
  }
  if (lives) {
    EXPECT_EQ(gpu.first_not(5, 77, 4096), -1);
  } else {
    gpu.memory().forget();
  }
  gpu.deregister();
  GpuMemory next(loop.side, GetParam());
  loop.write(host.segment(0, 4096), next.remote(), 77);
  loop.side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(next.first_not(5, 77, 4096), -1);
}

struct Held {
  int descriptors = open_descriptors();
  std::ptrdiff_t mappings = 0;
  std::size_t resident = 0;  // KiB
  Held() {
    std::ifstream maps("/proc/self/maps"), sizes("/proc/self/statm");
    mappings = std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
    std::size_t total = 0;
    sizes >> total >> resident;
    resident *= static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 1024;
  }
};

std::size_t free_gpu_memory() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(memory::soft_gpu::driver()->mem_get_info(&free, &total), cuda::CUDA_SUCCESS);
  return free;
}

class GpuRegistrations : public AloneTest, public testing::WithParamInterface<Allocator> {};

TEST_P(GpuRegistrations, TenThousandLeaveNothingBehind) {
  // Each place in the table of regions is touched once. A genuine driver takes a minute for that,
  // and keeps memory of its own: there the process's memory is not compared.
  const int warm_up = is_real_gpu() ? 0 : 70'000;
  constexpr int kRounds = 10'000;
  constexpr int kMostMappings = 16;  // threads get a heap each when they first need one
  Loopback loop;
  Memory& host = loop.side.memory(4096);
  { GpuMemory first(loop.side, GetParam()); }  // the engine and its context
  const std::size_t free_before = free_gpu_memory();
  {
    memory::soft_gpu::Memory gpu(GetParam(), kGpuBytes);
    int descriptor = -1;
    (void)memory::soft_gpu::driver()->mem_get_handle_for_address_range(
        &descriptor, gpu.address(), kGpuBytes, cuda::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    const UniqueFd owned(descriptor);
    const auto round = [&](int number) {
      const auto address = gpu.address() + static_cast<unsigned>(number) % 70'000;
      ibv_mr* region = number % 2 == 0 || descriptor < 0
                           ? registered(loop.side, address, 4096)
                           : ibv_reg_dmabuf_mr(loop.side.domain(), address - gpu.address(), 4096,
                                               address, descriptor, static_cast<int>(kAllAccess));
      ASSERT_NE(region, nullptr) << number;
      if (number % 100 == 0) {
        loop.write(host.segment(0, 4096), {address, 4096, region->rkey}, 0);
        loop.side.expect(IBV_WC_SUCCESS);
      }
      ASSERT_EQ(ibv_dereg_mr(region), 0) << number;
    };
    for (int i = 0; i < 10; ++i) round(i);
    const Held first;
    for (int i = 0; i < warm_up && !HasFatalFailure(); ++i) round(i);
    const Held before;
    for (int i = 0; i < kRounds && !HasFatalFailure(); ++i) round(i);
    const Held after;
    EXPECT_EQ(after.descriptors, first.descriptors);
    EXPECT_LT(after.mappings, first.mappings + kMostMappings);
#if !defined(__SANITIZE_ADDRESS__)  // which keeps what was freed, and looks for leaks itself
    constexpr std::size_t kMostGrowth = 512;  // KiB; 50 bytes a round would be as much
    if (!is_real_gpu()) {
      EXPECT_LT(after.resident, before.resident + kMostGrowth);
    }
#endif
  }
  // An allocation of the VMM calls stays while anybody has a handle of it.
  if (!is_real_gpu()) {
    EXPECT_EQ(free_gpu_memory(), free_before);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, GpuRegistrations, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });
INSTANTIATE_TEST_SUITE_P(Of, GpuLifetime, testing::ValuesIn(kAllocators),
                         [](const auto& one) { return name_of(one.param); });

}  // namespace
}  // namespace gdr::test

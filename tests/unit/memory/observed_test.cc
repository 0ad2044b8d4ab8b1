// dma-bufs that tell nothing of their memory, whose export was observed: the observer is this test.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "base/unique_fd.h"
#include "cuda/observed_dma_buf.h"
#include "cuda/place.h"
#include "memory/pinned_memory.h"
#include "soft_gpu.h"

namespace gdr::memory {
namespace {

using soft_gpu::Allocator;
using soft_gpu::driver;
using soft_gpu::Memory;

constexpr std::uint64_t kBytes = 4 << 20, kOffset = 64 << 10, kLength = 4096;

struct Observed {
  struct stat file {};
  cuda::ObservedDmaBuf memory;
};
Observed& observed() {
  static Observed last;
  return last;
}

class ObservedMemory : public soft_gpu::WithSoftGpu, public testing::WithParamInterface<Allocator> {
 protected:
  void SetUp() override {
    WithSoftGpu::SetUp();
    setenv("GDR_SOFT_DMA_BUF", "anonymous", 1);
    observed() = {};
  }
  void TearDown() override { unsetenv("GDR_SOFT_DMA_BUF"); }

  // Exported, and observed as src/stand_ins/observe does.
  static UniqueFd export_observed(std::uint64_t address, std::uint64_t bytes) {
    int descriptor = -1;
    EXPECT_EQ(driver()->mem_get_handle_for_address_range(
                  &descriptor, address, bytes, cuda::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0),
              cuda::CUDA_SUCCESS);
    UniqueFd owned(descriptor);
    EXPECT_EQ(fstat(descriptor, &observed().file), 0);
    observed().memory = {address, bytes,
                         cuda::identity_of(*driver()->pointer_get_attributes, address, bytes)};
    EXPECT_NE(observed().memory.identity, 0u);
    return owned;
  }
};

TEST_P(ObservedMemory, IsReachedByItsDmaBufWhateverTheIova) {
  const Memory memory(GetParam(), kBytes);
  const UniqueFd dma_buf = export_observed(memory.address(), kBytes);
  for (const std::uint64_t iova : {std::uint64_t{0}, memory.address(), std::uint64_t{0x1234000}}) {
    const auto pinned = PinnedMemory::pin_dmabuf({dma_buf.get(), kOffset}, kLength, iova, true);
    ASSERT_TRUE(pinned) << pinned.error().message;
    EXPECT_STREQ((*pinned)->client().name(), "cuda");
    EXPECT_EQ((*pinned)->address(), memory.address() + kOffset);
  }
  const auto beyond = PinnedMemory::pin_dmabuf({dma_buf.get(), kOffset}, kBytes, 0, true);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code, EINVAL);
}

TEST_P(ObservedMemory, FreedSinceItsExportIsRefusedThoughTheAddressIsUsedAgain) {
  Memory memory(GetParam(), kBytes);
  const std::uint64_t address = memory.address();
  const UniqueFd dma_buf = export_observed(address, kBytes);
  memory.free();
  const Memory next(GetParam(), kBytes);
  const auto pinned = PinnedMemory::pin_dmabuf({dma_buf.get(), kOffset}, kLength, address, true);
  ASSERT_FALSE(pinned);
  EXPECT_EQ(pinned.error().code, EINVAL);
  EXPECT_NE(pinned.error().message.find("the memory behind the dma-buf was freed"),
            std::string::npos);
}

TEST_P(ObservedMemory, IsNotThatOfADmaBufOfAnotherSize) {
  const Memory memory(GetParam(), kBytes);
  const UniqueFd dma_buf = export_observed(memory.address(), kBytes);
  observed().memory.bytes = kBytes / 2;
  EXPECT_FALSE(cuda::find_observed_dma_buf(dma_buf.get()));
  EXPECT_FALSE(PinnedMemory::pin_dmabuf({dma_buf.get(), 0}, kLength, 0, true));
}

std::string allocator_name(const testing::TestParamInfo<Allocator>& info) {
  if (info.param == Allocator::kMemAlloc) return "MemAlloc";
  return info.param == Allocator::kVmm ? "Vmm" : "Pool";
}
INSTANTIATE_TEST_SUITE_P(Of, ObservedMemory,
                         testing::Values(Allocator::kMemAlloc, Allocator::kVmm, Allocator::kPool),
                         allocator_name);

// Two mappings side by side in one reservation; either can be replaced.
class ObservedMappings : public ObservedMemory {
 protected:
  void SetUp() override {
    ObservedMemory::SetUp();
    ASSERT_EQ(driver()->mem_address_reserve(&base_, 2 * kBytes, 0, 0, 0), cuda::CUDA_SUCCESS);
    map(0);
    map(1);
  }
  void TearDown() override {
    unmap(0);
    unmap(1);
    EXPECT_EQ(driver()->mem_address_free(base_, 2 * kBytes), cuda::CUDA_SUCCESS);
    ObservedMemory::TearDown();
  }
  void map(std::uint64_t which) {
    cuda::CUmemAllocationProp wanted{};
    wanted.type = cuda::CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location = {cuda::CU_MEM_LOCATION_TYPE_DEVICE, 0};
    wanted.allocFlags.gpuDirectRDMACapable = 1;
    const cuda::CUmemAccessDesc access{wanted.location, cuda::CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    cuda::CUmemGenericAllocationHandle handle = 0;
    const std::uint64_t at = base_ + which * kBytes;
    ASSERT_EQ(driver()->mem_create(&handle, kBytes, &wanted, 0), cuda::CUDA_SUCCESS);
    ASSERT_EQ(driver()->mem_map(at, kBytes, 0, handle, 0), cuda::CUDA_SUCCESS);
    ASSERT_EQ(driver()->mem_release(handle), cuda::CUDA_SUCCESS);
    ASSERT_EQ(driver()->mem_set_access(at, kBytes, &access, 1), cuda::CUDA_SUCCESS);
  }
  void unmap(std::uint64_t which) {
    EXPECT_EQ(driver()->mem_unmap(base_ + which * kBytes, kBytes), cuda::CUDA_SUCCESS);
  }

  cuda::CUdeviceptr base_ = 0;
};

TEST_P(ObservedMappings, OfWhichOneWasReplacedAreRefused) {
  const UniqueFd dma_buf = export_observed(base_, 2 * kBytes);
  EXPECT_TRUE(PinnedMemory::pin_dmabuf({dma_buf.get(), 0}, 2 * kBytes, 0, true));
  unmap(1);
  map(1);
  for (const std::uint64_t offset : {std::uint64_t{0}, kBytes}) {
    const auto pinned = PinnedMemory::pin_dmabuf({dma_buf.get(), offset}, kLength, 0, true);
    ASSERT_FALSE(pinned) << offset;
    EXPECT_EQ(pinned.error().code, EINVAL);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, ObservedMappings, testing::Values(Allocator::kVmm), allocator_name);

}  // namespace
}  // namespace gdr::memory

extern "C" __attribute__((visibility("default"))) int gdr_find_observed_dma_buf(
    std::uint64_t device, std::uint64_t inode, gdr::cuda::ObservedDmaBuf* found) {
  const auto& last = gdr::memory::observed();
  if (last.file.st_dev != device || last.file.st_ino != inode) return 0;
  *found = last.memory;
  return 1;
}

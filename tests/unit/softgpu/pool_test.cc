#include <unistd.h>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class PoolTest : public SoftGpu {
 protected:
  std::uint64_t used(CUmemoryPool pool) {
    std::uint64_t value = 0;
    EXPECT_CU(CUDA_SUCCESS,
              cu.mem_pool_get_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    return value;
  }
};

TEST_F(PoolTest, AllocatesAndFreesInStreamOrder) {
  CUmemoryPool pool = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_default_mem_pool(&pool, 0));
  CUstream stream = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&stream, CU_STREAM_NON_BLOCKING));
  const std::uint64_t before = used(pool);
  CUdeviceptr address = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_alloc_async(&address, 3 << 20, stream));
  EXPECT_GT(used(pool), before);
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(address, 0x77, 3 << 20, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  EXPECT_EQ(read(address, 100), Bytes(100, 0x77));
  CUmemoryPool seen = nullptr;
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&seen, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, address));
  EXPECT_EQ(seen, pool);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_free_async(address, stream));
  unsigned char byte = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_dtoh_async(&byte, address, 1, stream));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_free_async(address, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  EXPECT_EQ(used(pool), before);
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

TEST_F(PoolTest, KeepsToItsSizeAndOutlivesItsHandle) {
  CUmemPoolProps wanted{};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 1};
  wanted.maxSize = 4 << 20;
  CUmemoryPool pool = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_pool_create(&pool, &wanted));
  CUdeviceptr address = 0;
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
            cu.mem_alloc_from_pool_async(&address, 5 << 20, pool, nullptr));
  ASSERT_CU(CUDA_SUCCESS, cu.mem_alloc_from_pool_async(&address, 1 << 20, pool, nullptr));
  int ordinal = -1;
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address));
  EXPECT_EQ(ordinal, 1);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_pool_destroy(pool));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_pool_destroy(pool));
  write(address, pattern(1000, 2));
  EXPECT_EQ(read(address, 1000), pattern(1000, 2));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
}

TEST_F(PoolTest, NoBytesAreNoError) {
  CUdeviceptr address = 7;
  EXPECT_CU(CUDA_SUCCESS, cu.mem_alloc_async(&address, 0, nullptr));
  EXPECT_EQ(address, 0u);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_async(address, nullptr));
}

TEST_F(PoolTest, MemoryDoesNotCallItselfGpuDirectRdmaCapableAndHasADmaBuf) {
  CUdeviceptr address = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_alloc_async(&address, 1 << 20, nullptr));
  unsigned char capable = 7;
  EXPECT_CU(CUDA_SUCCESS, cu.pointer_get_attribute(
                              &capable, CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, address));
  EXPECT_EQ(capable, 0);
  int fd = -1;
  EXPECT_CU(CUDA_SUCCESS, cu.mem_get_handle_for_address_range(
                              &fd, address, 1 << 20, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
  close(fd);
  CUipcMemHandle handle{};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.ipc_get_mem_handle(&handle, address));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_async(address, nullptr));
}

TEST_F(PoolTest, CurrentPoolOfADeviceServesItsStreams) {
  CUmemPoolProps wanted{};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 9};
  CUmemoryPool pool = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_pool_create(&pool, &wanted));
  wanted.location.id = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_pool_create(&pool, &wanted));
  auto set = function<CUresult(CUdevice, CUmemoryPool)>("cuDeviceSetMemPool");
  auto get = function<CUresult(CUmemoryPool*, CUdevice)>("cuDeviceGetMemPool");
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, set(1, pool));  // another device's
  ASSERT_CU(CUDA_SUCCESS, set(0, pool));
  CUmemoryPool seen = nullptr;
  ASSERT_CU(CUDA_SUCCESS, get(&seen, 0));
  EXPECT_EQ(seen, pool);
  CUdeviceptr address = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_alloc_async(&address, 64, nullptr));
  EXPECT_GT(used(pool), 0u);
  ASSERT_CU(CUDA_SUCCESS, cu.mem_free_async(address, nullptr));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(nullptr));
  EXPECT_EQ(used(pool), 0u);
  std::uint64_t high = 0;
  EXPECT_CU(CUDA_SUCCESS, cu.mem_pool_get_attribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &high));
  EXPECT_GE(high, 64u);
  std::uint64_t threshold = 12345;
  EXPECT_CU(CUDA_SUCCESS,
            cu.mem_pool_set_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  threshold = 0;
  EXPECT_CU(CUDA_SUCCESS,
            cu.mem_pool_get_attribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
  EXPECT_EQ(threshold, 12345u);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_pool_trim_to(pool, 0));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_pool_destroy(pool));
  CUmemoryPool by_default = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_default_mem_pool(&by_default, 0));
  ASSERT_CU(CUDA_SUCCESS, get(&seen, 0));
  EXPECT_EQ(seen, by_default);
}

TEST_F(PoolTest, DefaultPoolCannotBeDestroyed) {
  CUmemoryPool pool = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_default_mem_pool(&pool, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_pool_destroy(pool));
  // Nor shared: it was not made with a handle type.
  int fd = -1;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_pool_export_to_shareable_handle(
                                          &fd, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUdeviceptr address = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_alloc_async(&address, 64, nullptr));
  CUmemPoolPtrExportData data{};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_pool_export_pointer(&data, address));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_async(address, nullptr));
}

}  // namespace
}  // namespace gdr::softgpu

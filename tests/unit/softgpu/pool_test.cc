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

TEST_F(PoolTest, DefaultPoolCannotBeDestroyed) {
  CUmemoryPool pool = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_default_mem_pool(&pool, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_pool_destroy(pool));
}

}  // namespace
}  // namespace gdr::softgpu

#include <cstring>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class Copy : public SoftGpu {};

TEST_F(Copy, CarriesEveryByteForOddSizesAndOffsets) {
  const CUdeviceptr a = allocate(1 << 20);
  const CUdeviceptr b = allocate(3 << 20);
  for (std::size_t bytes : {1u, 7u, 511u, 4097u, 65537u, 1000003u}) {
    for (std::size_t offset : {0u, 1u, 33u}) {
      const Bytes sent = pattern(bytes, bytes + offset);
      write(a + offset, sent);
      ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtod(b + 5 * offset, a + offset, bytes));
      ASSERT_EQ(read(b + 5 * offset, bytes), sent) << bytes << " at " << offset;
    }
  }
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(a));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(b));
}

TEST_F(Copy, PastTheEndOfAnAllocationMovesNothing) {
  const CUdeviceptr a = allocate(1024);
  const CUdeviceptr neighbour = allocate(1024);
  ASSERT_EQ(neighbour, a + 1024);
  write(a, Bytes(1024, 1));
  write(neighbour, Bytes(1024, 2));
  const Bytes news(1025, 9);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(a, news.data(), 1025));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod_async(a + 1023, news.data(), 2, nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(a, news.data(), ~std::size_t{0}));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d8(a + 1, 9, 1024));
  EXPECT_EQ(read(a, 1024), Bytes(1024, 1));
  EXPECT_EQ(read(neighbour, 1024), Bytes(1024, 2));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(a));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(neighbour));
}

TEST_F(Copy, RefusesFreedForeignAndMixedUpPointers) {
  Bytes host(4096, 3);
  const CUdeviceptr freed = allocate(4096);
  const CUdeviceptr live = allocate(4096);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(freed));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(freed, host.data(), 16));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_dtoh(host.data(), freed, 16));
  const auto as_device = reinterpret_cast<CUdeviceptr>(host.data());
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_dtod(live, as_device, 16));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_dtod(as_device, live, 16));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d8(as_device, 0, 16));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_htod(live, nullptr, 16));
  EXPECT_CU(CUDA_SUCCESS, cu.memcpy_htod(live, nullptr, 0));
  EXPECT_EQ(host, Bytes(4096, 3));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(live));
}

// Measured: unified addressing decides, whatever the argument is called.
TEST_F(Copy, HostOperandMayBeDeviceMemory) {
  const CUdeviceptr device = allocate(4096);
  write(device, pattern(2048, 6));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_htod(device + 2048, reinterpret_cast<void*>(device), 1000));
  EXPECT_EQ(read(device + 2048, 1000), pattern(1000, 6));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtoh(reinterpret_cast<void*>(device + 3048), device, 1000));
  EXPECT_EQ(read(device + 3048, 1000), pattern(1000, 6));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.memcpy_htod(device, reinterpret_cast<void*>(device + 4000), 97));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
}

TEST_F(Copy, UnifiedCopyWorksOutTheDirection) {
  const CUdeviceptr device = allocate(4096);
  const Bytes sent = pattern(4096, 1);
  Bytes got(4096);
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy(device, reinterpret_cast<CUdeviceptr>(sent.data()), 4096));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy(reinterpret_cast<CUdeviceptr>(got.data()), device, 4096));
  EXPECT_EQ(got, sent);
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy(reinterpret_cast<CUdeviceptr>(got.data()),
                                    reinterpret_cast<CUdeviceptr>(sent.data() + 1), 10));
  EXPECT_EQ(0, std::memcmp(got.data(), sent.data() + 1, 10));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
}

TEST_F(Copy, BetweenTwoDevices) {
  CUcontext other = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&other, 0, 1));
  const CUdeviceptr there = allocate(2 << 20);
  CUcontext popped = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&popped));
  const CUdeviceptr here = allocate(2 << 20);
  const Bytes sent = pattern(2 << 20, 4);
  write(here, sent);
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_peer(there, other, here, context, 2 << 20));
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_synchronize());
  EXPECT_EQ(read(there, 2 << 20), sent);
  EXPECT_CU(CUDA_ERROR_INVALID_CONTEXT,
            cu.memcpy_peer(there, reinterpret_cast<CUcontext>(&popped), here, context, 1));
  int ordinal = -1;
  ASSERT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, there));
  EXPECT_EQ(ordinal, 1);
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(other));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(here));
}

TEST_F(Copy, TwoDimensionsKeepTheirPitches) {
  const std::size_t width = 37;
  const std::size_t height = 11;
  const std::size_t pitch = 512;
  const CUdeviceptr device = allocate(pitch * height);
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8(device, 0xaa, pitch * height));
  const Bytes sent = pattern(64 * height, 2);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = sent.data();
  copy.srcPitch = 64;
  copy.srcXInBytes = 3;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device;
  copy.dstPitch = pitch;
  copy.dstXInBytes = 5;
  copy.WidthInBytes = width;
  copy.Height = height;
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_2d(&copy));
  const Bytes got = read(device, pitch * height);
  for (std::size_t y = 0; y < height; ++y) {
    EXPECT_EQ(0, std::memcmp(got.data() + y * pitch + 5, sent.data() + y * 64 + 3, width));
    EXPECT_EQ(got[y * pitch + 4], 0xaa);
    EXPECT_EQ(got[y * pitch + 5 + width], 0xaa);
  }
  copy.Height = 1;
  copy.srcPitch = copy.srcXInBytes + width - 1;  // narrower than a row, even if there is one only
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_2d(&copy));
  copy.srcPitch = 64;
  copy.Height = height + 1;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_2d(&copy));
  copy.Height = ~std::size_t{0};
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memcpy_2d(&copy));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
}

TEST_F(Copy, MemsetWritesItsPatternAndNothingElse) {
  const CUdeviceptr device = allocate(64);
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8(device, 0x11, 64));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d32(device + 4, 0xddccbbaa, 2));
  const Bytes got = read(device, 64);
  const Bytes wanted{0x11, 0x11, 0x11, 0x11, 0xaa, 0xbb, 0xcc, 0xdd,
                     0xaa, 0xbb, 0xcc, 0xdd, 0x11, 0x11, 0x11, 0x11};
  EXPECT_EQ(Bytes(got.begin(), got.begin() + 16), wanted);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d32(device + 2, 0, 1));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
}

}  // namespace
}  // namespace gdr::softgpu

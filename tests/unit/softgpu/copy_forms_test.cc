// Copies in all their forms: on streams, in boxes, in batches, between devices.
#include <cstring>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class CopyForms : public SoftGpu {
 protected:
  static constexpr std::size_t kBytes = 1 << 16;

  void SetUp() override {
    SoftGpu::SetUp();
    device = allocate(kBytes);
    ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&stream, CU_STREAM_NON_BLOCKING));
    ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, kBytes, 0));
    std::memset(pinned, 0, kBytes);
  }
  void TearDown() override {
    EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
    SoftGpu::TearDown();
  }
  Bytes pinned_bytes(std::size_t bytes) {
    const auto* from = static_cast<const unsigned char*>(pinned);
    return Bytes(from, from + bytes);
  }

  CUdeviceptr device = 0;
  CUstream stream = nullptr;
  void* pinned = nullptr;
};

TEST_F(CopyForms, UnifiedCopyOnAStreamGoesEitherWay) {
  const Bytes sent = pattern(kBytes, 1);
  ASSERT_CU(CUDA_SUCCESS,
            cu.memcpy_async(device, reinterpret_cast<CUdeviceptr>(sent.data()), kBytes, stream));
  ASSERT_CU(CUDA_SUCCESS,
            cu.memcpy_async(reinterpret_cast<CUdeviceptr>(pinned), device, kBytes, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  EXPECT_EQ(pinned_bytes(kBytes), sent);
}

TEST_F(CopyForms, BetweenDevicesOnAStreamWithoutPeerAccess) {
  CUcontext other = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&other, 0, 1));
  const CUdeviceptr there = allocate(kBytes);
  CUcontext popped = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&popped));
  write(device, pattern(kBytes, 2));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_peer_async(there, other, device, context, kBytes, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtoh_async(pinned, there, kBytes, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  EXPECT_EQ(pinned_bytes(kBytes), pattern(kBytes, 2));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(other));
  EXPECT_CU(CUDA_ERROR_CONTEXT_IS_DESTROYED,
            cu.memcpy_peer_async(there, other, device, context, 1, stream));
}

TEST_F(CopyForms, RowsOnAStream) {
  const Bytes sent = pattern(11 * 32, 3);
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = sent.data();
  copy.srcPitch = 32;
  copy.srcY = 1;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device;
  copy.dstPitch = 100;
  copy.dstY = 2;
  copy.WidthInBytes = 32;
  copy.Height = 10;
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_2d_async(&copy, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  const Bytes got = read(device, 1200);
  for (std::size_t y = 0; y < 10; ++y) {
    EXPECT_EQ(0, std::memcmp(&got[(y + 2) * 100], &sent[(y + 1) * 32], 32)) << y;
  }
}

// 3 layers of 4 rows of 5 bytes, from a box of 16x6 into one of 8x5, at an offset on each axis.
TEST_F(CopyForms, LayersKeepPitchAndHeightOfBothBoxes) {
  const Bytes sent = pattern(16 * 6 * 8, 4);
  for (const bool on_stream : {false, true}) {
    ASSERT_CU(CUDA_SUCCESS, cu.memset_d8(device, 0xaa, kBytes));
    ASSERT_CU(CUDA_SUCCESS, cu.ctx_synchronize());
    CUDA_MEMCPY3D box{};
    box.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    box.srcDevice = reinterpret_cast<CUdeviceptr>(sent.data());
    box.srcPitch = 16;
    box.srcHeight = 6;
    box.srcXInBytes = 1;
    box.srcY = 2;
    box.srcZ = 3;
    box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.dstDevice = device;
    box.dstPitch = 8;
    box.dstHeight = 5;
    box.dstXInBytes = 2;
    box.dstY = 1;
    box.dstZ = 4;
    box.WidthInBytes = 5;
    box.Height = 4;
    box.Depth = 3;
    if (on_stream) {
      ASSERT_CU(CUDA_SUCCESS, function<CUresult(const CUDA_MEMCPY3D*, CUstream)>(
                                  "cuMemcpy3DAsync_v2")(&box, stream));
      ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
    } else {
      ASSERT_CU(CUDA_SUCCESS, function<CUresult(const CUDA_MEMCPY3D*)>("cuMemcpy3D_v2")(&box));
    }
    Bytes wanted(8 * 5 * 8, 0xaa);
    for (std::size_t z = 0; z < 3; ++z) {
      for (std::size_t y = 0; y < 4; ++y) {
        std::memcpy(&wanted[((z + 4) * 5 + y + 1) * 8 + 2], &sent[((z + 3) * 6 + y + 2) * 16 + 1],
                    5);
      }
    }
    EXPECT_EQ(read(device, wanted.size()), wanted) << on_stream;
    box.dstZ = kBytes / 40 - 2;  // the last layer ends behind the allocation
    EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
              function<CUresult(const CUDA_MEMCPY3D*)>("cuMemcpy3D_v2")(&box));
    box.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
              function<CUresult(const CUDA_MEMCPY3D*)>("cuMemcpy3D_v2")(&box));
  }
}

TEST_F(CopyForms, BatchCarriesEveryPair) {
  ASSERT_NE(cu.memcpy_batch_async, nullptr);
  write(device, pattern(kBytes, 5));
  CUdeviceptr to[3];
  CUdeviceptr from[3];
  std::size_t bytes[3];
  for (std::size_t i = 0; i < 3; ++i) {
    to[i] = reinterpret_cast<CUdeviceptr>(pinned) + i * 1000;
    from[i] = device + (2 - i) * 5000;
    bytes[i] = 100 + i;
  }
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  std::size_t starts = 0;
  ASSERT_CU(CUDA_SUCCESS,
            cu.memcpy_batch_async(to, from, bytes, 3, &attributes, &starts, 1, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  const Bytes source = pattern(kBytes, 5);
  Bytes wanted(3000, 0);
  for (std::size_t i = 0; i < 3; ++i) {
    std::memcpy(&wanted[i * 1000], &source[(2 - i) * 5000], bytes[i]);
  }
  EXPECT_EQ(pinned_bytes(3000), wanted);
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.memcpy_batch_async(to, from, bytes, 3, &attributes, &starts, 1, nullptr));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.memcpy_batch_async(to, from, bytes, 0, &attributes, &starts, 1, stream));
}

TEST_F(CopyForms, PitchedAllocationHoldsItsRows) {
  CUdeviceptr rows = 0;
  std::size_t pitch = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_alloc_pitch(&rows, &pitch, 1000, 7, 4));
  EXPECT_EQ(pitch, 1024u);
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_get_address_range(&base, &bytes, rows));
  EXPECT_EQ(bytes, 7 * pitch);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free(rows));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.mem_alloc_pitch(&rows, &pitch, 1000, 7, 2));
  EXPECT_CU(CUDA_ERROR_OUT_OF_MEMORY,
            cu.mem_alloc_pitch(&rows, &pitch, 1000, ~std::size_t{0} / 2, 4));
}

}  // namespace
}  // namespace gdr::softgpu

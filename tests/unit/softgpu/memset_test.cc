// cuMemset*: every width, in one and two dimensions, at once and on a stream.
#include <cstring>
#include <string>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class Memset : public SoftGpu {
 protected:
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kPitch = 64;
  static constexpr std::size_t kWidth = 5;
  static constexpr std::size_t kHeight = 7;

  void SetUp() override {
    SoftGpu::SetUp();
    device = allocate(kBytes);
  }
  void TearDown() override {
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
    SoftGpu::TearDown();
  }
  void clear() { EXPECT_CU(CUDA_SUCCESS, cu.memset_d8(device, 0xaa, kBytes)); }

  // What must be there: `width` units in each of `height` rows from `offset` on, nothing else.
  template <typename Unit>
  void expect(Unit value, std::size_t offset, std::size_t width, std::size_t height) {
    Bytes wanted(kBytes, 0xaa);
    for (std::size_t y = 0; y < height; ++y) {
      for (std::size_t x = 0; x < width; ++x) {
        std::memcpy(&wanted[offset + y * kPitch + x * sizeof value], &value, sizeof value);
      }
    }
    EXPECT_CU(CUDA_SUCCESS, cu.ctx_synchronize());
    EXPECT_EQ(read(device, kBytes), wanted) << sizeof value << " bytes, " << height << " rows";
  }

  template <typename Unit>
  void all_forms(const std::string& bits, Unit value) {
    auto line =
        function<CUresult(CUdeviceptr, Unit, std::size_t)>(("cuMemsetD" + bits + "_v2").c_str());
    auto line_on = function<CUresult(CUdeviceptr, Unit, std::size_t, CUstream)>(
        ("cuMemsetD" + bits + "Async").c_str());
    auto box = function<CUresult(CUdeviceptr, std::size_t, Unit, std::size_t, std::size_t)>(
        ("cuMemsetD2D" + bits + "_v2").c_str());
    auto box_on =
        function<CUresult(CUdeviceptr, std::size_t, Unit, std::size_t, std::size_t, CUstream)>(
            ("cuMemsetD2D" + bits + "Async").c_str());
    CUstream stream = nullptr;
    ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&stream, CU_STREAM_DEFAULT));
    clear();
    ASSERT_CU(CUDA_SUCCESS, line(device + 8, value, 9));
    expect(value, 8, 9, 1);
    clear();
    ASSERT_CU(CUDA_SUCCESS, line_on(device + 8, value, 9, stream));
    expect(value, 8, 9, 1);
    clear();
    ASSERT_CU(CUDA_SUCCESS, box(device + 4, kPitch, value, kWidth, kHeight));
    expect(value, 4, kWidth, kHeight);
    clear();
    ASSERT_CU(CUDA_SUCCESS, box_on(device + 4, kPitch, value, kWidth, kHeight, stream));
    expect(value, 4, kWidth, kHeight);
    EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
  }
  CUdeviceptr device = 0;
};

TEST_F(Memset, FillsUnitsOfOneTwoAndFourBytesAndNothingElse) {
  all_forms<unsigned char>("8", 0x5c);
  all_forms<unsigned short>("16", 0x1234);
  all_forms<unsigned>("32", 0xdeadbeef);
}

TEST_F(Memset, RefusesWhatIsNotAlignedAndRowsThatOverlap) {
  auto d16 = function<CUresult(CUdeviceptr, unsigned short, std::size_t)>("cuMemsetD16_v2");
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, d16(device + 1, 0, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d32(device + 2, 0, 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d2d8(device, 4, 0, 8, 2));
  EXPECT_CU(CUDA_SUCCESS, cu.memset_d2d8(device, 4, 0, 8, 1));  // there is no second row
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d2d8(device, kPitch, 0, 8, kBytes / kPitch + 1));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d2d8(device, ~std::size_t{0}, 0, 8, 3));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.memset_d32(device, 0, ~std::size_t{0} / 2));
  EXPECT_CU(CUDA_SUCCESS, cu.memset_d8(device, 0, 0));
}

TEST_F(Memset, KeepsItsPatternOverTheBorderOfTwoMappings) {
  constexpr std::size_t kBlockBytes = 2 << 20;
  CUmemAllocationProp wanted{};
  wanted.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const CUmemAccessDesc access{wanted.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  CUdeviceptr address = 0;
  CUmemGenericAllocationHandle handles[2] = {};
  ASSERT_CU(CUDA_SUCCESS, cu.mem_address_reserve(&address, 2 * kBlockBytes, 0, 0, 0));
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_CU(CUDA_SUCCESS, cu.mem_create(&handles[i], kBlockBytes, &wanted, 0));
    ASSERT_CU(CUDA_SUCCESS, cu.mem_map(address + i * kBlockBytes, kBlockBytes, 0, handles[i], 0));
    EXPECT_CU(CUDA_SUCCESS, cu.mem_release(handles[i]));
  }
  ASSERT_CU(CUDA_SUCCESS, cu.mem_set_access(address, 2 * kBlockBytes, &access, 1));
  const CUdeviceptr border = address + kBlockBytes;
  // Rows of 12 bytes: one ends in the second mapping, one begins there.
  ASSERT_CU(CUDA_SUCCESS,
            function<CUresult(CUdeviceptr, std::size_t, unsigned, std::size_t, std::size_t)>(
                "cuMemsetD2D32_v2")(border - 8, 16, 0x04030201, 3, 2));
  const Bytes wanted_bytes{1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0, 0,
                           1, 2, 3, 4, 1, 2, 3, 4, 1, 2, 3, 4, 0, 0, 0, 0};
  EXPECT_EQ(read(border - 8, 32), wanted_bytes);
  EXPECT_CU(CUDA_SUCCESS, cu.mem_unmap(address, 2 * kBlockBytes));
  EXPECT_CU(CUDA_SUCCESS, cu.mem_address_free(address, 2 * kBlockBytes));
}

TEST_F(Memset, FillsPinnedHostMemoryToo) {
  void* pinned = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, 64, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8(reinterpret_cast<CUdeviceptr>(pinned), 0x31, 64));
  EXPECT_EQ(static_cast<unsigned char*>(pinned)[63], 0x31);  // without waiting for it
  EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
}

}  // namespace
}  // namespace gdr::softgpu

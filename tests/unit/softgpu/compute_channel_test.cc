// Waits for a value in memory, and what has to wait behind them as behind a kernel that runs.
#include <sys/mman.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>

#include "soft_gpu.h"
#include "soon.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

constexpr std::size_t kBytes = 1 << 20;

class ComputeChannel : public SoftGpu {
 protected:
  void SetUp() override {
    SoftGpu::SetUp();
    for (CUstream* stream : {&spinning, &copying}) {
      ASSERT_CU(CUDA_SUCCESS, cu.stream_create(stream, CU_STREAM_NON_BLOCKING));
    }
    ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, kBytes, 0));
    device = allocate(kBytes);
    flag = allocate(8);
    write(flag, Bytes(8, 0));
  }
  void TearDown() override {
    let_go();
    EXPECT_CU(CUDA_SUCCESS, cu.ctx_synchronize());
    for (CUdeviceptr address : {flag, device}) EXPECT_CU(CUDA_SUCCESS, cu.mem_free(address));
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
    for (CUstream stream : {copying, spinning}) {
      EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
    }
    SoftGpu::TearDown();
  }
  void hold() {
    ASSERT_CU(CUDA_SUCCESS, cu.stream_wait_value_32(spinning, flag, 1, CU_STREAM_WAIT_VALUE_GEQ));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // until it spins
    EXPECT_CU(CUDA_ERROR_NOT_READY, cu.stream_query(spinning));
  }
  void let_go() { EXPECT_CU(CUDA_SUCCESS, cu.stream_write_value_32(copying_on(), flag, 1, 0)); }
  // A fresh stream, since the one that copies may be the one that is stuck.
  CUstream copying_on() {
    CUstream stream = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cu.stream_create(&stream, CU_STREAM_NON_BLOCKING));
    return stream;
  }
  CUresult two_dimensions(const void* from, std::size_t width, std::size_t height) {
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = device;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = width;
    copy.Height = height;
    return cu.memcpy_2d_async(&copy, copying);
  }
  void expect_goes_on(const std::function<CUresult()>& issue) {
    EXPECT_TRUE(is_carried_out_within(test::kLastResortMs, issue));
  }
  void expect_waits(const std::function<CUresult()>& issue) {
    EXPECT_FALSE(is_carried_out_within(50, issue));
  }
  // What `issue` puts on the stream, while the other stream is held.
  bool is_carried_out_within(int milliseconds, const std::function<CUresult()>& issue) {
    write(flag, Bytes(8, 0));
    hold();
    EXPECT_CU(CUDA_SUCCESS, issue());
    bool done = false;
    for (int look = 0; look < milliseconds && !done; ++look) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      done = cu.stream_query(copying) == CUDA_SUCCESS;
    }
    let_go();
    EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(copying));
    EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(spinning));
    return done;
  }

  CUstream spinning = nullptr, copying = nullptr;
  CUdeviceptr device = 0, flag = 0;
  void* pinned = nullptr;
};

TEST_F(ComputeChannel, FewBytesFromTheHostWaitBehindWhatRuns) {
  const Bytes pageable(kBytes, 3);
  const auto copy = [&](const void* from, std::size_t bytes) {
    return [=, this] { return cu.memcpy_htod_async(device, from, bytes, copying); };
  };
  expect_waits(copy(pinned, 1));
  expect_waits(copy(pinned, 24 << 10));
  expect_goes_on(copy(pinned, (24 << 10) + 1));
  expect_waits(copy(pageable.data(), (24 << 10) + 1));
  expect_waits(copy(pageable.data(), 64 << 10));
  expect_goes_on(copy(pageable.data(), (64 << 10) + 1));
}

TEST_F(ComputeChannel, TwoRowsTakeACopyEngine) {
  expect_goes_on([&] { return two_dimensions(pinned, 1, 2); });
  expect_goes_on([&] { return two_dimensions(pinned, 12'288, 2); });
  expect_waits([&] { return two_dimensions(pinned, 2, 1); });
}

TEST_F(ComputeChannel, ABatchTakesACopyEngineWhereOneIsWishedFor) {
  const auto batch = [&](cuda::CUmemcpyFlags flags) {
    return [=, this] {
      CUdeviceptr to = device, from = reinterpret_cast<CUdeviceptr>(pinned);
      std::size_t bytes = 1, start = 0;
      cuda::CUmemcpyAttributes attributes{};
      attributes.srcAccessOrder = cuda::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
      attributes.flags = flags;
      return cu.memcpy_batch_async(&to, &from, &bytes, 1, &attributes, &start, 1, copying);
    };
  };
  expect_goes_on(batch(cuda::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE));
  expect_waits(batch(cuda::CU_MEMCPY_FLAG_DEFAULT));
}

TEST_F(ComputeChannel, CopiesToTheHostAndWithinTheDeviceGoOn) {
  expect_goes_on([&] { return cu.memcpy_dtoh_async(pinned, device, 8, copying); });
  expect_goes_on([&] { return cu.memcpy_dtod_async(device + 64, device, 8, copying); });
}

TEST_F(ComputeChannel, FillsAreKernels) {
  expect_waits([&] { return cu.memset_d8_async(device, 7, 1, copying); });
}

TEST_F(ComputeChannel, OfAnotherDeviceIsNotHeld) {
  CUcontext second = nullptr;
  int count = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.device_get_count(&count));
  ASSERT_GE(count, 2);
  hold();
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_create(&second, 0, 1));
  const CUdeviceptr there = allocate(64);
  EXPECT_CU(CUDA_SUCCESS, cu.memcpy_htod(there, pinned, 64));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_destroy(second));
}

TEST_F(ComputeChannel, EveryConditionIsThatOfTheInterface) {
  struct Case {
    unsigned flags;
    std::uint32_t wanted, before, after;
  };
  for (const Case& one : {Case{CU_STREAM_WAIT_VALUE_GEQ, 5, 4, 5},
                          {CU_STREAM_WAIT_VALUE_GEQ, 0x7fffffff, 0x7ffffffe, 0x80000000},
                          {CU_STREAM_WAIT_VALUE_EQ, 5, 6, 5},
                          {CU_STREAM_WAIT_VALUE_AND, 6, 9, 2},
                          {CU_STREAM_WAIT_VALUE_NOR, 0xffff0000, 0x0000ffff, 0x00007fff},
                          {CU_STREAM_WAIT_VALUE_EQ | CU_STREAM_WAIT_VALUE_FLUSH, 1, 0, 1}}) {
    SCOPED_TRACE(testing::Message() << one.flags << " " << one.wanted);
    auto* value = static_cast<std::uint32_t*>(pinned);
    __atomic_store_n(value, one.before, __ATOMIC_RELEASE);
    const auto address = reinterpret_cast<CUdeviceptr>(pinned);
    ASSERT_CU(CUDA_SUCCESS, cu.stream_wait_value_32(spinning, address, one.wanted, one.flags));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_CU(CUDA_ERROR_NOT_READY, cu.stream_query(spinning));
    __atomic_store_n(value, one.after, __ATOMIC_RELEASE);
    EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(spinning));
  }
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.stream_wait_value_32(spinning, flag + 2, 1, 0));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.stream_wait_value_32(spinning, flag, 1, 8));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.stream_write_value_32(spinning, 4096, 1, 0));
}

TEST_F(ComputeChannel, WordsOf64BitsAreWaitedForAndWrittenWhole) {
  using Value = CUresult(CUstream, CUdeviceptr, std::uint64_t, unsigned);
  constexpr std::uint64_t kWanted = 1ull << 40;
  ASSERT_CU(CUDA_SUCCESS, function<Value>("cuStreamWaitValue64_v2")(spinning, flag, kWanted,
                                                                    CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cu.stream_query(spinning));
  ASSERT_CU(CUDA_SUCCESS, function<Value>("cuStreamWriteValue64_v2")(copying, flag, kWanted, 0));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(spinning));
  const Bytes found = read(flag, 8);
  std::uint64_t value = 0;
  std::memcpy(&value, found.data(), 8);
  EXPECT_EQ(value, kWanted);
}

}  // namespace
}  // namespace gdr::softgpu

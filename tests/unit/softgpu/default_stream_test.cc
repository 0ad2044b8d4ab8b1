// Programs built for per-thread default streams (nvcc --default-stream per-thread): their calls end
// in _ptds and _ptsz, and stream 0 means the thread's own.
#include <thread>

#include "gate.h"
#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class PerThreadStream : public SoftGpu {
 protected:
  void SetUp() override {
    SoftGpu::SetUp();
    device = allocate(4096);
    ASSERT_CU(CUDA_SUCCESS, cu.memset_d8(device, 0, 4096));
    ASSERT_CU(CUDA_SUCCESS, cu.ctx_synchronize());
  }
  void TearDown() override {
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
    SoftGpu::TearDown();
  }
  CUdeviceptr device = 0;
};

TEST_F(PerThreadStream, IgnoresOtherThreadsStreamsWhileTheLegacyStreamWaitsForAll) {
  Gate gate;
  std::thread([&] {
    EXPECT_CU(CUDA_SUCCESS, cu.ctx_set_current(context));
    auto launch = function<CUresult(CUstream, CUhostFn, void*)>("cuLaunchHostFunc_ptsz");
    EXPECT_CU(CUDA_SUCCESS, launch(nullptr, Gate::wait, &gate));
  }).join();
  auto fill =
      function<CUresult(CUdeviceptr, unsigned char, std::size_t, CUstream)>("cuMemsetD8Async_ptsz");
  EXPECT_CU(CUDA_SUCCESS, fill(device, 0x44, 64, nullptr));
  EXPECT_CU(CUDA_SUCCESS, function<CUresult(CUstream)>("cuStreamSynchronize_ptsz")(nullptr));
  Bytes got(64);
  auto copy = function<CUresult(void*, CUdeviceptr, std::size_t)>("cuMemcpyDtoH_v2_ptds");
  EXPECT_CU(CUDA_SUCCESS, copy(got.data(), device, 64));
  EXPECT_EQ(got, Bytes(64, 0x44));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cu.stream_query(nullptr));
  gate.open = true;
  EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(nullptr));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_query(nullptr));
}

TEST_F(PerThreadStream, HasAHandleThatEveryCallTakes) {
  auto* own = reinterpret_cast<CUstream>(kStreamPerThread);
  auto* legacy = reinterpret_cast<CUstream>(kStreamLegacy);
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 0x55, 64, own));
  CUevent event = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.event_create(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CU(CUDA_SUCCESS, cu.event_record(event, own));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_wait_event(legacy, event, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtod_async(device + 64, device, 64, legacy));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(legacy));
  EXPECT_EQ(read(device, 128), Bytes(128, 0x55));
  EXPECT_CU(CUDA_SUCCESS, cu.event_destroy(event));
}

TEST_F(PerThreadStream, IsWhatTheProcAddressFlagChooses) {
  void* plain = nullptr;
  void* per_thread = nullptr;
  CUdriverProcAddressQueryResult status{};
  for (const char* name : {"cuMemcpyHtoD", "cuMemcpyHtoDAsync", "cuMemsetD32", "cuMemAllocAsync",
                           "cuEventRecord", "cuStreamWaitEvent", "cuLaunchHostFunc"}) {
    ASSERT_CU(CUDA_SUCCESS, cu.get_proc_address(name, &plain, 13000, 0, &status)) << name;
    ASSERT_CU(CUDA_SUCCESS,
              cu.get_proc_address(name, &per_thread, 13000,
                                  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    EXPECT_NE(per_thread, nullptr) << name;
    EXPECT_NE(per_thread, plain) << name;
  }
  for (const char* name : {"cuMemAlloc", "cuCtxSynchronize"}) {  // have no stream
    ASSERT_CU(CUDA_SUCCESS, cu.get_proc_address(name, &plain, 13000, 0, &status)) << name;
    ASSERT_CU(CUDA_SUCCESS,
              cu.get_proc_address(name, &per_thread, 13000,
                                  CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
    EXPECT_EQ(per_thread, plain) << name;
  }
}

}  // namespace
}  // namespace gdr::softgpu

// Stream capture: what may happen beside it, by the rules of cuThreadExchangeStreamCaptureMode.
#include <functional>
#include <thread>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

class Capture : public SoftGpu {
 protected:
  void SetUp() override {
    SoftGpu::SetUp();
    ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&captured, CU_STREAM_NON_BLOCKING));
    ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&other, CU_STREAM_NON_BLOCKING));
    ASSERT_CU(CUDA_SUCCESS, cu.event_create(&event, CU_EVENT_DISABLE_TIMING));
    device = allocate(1 << 20);
    ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, 4096, 0));
  }
  void TearDown() override {
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
    EXPECT_CU(CUDA_SUCCESS, cu.event_destroy(event));
    EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(other));
    EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(captured));
    SoftGpu::TearDown();
  }
  void begin(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    ASSERT_CU(CUDA_SUCCESS, cu.stream_begin_capture(captured, mode));
  }
  CUresult end() {
    CUgraph graph = nullptr;
    const CUresult result = cu.stream_end_capture(captured, &graph);
    EXPECT_EQ(graph != nullptr, result == CUDA_SUCCESS);
    if (graph != nullptr) {
      EXPECT_CU(CUDA_SUCCESS, cu.graph_destroy(graph));
    }
    return result;
  }
  CUstreamCaptureStatus status(CUstream stream) {
    CUstreamCaptureStatus found{};
    EXPECT_CU(CUDA_SUCCESS, cu.stream_is_capturing(stream, &found));
    return found;
  }
  // What an unsafe call is answered with, by a thread of this mode.
  CUresult by_other_thread(CUstreamCaptureMode mode) {
    CUresult result{};
    std::thread([&] {
      EXPECT_CU(CUDA_SUCCESS, cu.thread_exchange_stream_capture_mode(&mode));
      result = cu.event_query(event);
    }).join();
    return result;
  }

  CUstream captured = nullptr, other = nullptr;
  CUevent event = nullptr;
  CUdeviceptr device = 0;
  void* pinned = nullptr;
};

TEST_F(Capture, BeginsAndEndsWithAnEmptyGraph) {
  EXPECT_EQ(status(captured), CU_STREAM_CAPTURE_STATUS_NONE);
  begin();
  EXPECT_EQ(status(captured), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(status(other), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE,
            cu.stream_begin_capture(captured, CU_STREAM_CAPTURE_MODE_GLOBAL));
  EXPECT_CU(CUDA_SUCCESS, end());
  EXPECT_EQ(status(captured), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_CU(CUDA_ERROR_ILLEGAL_STATE, end());
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.graph_destroy(nullptr));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            cu.stream_begin_capture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL));
}

TEST_F(Capture, ACallThatIsPutOnNoStreamIsRefusedAndSpoilsIt) {
  CUdeviceptr made = 0;
  CUmemGenericAllocationHandle handle = 0;
  CUipcMemHandle shared{};
  const std::pair<const char*, std::function<CUresult()>> calls[] = {
      {"cuMemAlloc", [&] { return cu.mem_alloc(&made, 4096); }},
      {"cuMemFree", [&] { return cu.mem_free(device); }},
      {"cuMemHostAlloc", [&] { return cu.mem_host_alloc(&pinned, 4096, 0); }},
      {"cuMemFreeHost", [&] { return cu.mem_free_host(pinned); }},
      {"cuEventQuery", [&] { return cu.event_query(event); }},
      {"cuEventSynchronize", [&] { return cu.event_synchronize(event); }},
      {"cuStreamQuery", [&] { return cu.stream_query(other); }},
      {"cuStreamSynchronize", [&] { return cu.stream_synchronize(other); }},
      {"cuCtxSynchronize", [&] { return cu.ctx_synchronize(); }},
      {"cuCtxDestroy", [&] { return cu.ctx_destroy(context); }},
      {"cuMemcpyHtoD", [&] { return cu.memcpy_htod(device, pinned, 64); }},
      {"cuMemRetainAllocationHandle",
       [&] { return cu.mem_retain_allocation_handle(&handle, pinned); }},
      {"cuMemAddressReserve", [&] { return cu.mem_address_reserve(&made, 2 << 20, 0, 0, 0); }},
      {"cuIpcGetMemHandle", [&] { return cu.ipc_get_mem_handle(&shared, device); }}};
  for (const auto& [name, call] : calls) {
    begin();
    EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, call()) << name;
    EXPECT_EQ(status(captured), CU_STREAM_CAPTURE_STATUS_INVALIDATED) << name;
    EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end()) << name;
    EXPECT_EQ(status(captured), CU_STREAM_CAPTURE_STATUS_NONE) << name;
  }
  begin();
  EXPECT_CU(CUDA_SUCCESS, end());
}

TEST_F(Capture, WorkOnOtherStreamsAndQuestionsAreAllowed) {
  begin();
  int ordinal = -1;
  CUcontext popped = nullptr;
  EXPECT_CU(CUDA_SUCCESS, cu.memcpy_htod_async(device, pinned, 4096, other));
  EXPECT_CU(CUDA_SUCCESS, cu.event_record(event, other));
  EXPECT_CU(CUDA_SUCCESS,
            cu.pointer_get_attribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, device));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_push_current(context));
  EXPECT_CU(CUDA_SUCCESS, cu.ctx_pop_current(&popped));
  EXPECT_CU(CUDA_SUCCESS, end());
  EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(other));
}

TEST_F(Capture, TheModesOfCaptureAndThreadDecideWhoIsRefused) {
  constexpr auto kGlobal = CU_STREAM_CAPTURE_MODE_GLOBAL;
  constexpr auto kThreadLocal = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
  constexpr auto kRelaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
  struct Case {
    CUstreamCaptureMode capture, thread;
    bool own_is_refused, others_is_refused;
  };
  for (const Case& one : {Case{kGlobal, kGlobal, true, true},
                          {kGlobal, kThreadLocal, true, false},
                          {kGlobal, kRelaxed, false, false},
                          {kThreadLocal, kGlobal, true, false},
                          {kThreadLocal, kThreadLocal, true, false},
                          {kThreadLocal, kRelaxed, false, false},
                          {kRelaxed, kGlobal, false, false},
                          {kRelaxed, kThreadLocal, false, false}}) {
    SCOPED_TRACE(testing::Message() << "capture " << one.capture << " thread " << one.thread);
    CUstreamCaptureMode mode = one.thread;
    begin(one.capture);
    ASSERT_CU(CUDA_SUCCESS, cu.thread_exchange_stream_capture_mode(&mode));
    EXPECT_EQ(cu.event_query(event) != CUDA_SUCCESS, one.own_is_refused);
    ASSERT_CU(CUDA_SUCCESS, cu.thread_exchange_stream_capture_mode(&mode));
    EXPECT_EQ(end() != CUDA_SUCCESS, one.own_is_refused);
    begin(one.capture);
    EXPECT_EQ(by_other_thread(one.thread) != CUDA_SUCCESS, one.others_is_refused);
    EXPECT_EQ(end() != CUDA_SUCCESS, one.others_is_refused);
  }
}

TEST_F(Capture, IsEndedByTheThreadThatBeganIt) {
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    begin(mode);
    CUresult found{};
    std::thread([&] {
      EXPECT_CU(CUDA_SUCCESS, cu.ctx_set_current(context));
      found = end();
    }).join();
    const bool anybody = mode == CU_STREAM_CAPTURE_MODE_RELAXED;
    EXPECT_CU(anybody ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, found);
    if (!anybody) {
      EXPECT_CU(CUDA_SUCCESS, end());
    }
  }
}

TEST_F(Capture, WorkOnTheCapturedStreamIsRefusedSinceNothingCanBeCaptured) {
  begin();
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
            cu.memcpy_htod_async(device, pinned, 64, captured));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, cu.event_record(event, captured));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end());
  EXPECT_CU(CUDA_SUCCESS, cu.memcpy_htod_async(device, pinned, 64, captured));
}

TEST_F(Capture, OfABlockingStreamForbidsTheLegacyOne) {
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(captured));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&captured, CU_STREAM_DEFAULT));
  begin(CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, cu.memcpy_htod_async(device, pinned, 64, nullptr));
  EXPECT_CU(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, end());
}

TEST_F(Capture, EndsWithItsStream) {
  begin();
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(captured));
  EXPECT_CU(CUDA_SUCCESS, cu.event_query(event));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_create(&captured, CU_STREAM_NON_BLOCKING));
}

}  // namespace
}  // namespace gdr::softgpu

#include <atomic>
#include <chrono>
#include <thread>

#include "gate.h"
#include "soft_gpu.h"
#include "soon.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

// An operation that does not wait for what it should has been carried out after this.
void give_time_to_overtake() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

class Stream : public SoftGpu {
 protected:
  void SetUp() override {
    SoftGpu::SetUp();
    ASSERT_CU(CUDA_SUCCESS, cu.mem_host_alloc(&pinned, 1 << 20, 0));
    device = allocate(1 << 20);
  }
  void TearDown() override {
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free(device));
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free_host(pinned));
    SoftGpu::TearDown();
  }
  CUstream make(unsigned flags) {
    CUstream stream = nullptr;
    EXPECT_CU(CUDA_SUCCESS, cu.stream_create(&stream, flags));
    return stream;
  }
  unsigned char* host() { return static_cast<unsigned char*>(pinned); }
  void* pinned = nullptr;
  CUdeviceptr device = 0;
};

TEST_F(Stream, CopiesAreAsynchronousAndTakePlaceInOrder) {
  Gate gate;
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  host()[0] = 1;
  host()[1] = 2;
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(stream, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_htod_async(device, host(), 1, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtod_async(device + 100, device, 1, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_htod_async(device, host() + 1, 1, stream));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cu.stream_query(stream));
  host()[0] = 7;  // pinned memory is read when the copy runs, not when it is issued
  gate.open = true;
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_query(stream));
  EXPECT_EQ(read(device + 100, 1)[0], 7);
  EXPECT_EQ(read(device, 1)[0], 2);
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.stream_query(stream));
}

TEST_F(Stream, PageableSourceMayChangeOnceTheCallReturns) {
  Gate gate;
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  Bytes source(1000, 5);
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(stream, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_htod_async(device, source.data(), 1000, stream));
  source.assign(1000, 6);
  gate.open = true;
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  EXPECT_EQ(read(device, 1000), Bytes(1000, 5));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

constexpr Nanoseconds kAWhile = 100 * kMillisecond;  // in which what waits has not returned

// Whether `call`, made by another thread, returns before `stream` may go on.
template <typename Call>
bool returns_at_once(const Driver& cu, CUcontext context, CUstream stream, Call call,
                     Nanoseconds patience = test::kLastResort) {
  Gate gate;
  EXPECT_CU(CUDA_SUCCESS, cu.launch_host_func(stream, Gate::wait, &gate));
  std::atomic<bool> returned{false};
  std::thread caller([&] {
    EXPECT_CU(CUDA_SUCCESS, cu.ctx_set_current(context));
    EXPECT_CU(CUDA_SUCCESS, call());
    returned = true;
  });
  const bool at_once = test::soon([&] { return returned.load(); }, patience);
  gate.open = true;
  caller.join();
  EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));  // the gate has been passed: it may go
  return at_once;
}

TEST_F(Stream, LargePageableSourceAndSyncMemopsMakeTheCallLastAsLongAsTheCopy) {
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  Bytes pageable(128 << 10, 5);
  auto from_host = [&](std::size_t bytes, Nanoseconds patience = test::kLastResort) {
    return returns_at_once(
        cu, context, stream,
        [&, bytes] { return cu.memcpy_htod_async(device, pageable.data(), bytes, stream); },
        patience);
  };
  auto on_device = [&](Nanoseconds patience = test::kLastResort) {
    return returns_at_once(
        cu, context, stream, [&] { return cu.memcpy_dtod_async(device, device + 512, 64, stream); },
        patience);
  };
  EXPECT_TRUE(from_host(64 << 10));
  EXPECT_FALSE(from_host((64 << 10) + 1, kAWhile));
  EXPECT_TRUE(on_device());
  unsigned on = 1;
  ASSERT_CU(CUDA_SUCCESS, cu.pointer_set_attribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device));
  EXPECT_FALSE(on_device(kAWhile));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

// The default stream waits for the blocking one.
TEST_F(Stream, SyncMemopsOfTheContextMakeSynchronousCallsLastAndNoOthers) {
  CUstream stream = make(CU_STREAM_DEFAULT);
  auto set_flags = function<CUresult(unsigned)>("cuCtxSetFlags");
  auto copy = function<CUresult(CUdeviceptr, CUdeviceptr, std::size_t)>("cuMemcpyDtoD_v2");
  auto fill = function<CUresult(CUdeviceptr, unsigned char, std::size_t)>("cuMemsetD8_v2");
  const auto copies_at_once = [&](Nanoseconds patience = test::kLastResort) {
    return returns_at_once(
        cu, context, stream, [&] { return copy(device, device + 512, 64); }, patience);
  };
  const auto fills_at_once = [&](Nanoseconds patience = test::kLastResort) {
    return returns_at_once(
        cu, context, stream, [&] { return fill(device, 7, 64); }, patience);
  };
  EXPECT_TRUE(copies_at_once());
  EXPECT_TRUE(fills_at_once());
  ASSERT_CU(CUDA_SUCCESS, set_flags(CU_CTX_SYNC_MEMOPS));
  EXPECT_FALSE(copies_at_once(kAWhile));
  EXPECT_FALSE(fills_at_once(kAWhile));
  EXPECT_TRUE(returns_at_once(
      cu, context, stream, [&] { return cu.memcpy_dtod_async(device, device + 512, 64, stream); }));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, set_flags(0x1000));
  EXPECT_CU(CUDA_SUCCESS, set_flags(0));
  EXPECT_TRUE(copies_at_once());
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

TEST_F(Stream, CopyToPageableMemoryIsDoneWhenTheCallReturns) {
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 0x42, 1 << 20, stream));
  Bytes got(1 << 20);
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtoh_async(got.data(), device, got.size(), stream));
  EXPECT_EQ(got, Bytes(1 << 20, 0x42));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

TEST_F(Stream, LegacyDefaultStreamWaitsForBlockingStreamsAndHoldsThemUp) {
  Gate gate;
  CUstream blocking = make(CU_STREAM_DEFAULT);
  CUstream free = make(CU_STREAM_NON_BLOCKING);
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(blocking, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 2, 32, blocking));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 1, 64, nullptr));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 3, 16, blocking));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device + 64, 3, 64, free));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(free));  // a non-blocking stream does not wait
  EXPECT_CU(CUDA_ERROR_NOT_READY, cu.stream_query(nullptr));
  give_time_to_overtake();
  gate.open = true;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_synchronize());
  Bytes wanted(64, 1);
  std::fill_n(wanted.begin(), 16, 3);
  EXPECT_EQ(read(device, 64), wanted);
  EXPECT_EQ(read(device + 64, 64), Bytes(64, 3));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(blocking));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(free));
}

TEST_F(Stream, EventIsReachedWhenWhatIsBeforeItIsDone) {
  Gate gate;
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  CUevent later = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.event_create(&event, CU_EVENT_DEFAULT));
  ASSERT_CU(CUDA_SUCCESS, cu.event_create(&later, CU_EVENT_DEFAULT));
  EXPECT_CU(CUDA_SUCCESS, cu.event_query(event));  // never recorded
  float milliseconds = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.event_elapsed_time(&milliseconds, event, later));
  ASSERT_CU(CUDA_SUCCESS, cu.event_record(event, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(stream, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.event_record(later, stream));
  EXPECT_CU(CUDA_SUCCESS, cu.event_synchronize(event));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cu.event_query(later));
  EXPECT_CU(CUDA_ERROR_NOT_READY, cu.event_elapsed_time(&milliseconds, event, later));
  gate.open = true;
  EXPECT_CU(CUDA_SUCCESS, cu.event_synchronize(later));
  EXPECT_CU(CUDA_SUCCESS, cu.event_elapsed_time(&milliseconds, event, later));
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_CU(CUDA_SUCCESS, cu.event_destroy(event));
  EXPECT_CU(CUDA_SUCCESS, cu.event_destroy(later));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.event_destroy(later));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

TEST_F(Stream, WaitsForTheEventOfAnotherStream) {
  Gate gate;
  CUstream first = make(CU_STREAM_NON_BLOCKING);
  CUstream second = make(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.event_create(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(first, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 8, 64, first));
  ASSERT_CU(CUDA_SUCCESS, cu.event_record(event, first));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_wait_event(second, event, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtod_async(device + 64, device, 64, second));
  give_time_to_overtake();
  EXPECT_CU(CUDA_ERROR_NOT_READY, cu.stream_query(second));
  gate.open = true;
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(second));
  EXPECT_EQ(read(device + 64, 64), Bytes(64, 8));
  EXPECT_CU(CUDA_SUCCESS, cu.event_destroy(event));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(first));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(second));
}

TEST_F(Stream, DestroyLetsWhatWasIssuedFinish) {
  Gate gate;
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  CUevent event = nullptr;
  ASSERT_CU(CUDA_SUCCESS, cu.event_create(&event, CU_EVENT_DISABLE_TIMING));
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(stream, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 0x21, 64, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.event_record(event, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
  gate.open = true;
  ASSERT_CU(CUDA_SUCCESS, cu.event_synchronize(event));
  EXPECT_EQ(read(device, 64), Bytes(64, 0x21));
  EXPECT_CU(CUDA_SUCCESS, cu.event_destroy(event));
}

TEST_F(Stream, FreeWaitsForTheCopiesThatUseTheMemory) {
  Gate gate;
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  const CUdeviceptr other = allocate(4 << 20);
  ASSERT_CU(CUDA_SUCCESS, cu.launch_host_func(stream, Gate::wait, &gate));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_htod_async(other, host(), 1 << 20, stream));
  std::atomic<bool> freed{false};
  std::thread freer([&] {
    cu.ctx_set_current(context);
    EXPECT_CU(CUDA_SUCCESS, cu.mem_free(other));
    freed = true;
  });
  while (!gate.reached) std::this_thread::yield();
  EXPECT_FALSE(freed);
  gate.open = true;
  freer.join();
  EXPECT_CU(CUDA_SUCCESS, cu.stream_query(stream));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

TEST_F(Stream, ManyThreadsOnManyStreamsKeepTheirOrder) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      cu.ctx_set_current(context);
      CUstream stream = nullptr;
      EXPECT_CU(CUDA_SUCCESS, cu.stream_create(&stream, t % 2));
      const CUdeviceptr mine = allocate(4096);
      for (int i = 0; i < kRounds; ++i) {
        EXPECT_CU(CUDA_SUCCESS, cu.memset_d32_async(mine, static_cast<unsigned>(i), 1024, stream));
        unsigned seen = 0;
        EXPECT_CU(CUDA_SUCCESS, cu.memcpy_dtoh_async(&seen, mine + 4092, 4, stream));
        EXPECT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
        EXPECT_EQ(seen, static_cast<unsigned>(i));
      }
      EXPECT_CU(CUDA_SUCCESS, cu.mem_free(mine));
      EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Stream, TellsWhatItIs) {
  int least = 1;
  int greatest = 1;
  ASSERT_CU(CUDA_SUCCESS, cu.ctx_get_stream_priority_range(&least, &greatest));
  EXPECT_GT(least, greatest);  // lower numbers go first
  CUstream stream = nullptr;
  ASSERT_CU(CUDA_SUCCESS,
            cu.stream_create_with_priority(&stream, CU_STREAM_NON_BLOCKING, greatest - 10));
  CUstream other = make(CU_STREAM_DEFAULT);
  int priority = 7;
  unsigned flags = 7;
  EXPECT_CU(CUDA_SUCCESS, cu.stream_get_priority(stream, &priority));
  EXPECT_EQ(priority, greatest);
  EXPECT_CU(CUDA_SUCCESS, cu.stream_get_flags(stream, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_NON_BLOCKING));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_get_flags(other, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(CU_STREAM_DEFAULT));
  CUstreamCaptureStatus capturing{};
  EXPECT_CU(CUDA_SUCCESS, cu.stream_is_capturing(stream, &capturing));
  EXPECT_EQ(capturing, CU_STREAM_CAPTURE_STATUS_NONE);
  CUcontext of = nullptr;
  EXPECT_CU(CUDA_SUCCESS, function<CUresult(CUstream, CUcontext*)>("cuStreamGetCtx")(stream, &of));
  EXPECT_EQ(of, context);
  auto id_of = [](CUstream handle) {
    unsigned long long id = 0;
    EXPECT_CU(CUDA_SUCCESS,
              function<CUresult(CUstream, unsigned long long*)>("cuStreamGetId")(handle, &id));
    return id;
  };
  EXPECT_NE(id_of(stream), id_of(other));
  CUdevice device_of = -1;
  EXPECT_CU(CUDA_SUCCESS,
            function<CUresult(CUstream, CUdevice*)>("cuStreamGetDevice")(stream, &device_of));
  EXPECT_EQ(device_of, 0);
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(other));
}

TEST_F(Stream, RefusesWrongHandlesAndFlags) {
  CUstream stream = nullptr;
  CUevent event = nullptr;
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.stream_create(&stream, 4));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.stream_destroy(nullptr));
  auto* none = reinterpret_cast<CUstream>(&stream);
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.stream_synchronize(none));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.memset_d8_async(device, 0, 1, none));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.memcpy_htod_async(device, pinned, 1, none));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.event_create(&event, 64));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.event_create(&event, CU_EVENT_INTERPROCESS));
  EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED,
            cu.event_create(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
  ASSERT_CU(CUDA_SUCCESS, cu.event_create(&event, CU_EVENT_DISABLE_TIMING));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE, cu.stream_wait_event(nullptr, event, 7));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.event_record(event, none));
  EXPECT_CU(CUDA_SUCCESS, cu.event_record(event, nullptr));
  EXPECT_CU(CUDA_SUCCESS, cu.event_synchronize(event));
  float milliseconds = 0;
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.event_elapsed_time(&milliseconds, event, event));
  EXPECT_CU(CUDA_SUCCESS, cu.event_destroy(event));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.event_query(event));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.event_synchronize(event));
  EXPECT_CU(CUDA_ERROR_INVALID_HANDLE, cu.event_record(event, nullptr));
}

TEST_F(Stream, CallbackComesWithItsStreamBehindWhatWasIssued) {
  struct Seen {
    std::atomic<bool> called{false};
    CUstream stream = nullptr;
    CUresult status = CUDA_ERROR_UNKNOWN;
    unsigned char first = 0;
    const unsigned char* host = nullptr;
  } seen;
  seen.host = host();
  CUstream stream = make(CU_STREAM_NON_BLOCKING);
  host()[0] = 0;
  ASSERT_CU(CUDA_SUCCESS, cu.memset_d8_async(device, 0x3c, 64, stream));
  ASSERT_CU(CUDA_SUCCESS, cu.memcpy_dtoh_async(host(), device, 64, stream));
  auto add = function<CUresult(CUstream, void (*)(CUstream, CUresult, void*), void*, unsigned)>(
      "cuStreamAddCallback");
  ASSERT_CU(CUDA_SUCCESS, add(
                              stream,
                              [](CUstream on, CUresult status, void* data) {
                                auto* out = static_cast<Seen*>(data);
                                out->stream = on;
                                out->status = status;
                                out->first = out->host[0];
                                out->called = true;
                              },
                              &seen, 0));
  ASSERT_CU(CUDA_SUCCESS, cu.stream_synchronize(stream));
  EXPECT_TRUE(seen.called);
  EXPECT_EQ(seen.stream, stream);
  EXPECT_CU(CUDA_SUCCESS, seen.status);
  EXPECT_EQ(seen.first, 0x3c);
  EXPECT_CU(CUDA_SUCCESS, cu.stream_destroy(stream));
}

TEST_F(Stream, CaptureModeIsKeptPerThread) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  ASSERT_CU(CUDA_SUCCESS, cu.thread_exchange_stream_capture_mode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  ASSERT_CU(CUDA_SUCCESS, cu.thread_exchange_stream_capture_mode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
}

}  // namespace
}  // namespace gdr::softgpu

// What copying on a stream of the application's own (primary) context brings: whether its queued
// work holds such copies up, and what is left of stream and event once it has reset that context.
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "../kernel.h"
#include "ways.h"

namespace gdr::costs {

using namespace cuda;

namespace {

constexpr int kStreams = 40;

// Copies of every kind on many streams of the application's, each of which waits for its kernel.
class Queued {
 public:
  Queued() {
    int least = 0, greatest = 0;
    must(driver->event_create(&end_, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
    must(driver->ctx_get_stream_priority_range(&least, &greatest), "priorities");
    for (int i = 0; i < kStreams; ++i) {
      CUstream stream = nullptr;
      must(driver->stream_create_with_priority(&stream, CU_STREAM_NON_BLOCKING,
                                               i % 2 == 0 ? least : greatest),
           "cuStreamCreateWithPriority");
      streams_.push_back(stream);
    }
  }
  void launch(const Setup& s, test::Kernel& kernel) {
    constexpr std::size_t kSome = 1 << 20;
    must(driver->event_record(end_, kernel.stream()), "cuEventRecord");
    for (std::size_t i = 0; i < streams_.size(); ++i) {
      CUstream stream = streams_[i];
      must(driver->stream_wait_event(stream, end_, 0), "cuStreamWaitEvent");
      must(driver->memcpy_dtoh_async(s.pinned, s.from, kSome, stream), "DtoH");
      must(driver->memcpy_htod_async(s.from, s.pinned, kSome, stream), "HtoD");
      must(driver->memcpy_async(s.to + (i + 8) * kSome % kBytes, s.from, kSome, stream), "peer");
      must(driver->memcpy_async(s.from, s.from + 2 * kSome, kSome, stream), "DtoD");
    }
  }

 private:
  CUevent end_ = nullptr;
  std::vector<CUstream> streams_;
};

struct Shape {
  const char* name;
  std::function<CUresult(const Setup&)> issue;
};
const Shape kShapes[] = {
    {"to GPU 8 B", [](const Setup& s) { return driver->memcpy_async(s.to, s.from, 8, s.stream); }},
    {"to GPU 4 MiB",
     [](const Setup& s) { return driver->memcpy_async(s.to, s.from, 4 << 20, s.stream); }},
    {"batch of 2 x 1 MiB",
     [](const Setup& s) {
       return batch(s.to, s.from, 1 << 20, 2, CU_MEMCPY_FLAG_DEFAULT, s.stream);
     }},
    {"2 rows 8 B", [](const Setup& s) { return two_rows(s.to, s.pinned, 8, s.stream); }},
    {"from host 1 MiB",
     [](const Setup& s) { return driver->memcpy_htod_async(s.to, s.pinned, 1 << 20, s.stream); }},
    {"to host 8 B",
     [](const Setup& s) { return driver->memcpy_dtoh_async(s.pinned, s.from, 8, s.stream); }},
    {"to host 1 MiB",
     [](const Setup& s) { return driver->memcpy_dtoh_async(s.pinned, s.from, 1 << 20, s.stream); }},
    {"within GPU 1 MiB",
     [](const Setup& s) {
       return driver->memcpy_async(s.from, s.from + (4 << 20), 1 << 20, s.stream);
     }},
};

std::string time_of(const Setup& s, const Shape& one) {
  const auto start = clock_now();
  CUresult result = one.issue(s);
  if (result == CUDA_SUCCESS) result = driver->event_record(s.event, s.stream);
  while (result == CUDA_SUCCESS && micros_since(start) < 50'000) {
    result = driver->event_query(s.event);
    if (result == CUDA_SUCCESS) break;
    if (result == CUDA_ERROR_NOT_READY) result = CUDA_SUCCESS;
  }
  const double taken = micros_since(start);
  if (result != CUDA_SUCCESS) return driver->describe(result).substr(11, 14);
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", taken);
  return taken < 50'000 ? text : "STUCK";
}

void measure_queued(const Way& way, int gpu, int far, const char* channels) {
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", channels, 1);
  const Setup setup(way, gpu, far);
  CUdeviceptr flag = 0;
  must(driver->ctx_set_current(setup.primary), "cuCtxSetCurrent");
  if (!test::Kernel::can_run(*driver)) {
    std::printf("  %-46s this driver runs no kernels\n", way.name);
    return;
  }
  must(driver->mem_alloc(&flag, 4), "cuMemAlloc");
  must(driver->memset_d32(flag, 0, 1), "cuMemsetD32");
  test::Kernel kernel(*driver, false);
  Queued queued;
  std::printf("  %-46s", way.name);
  for (const Shape& one : kShapes) {
    must(driver->ctx_set_current(setup.by), "cuCtxSetCurrent");
    (void)time_of(setup, one);
    const std::string alone = time_of(setup, one);
    must(driver->ctx_set_current(setup.primary), "cuCtxSetCurrent");
    kernel.start(flag, 5'000'000'000);
    queued.launch(setup, kernel);
    std::string beside;
    std::thread copier([&] {
      must(driver->ctx_set_current(setup.by), "cuCtxSetCurrent");
      beside = time_of(setup, one);
    });
    usleep(80'000);  // a call that waits for the kernel goes on with it
    (void)kernel.end();
    copier.join();
    must(driver->ctx_synchronize(), "cuCtxSynchronize");
    must(driver->stream_synchronize(setup.stream), "cuStreamSynchronize");
    std::printf("  %s: %s/%s", one.name, alone.c_str(), beside.c_str());
    std::fflush(stdout);
  }
  std::printf("\n");
}

void say(const char* what, CUresult result) {
  std::printf("  %-58s %s\n", what,
              result == CUDA_SUCCESS ? "CUDA_SUCCESS" : driver->describe(result).c_str());
  std::fflush(stdout);
}

// One call on what a reset has left, since it may end the process.
void after_reset(const char* what, bool again, const std::function<CUresult(const Setup&)>& call) {
  apart([&] {
    const Setup setup(kWays[2], 0, 0);
    must(driver->memcpy_async(setup.from, setup.from + 4096, 4096, setup.stream), "copy");
    must(driver->event_record(setup.event, setup.stream), "cuEventRecord");
    must(driver->device_primary_ctx_reset(0), "cuDevicePrimaryCtxReset");
    CUstream stream = nullptr;
    if (again) {
      CUcontext context = nullptr;
      must(driver->device_primary_ctx_retain(&context, 0), "retain");
      must(driver->ctx_set_current(context), "cuCtxSetCurrent");
      must(driver->stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    } else {
      must(driver->ctx_set_current(setup.own), "cuCtxSetCurrent");
    }
    say(what, call(setup));
  });
}

}  // namespace

void behind_queued_work(int gpu, int far) {
  std::printf("\n== beside a kernel behind which 40 streams have copies queued: us alone/beside\n");
  for (const char* channels : {"8", "1", "32"}) {
    std::printf("CUDA_DEVICE_MAX_CONNECTIONS=%s\n", channels);
    for (const Way& way : kWays) {
      apart([&] {
        try {
          measure_queued(way, gpu, far, channels);
        } catch (const std::exception& failure) {
          std::printf("  %s: %s\n", way.name, failure.what());
        }
      });
    }
  }
}

void after_a_reset(int, int) {
  std::printf("\n== what a reset of the primary context leaves (status 11: the call is a fault)\n");
  for (const bool again : {false, true}) {
    std::printf("%s\n", again ? "after the context was made anew" : "with another context current");
    after_reset("identity of its device memory", again, [](const Setup& s) {
      unsigned long long id = 0;
      return driver->pointer_get_attribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, s.one);
    });
    after_reset("identity of its pinned memory", again, [](const Setup& s) {
      unsigned long long id = 0;
      return driver->pointer_get_attribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, s.word_on_device);
    });
    after_reset("push it", again,
                [](const Setup& s) { return driver->ctx_push_current(s.primary); });
    after_reset("event query", again, [](const Setup& s) { return driver->event_query(s.event); });
    after_reset("stream query", again,
                [](const Setup& s) { return driver->stream_query(s.stream); });
    after_reset("event record", again,
                [](const Setup& s) { return driver->event_record(s.event, s.stream); });
    after_reset("copy", again, [](const Setup& s) {
      return driver->memcpy_async(s.from, s.from + 4096, 4096, s.stream);
    });
    after_reset("stream destroy", again,
                [](const Setup& s) { return driver->stream_destroy(s.stream); });
  }
}

}  // namespace gdr::costs

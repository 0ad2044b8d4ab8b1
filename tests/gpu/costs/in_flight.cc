// Copies behind each other without waiting, and copies beside a kernel that spins.
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

#include "../kernel.h"
#include "ways.h"

namespace gdr::costs {

using namespace cuda;

namespace {

constexpr unsigned kDeep = 16;
constexpr unsigned kCount = 256;  // copies a measurement

// Each with an event of its own on one stream, `deep` in flight: each end is seen by itself.
double in_order(const Setup& s, std::size_t bytes, unsigned deep) {
  std::vector<CUevent> events(deep);
  for (CUevent& event : events)
    must(driver->event_create(&event, CU_EVENT_DISABLE_TIMING), "event");
  const std::size_t places = kBytes / bytes;
  const auto start = clock_now();
  for (unsigned issued = 0, seen = 0; seen < kCount;) {
    if (issued < kCount && issued - seen < deep) {
      const std::size_t at = issued % places * bytes;
      must(driver->memcpy_async(s.to + at, s.from + at, bytes, s.stream), "cuMemcpyAsync");
      must(driver->event_record(events[issued++ % deep], s.stream), "cuEventRecord");
    } else if (driver->event_query(events[seen % deep]) == CUDA_SUCCESS) {
      ++seen;
    }
  }
  return micros_since(start) / kCount;
}

// Batches of `size` copies, two batches in flight.
double in_batches(const Setup& s, std::size_t bytes, unsigned size) {
  CUevent events[2];
  for (CUevent& event : events)
    must(driver->event_create(&event, CU_EVENT_DISABLE_TIMING), "event");
  const std::size_t places = std::max<std::size_t>(kBytes / (bytes * size), 1);
  const unsigned batches = kCount / size;
  const auto start = clock_now();
  for (unsigned issued = 0, seen = 0; seen < batches;) {
    if (issued < batches && issued - seen < 2) {
      const std::size_t at = issued % places * bytes * size;
      const CUresult r =
          batch(s.to + at, s.from + at, bytes, size, CU_MEMCPY_FLAG_DEFAULT, s.stream);
      if (r != CUDA_SUCCESS) return 0;
      must(driver->event_record(events[issued++ % 2], s.stream), "cuEventRecord");
    } else if (driver->event_query(events[seen % 2]) == CUDA_SUCCESS) {
      ++seen;
    }
  }
  return micros_since(start) / kCount;
}

void print(double micros, std::size_t bytes) {
  std::printf("  %7.2f us %6.1f GB/s", micros,
              micros > 0 ? static_cast<double>(bytes) / micros / 1e3 : 0);
}

void measure_flow(const Way& way, int gpu, int far) {
  const Setup setup(way, gpu, far);
  std::printf("\n%s\n  %8s  %-22s  %-22s  %-22s  %-22s  %-22s\n", way.name, "bytes", "1 in flight",
              "4 in flight, events", "16 in flight, events", "batches of 4", "batches of 16");
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{4} << 10, std::size_t{64} << 10,
                                  std::size_t{512} << 10, std::size_t{4} << 20}) {
    std::printf("  %8zu", bytes);
    for (const unsigned deep : {1u, 4u, kDeep}) {
      (void)in_order(setup, bytes, deep);
      print(in_order(setup, bytes, deep), bytes);
    }
    for (const unsigned size : {4u, kDeep}) {
      (void)in_batches(setup, bytes, size);
      print(in_batches(setup, bytes, size), bytes);
    }
    std::printf("\n");
  }
}

using WriteValue64 = CUresult(CUstream stream, CUdeviceptr address, std::uint64_t value,
                              unsigned flags);

WriteValue64* write_value_64() {
  void* library = dlopen(driver->path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  return reinterpret_cast<WriteValue64*>(dlsym(library, "cuStreamWriteValue64_v2"));
}

struct Beside {
  const char* name;
  std::function<CUresult(const Setup&)> issue;
};
const Beside kBeside[] = {
    {"GPU 8 B", [](const Setup& s) { return driver->memcpy_async(s.to, s.from, 8, s.stream); }},
    {"GPU 4 KiB",
     [](const Setup& s) { return driver->memcpy_async(s.to, s.from, 4096, s.stream); }},
    {"GPU 4 MiB",
     [](const Setup& s) { return driver->memcpy_async(s.to, s.from, 4 << 20, s.stream); }},
    {"2 in a batch",
     [](const Setup& s) { return batch(s.to, s.from, 4096, 2, CU_MEMCPY_FLAG_DEFAULT, s.stream); }},
    {"2 rows 8 B", [](const Setup& s) { return two_rows(s.to, s.pinned, 8, s.stream); }},
    {"to host 8 B",
     [](const Setup& s) { return driver->memcpy_dtoh_async(s.pinned, s.from, 8, s.stream); }},
    {"value 32, word",
     [](const Setup& s) {
       return driver->stream_write_value_32(s.stream, s.word_on_device, 1, 0);
     }},
    {"value 32, other's",
     [](const Setup& s) { return driver->stream_write_value_32(s.stream, s.to, 1, 0); }},
    {"value 64, other's",
     [](const Setup& s) {
       WriteValue64* write = write_value_64();
       return write != nullptr ? write(s.stream, s.to, 1, 0) : CUDA_ERROR_NOT_SUPPORTED;
     }},
};

// Microseconds, or why not.
std::string time_of(const Setup& s, const Beside& one) {
  const auto start = clock_now();
  CUresult result = one.issue(s);
  if (result == CUDA_SUCCESS) result = driver->event_record(s.event, s.stream);
  while (result == CUDA_SUCCESS && micros_since(start) < 50'000) {
    result = driver->event_query(s.event);
    if (result == CUDA_SUCCESS) break;
    if (result == CUDA_ERROR_NOT_READY) result = CUDA_SUCCESS;
  }
  const double taken = micros_since(start);
  if (result != CUDA_SUCCESS) return driver->describe(result).substr(11, 12);
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", taken);
  return taken < 50'000 ? text : "STUCK";
}

void measure_beside(const Way& way, int gpu, int far, const char* channels, bool whole, bool full) {
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
  test::Kernel kernel(*driver, whole);
  std::printf("  %-46s", way.name);
  for (const Beside& one : kBeside) {
    must(driver->ctx_set_current(setup.by), "cuCtxSetCurrent");
    const std::string alone = (time_of(setup, one), time_of(setup, one));
    must(driver->stream_synchronize(setup.stream), "cuStreamSynchronize");
    must(driver->ctx_set_current(setup.primary), "cuCtxSetCurrent");
    kernel.start(flag, 5'000'000'000);
    // Behind the kernel, more work of the application's than its queue holds.
    std::atomic<bool> launched{false};
    std::thread launcher([&] {
      must(driver->ctx_set_current(setup.primary), "cuCtxSetCurrent");
      for (int i = 0; full && i < 3000; ++i) {
        (void)driver->memset_d8_async(flag, 0, 4, kernel.stream());
      }
      launched = true;
    });
    if (full) usleep(20'000);
    must(driver->ctx_set_current(setup.by), "cuCtxSetCurrent");
    std::string beside;
    std::thread copier([&] {
      must(driver->ctx_set_current(setup.by), "cuCtxSetCurrent");
      beside = time_of(setup, one);
    });
    usleep(80'000);  // a call that waits for the kernel goes on with it
    must(driver->ctx_set_current(setup.primary), "cuCtxSetCurrent");
    (void)kernel.end();
    copier.join();
    launcher.join();
    must(driver->ctx_synchronize(), "cuCtxSynchronize");
    must(driver->stream_synchronize(setup.stream), "cuStreamSynchronize");
    std::printf("  %s: %s/%s", one.name, alone.c_str(), beside.c_str());
    std::fflush(stdout);
  }
  std::printf("\n");
}

}  // namespace

void copies_in_flight(int gpu, int far) {
  std::printf("\n== GPU to the other's GPU without waiting: time of one, and rate\n");
  for (const Way& way : kWays) {
    apart([&] { measure_flow(way, gpu, far); });
  }
}

void beside_a_kernel(int gpu, int far) {
  std::printf("\n== beside a kernel that spins: microseconds alone/beside it\n");
  for (const char* channels : {"8", "1"}) {
    for (const bool whole : {false, true}) {
      for (const bool full : {false, true}) {
        std::printf("CUDA_DEVICE_MAX_CONNECTIONS=%s, %s, %s\n", channels,
                    whole ? "it fills the GPU" : "one block",
                    full ? "3000 more operations launched behind it" : "nothing behind it");
        for (const Way& way : kWays) {
          apart([&] {
            try {
              measure_beside(way, gpu, far, channels, whole, full);
            } catch (const std::exception& failure) {
              std::printf("  %s: %s\n", way.name, failure.what());
            }
          });
        }
      }
    }
  }
}

}  // namespace gdr::costs

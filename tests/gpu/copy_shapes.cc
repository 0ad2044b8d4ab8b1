#include "copy_shapes.h"

#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace gdr::test {
namespace {

using cuda::CUresult;

constexpr std::size_t kBytes = 64 << 20;
constexpr Nanoseconds kPatience = 100 * kMillisecond;
constexpr Nanoseconds kKernelsLimit = 5 * kSecond;

// Buffers, and a stream for each context that copies are issued in.
struct Bench {
  explicit Bench(const cuda::Driver& the_driver) : driver_(the_driver), pageable(kBytes) {
    check(driver_, driver_.mem_host_alloc(&pinned, kBytes, 0), "cuMemHostAlloc");
    for (cuda::CUdeviceptr* one : {&to, &from}) {
      check(driver_, driver_.mem_alloc(one, kBytes), "cuMemAlloc");
    }
  }
  CUresult rows(const void* source, std::size_t width, std::size_t height, cuda::CUdeviceptr target,
                cuda::CUstream stream) const {
    cuda::CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = cuda::CU_MEMORYTYPE_HOST;
    copy.srcHost = source;
    copy.dstMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = target;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = width;
    copy.Height = height;
    return driver_.memcpy_2d_async(&copy, stream);
  }
  CUresult rows_on_device(std::size_t width, std::size_t height, cuda::CUstream stream) const {
    cuda::CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = copy.dstMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.dstDevice = to;
    copy.srcPitch = copy.dstPitch = copy.WidthInBytes = width;
    copy.Height = height;
    return driver_.memcpy_2d_async(&copy, stream);
  }
  // With the hint that a copy engine is preferred (CUDA 13).
  CUresult batch(cuda::CUdeviceptr origin, std::size_t bytes, cuda::CUstream stream) const {
    if (driver_.memcpy_batch_async == nullptr) return cuda::CUDA_ERROR_NOT_SUPPORTED;
    cuda::CUdeviceptr target = to;
    cuda::CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = cuda::CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    attributes.flags = cuda::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
    std::size_t start = 0;
    return driver_.memcpy_batch_async(&target, &origin, &bytes, 1, &attributes, &start, 1, stream);
  }

  const cuda::Driver& driver_;
  std::vector<char> pageable;
  void* pinned = nullptr;
  cuda::CUdeviceptr to = 0, from = 0;
};

struct Shape {
  const char* name;
  std::function<CUresult(cuda::CUstream)> issue;
};

std::vector<Shape> shapes_of(const Bench& bench) {
  const cuda::Driver& cu = bench.driver_;
  const auto plain = [&](const void* source, std::size_t bytes) {
    return [&bench, &cu, source, bytes](cuda::CUstream stream) {
      return cu.memcpy_htod_async(bench.to, source, bytes, stream);
    };
  };
  const auto rows = [&](const void* source, std::size_t width, std::size_t height) {
    return [&bench, source, width, height](cuda::CUstream stream) {
      return bench.rows(source, width, height, bench.to, stream);
    };
  };
  const auto on_device = [&](std::size_t bytes) {
    return [&bench, &cu, bytes](cuda::CUstream stream) {
      return cu.memcpy_async(bench.to, bench.from, bytes, stream);
    };
  };
  const auto by_engine = [&](std::size_t bytes) {
    return
        [&bench, bytes](cuda::CUstream stream) { return bench.batch(bench.from, bytes, stream); };
  };
  const void* pinned = bench.pinned;
  const void* pageable = bench.pageable.data();
  return {
      {"host to GPU, pinned, 1 B", plain(pinned, 1)},
      {"host to GPU, pinned, 8 B", plain(pinned, 8)},
      {"host to GPU, pinned, 24 KiB", plain(pinned, 24 << 10)},
      {"host to GPU, pinned, 24 KiB + 1", plain(pinned, (24 << 10) + 1)},
      {"host to GPU, pinned, 64 KiB + 1", plain(pinned, (64 << 10) + 1)},
      {"host to GPU, pageable, 8 B", plain(pageable, 8)},
      {"host to GPU, pageable, 64 KiB", plain(pageable, 64 << 10)},
      {"host to GPU, pageable, 64 KiB + 1", plain(pageable, (64 << 10) + 1)},
      {"two rows, pinned, 2 B", rows(pinned, 1, 2)},
      {"two rows, pinned, 8 B", rows(pinned, 4, 2)},
      {"two rows, pinned, 24 KiB", rows(pinned, 12 << 10, 2)},
      {"two rows, pinned, 64 KiB", rows(pinned, 32 << 10, 2)},
      {"two rows, pageable, 2 B", rows(pageable, 1, 2)},
      {"two rows, pageable, 64 KiB", rows(pageable, 32 << 10, 2)},
      {"one row of two dimensions, 1 B", rows(pinned, 1, 1)},
      {"one row of two dimensions, 8 B", rows(pinned, 8, 1)},
      {"batch, preferring a copy engine, 1 B",
       [&bench, pinned](cuda::CUstream stream) {
         return bench.batch(reinterpret_cast<cuda::CUdeviceptr>(pinned), 1, stream);
       }},
      {"batch, preferring a copy engine, pageable, 1 B",
       [&bench, pageable](cuda::CUstream stream) {
         return bench.batch(reinterpret_cast<cuda::CUdeviceptr>(pageable), 1, stream);
       }},
      {"within the GPU, preferring a copy engine, 1 B", by_engine(1)},
      {"within the GPU, preferring a copy engine, 64 KiB", by_engine(64 << 10)},
      {"within the GPU, preferring a copy engine, 64 MiB", by_engine(kBytes)},
      {"within the GPU, 1 B", on_device(1)},
      {"within the GPU, 8 B", on_device(8)},
      {"within the GPU, 64 KiB", on_device(64 << 10)},
      {"within the GPU, 1 MiB", on_device(1 << 20)},
      {"within the GPU, 64 MiB", on_device(kBytes)},
      {"within the GPU, two rows, 8 B",
       [&bench](cuda::CUstream stream) { return bench.rows_on_device(4, 2, stream); }},
      {"within the GPU, two rows, 64 MiB",
       [&bench](cuda::CUstream stream) { return bench.rows_on_device(kBytes / 2, 2, stream); }},
      {"GPU to host, 8 B",
       [&bench, &cu](cuda::CUstream stream) {
         return cu.memcpy_dtoh_async(bench.pinned, bench.from, 8, stream);
       }},
      {"GPU to host, 64 KiB",
       [&bench, &cu](cuda::CUstream stream) {
         return cu.memcpy_dtoh_async(bench.pinned, bench.from, 64 << 10, stream);
       }},
      {"fill, 1 B",
       [&bench, &cu](cuda::CUstream stream) { return cu.memset_d8_async(bench.to, 1, 1, stream); }},
  };
}

// How long it took beside the kernel, as text.
std::string time_beside(const cuda::Driver& driver, Kernel& kernel, cuda::CUdeviceptr flag,
                        const Shape& shape, cuda::CUstream stream, cuda::CUevent event) {
  kernel.start(flag, kKernelsLimit);
  const Nanoseconds begin = now();
  CUresult result = shape.issue(stream);
  if (result == cuda::CUDA_SUCCESS) result = driver.event_record(event, stream);
  while (result == cuda::CUDA_SUCCESS && now() - begin < kPatience) {
    result = driver.event_query(event);
    if (result != cuda::CUDA_ERROR_NOT_READY) break;
    result = cuda::CUDA_SUCCESS;
  }
  const Nanoseconds taken = now() - begin;
  (void)kernel.end();
  check(driver, driver.stream_synchronize(stream), "cuStreamSynchronize");
  if (result != cuda::CUDA_SUCCESS) return driver.describe(result).substr(0, 28);
  char text[32];
  std::snprintf(text, sizeof text, "%.1f us", static_cast<double>(taken) / 1e3);
  return taken < kPatience ? text : "STUCK";
}

}  // namespace

void print_copy_shapes(const cuda::Driver& driver, Kernel& kernel) {
  const Bench bench(driver);
  cuda::CUdeviceptr flag = 0;
  cuda::CUcontext contexts[2] = {};
  cuda::CUstream streams[2] = {};
  cuda::CUevent events[2] = {};
  check(driver, driver.mem_alloc(&flag, 4), "cuMemAlloc");
  check(driver, driver.memset_d32(flag, 0, 1), "cuMemsetD32");
  check(driver, driver.ctx_get_current(&contexts[0]), "cuCtxGetCurrent");
  check(driver, driver.ctx_create(&contexts[1], 0, 0), "cuCtxCreate");
  for (int i = 0; i < 2; ++i) {
    check(driver, driver.ctx_set_current(contexts[i]), "cuCtxSetCurrent");
    int least = 0, greatest = 0;
    (void)driver.ctx_get_stream_priority_range(&least, &greatest);
    check(driver,
          driver.stream_create_with_priority(&streams[i], cuda::CU_STREAM_NON_BLOCKING,
                                             i == 0 ? least : greatest),
          "cuStreamCreateWithPriority");
    check(driver, driver.event_create(&events[i], cuda::CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  }
  std::printf("  %-50s %14s %14s\n", "copy beside the kernel", "its context", "another");
  for (const Shape& shape : shapes_of(bench)) {
    std::string times[2];
    for (int i = 0; i < 2; ++i) {
      check(driver, driver.ctx_set_current(contexts[i]), "cuCtxSetCurrent");
      // Once without a kernel: what is set up at first use is set up.
      const bool works = shape.issue(streams[i]) == cuda::CUDA_SUCCESS;
      check(driver, driver.stream_synchronize(streams[i]), "cuStreamSynchronize");
      check(driver, driver.ctx_set_current(contexts[0]), "cuCtxSetCurrent");
      if (!works) {
        times[i] = "-";
        continue;
      }
      const Shape in_its_context{shape.name, [&](cuda::CUstream stream) {
                                   (void)driver.ctx_set_current(contexts[i]);
                                   return shape.issue(stream);
                                 }};
      times[i] = time_beside(driver, kernel, flag, in_its_context, streams[i], events[i]);
      check(driver, driver.ctx_set_current(contexts[0]), "cuCtxSetCurrent");
    }
    std::printf("  %-50s %14s %14s\n", shape.name, times[0].c_str(), times[1].c_str());
    std::fflush(stdout);
  }
  check(driver, driver.ctx_set_current(contexts[0]), "cuCtxSetCurrent");
}

}  // namespace gdr::test

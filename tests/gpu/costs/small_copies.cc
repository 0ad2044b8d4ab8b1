// What a small copy into another process's GPU memory costs, by who opened the memory, whose
// context copies, and how its end is noticed.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "ways.h"

namespace gdr::costs {

using namespace cuda;

Setup::Setup(const Way& way, int gpu, int far) : other(far) {
  load();
  primary = primary_of(gpu);
  own = own_of(gpu);
  by = way.by_own ? own : primary;
  if (way.from_created) {
    from = created_and_mapped_on(gpu);
  } else {
    must(driver->mem_alloc(&from, kBytes), "cuMemAlloc");
  }
  must(driver->mem_alloc(&one, 4), "cuMemAlloc");
  must(driver->memset_d32(one, 1, 1), "cuMemsetD32");
  void* memory = nullptr;
  must(driver->mem_host_alloc(&memory, kBytes, CU_MEMHOSTALLOC_PORTABLE_FLAG), "cuMemHostAlloc");
  pinned = static_cast<std::byte*>(memory);
  must(driver->ctx_synchronize(), "cuCtxSynchronize");
  {
    const Current current(way.opened_in_own ? own : primary);
    to = way.is_created ? other.map_created(gpu) : other.open_allocated();
  }
  must(driver->ctx_set_current(by), "cuCtxSetCurrent");
  must(driver->mem_host_alloc(&memory, 4096, CU_MEMHOSTALLOC_PORTABLE_FLAG), "cuMemHostAlloc");
  word = static_cast<std::uint32_t*>(memory);
  must(driver->mem_host_get_device_pointer(&word_on_device, memory, 0), "device pointer");
  int least = 0, greatest = 0;
  must(driver->ctx_get_stream_priority_range(&least, &greatest), "priorities");
  must(driver->stream_create_with_priority(&stream, CU_STREAM_NON_BLOCKING, greatest), "stream");
  must(driver->event_create(&event, CU_EVENT_DISABLE_TIMING), "cuEventCreate");
}

CUresult two_rows(CUdeviceptr to, const void* from, std::size_t bytes, CUstream stream) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = bytes / 2;
  copy.Height = 2;
  return driver->memcpy_2d_async(&copy, stream);
}

CUresult batch(CUdeviceptr to, CUdeviceptr from, std::size_t bytes, std::size_t count,
               CUmemcpyFlags flags, CUstream stream) {
  if (driver->memcpy_batch_async == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
  std::vector<CUdeviceptr> targets, sources;
  std::vector<std::size_t> lengths;
  for (std::size_t i = 0; i < count; ++i) {
    targets.push_back(to + i * bytes);
    sources.push_back(from + i * bytes);
    lengths.push_back(bytes);
  }
  CUmemcpyAttributes attributes{};
  attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
  attributes.flags = flags;
  std::size_t start = 0;
  return driver->memcpy_batch_async(targets.data(), sources.data(), lengths.data(), count,
                                    &attributes, &start, 1, stream);
}

void apart(const std::function<void()>& work) {
  std::fflush(stdout);
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(60);
    work();
    std::fflush(stdout);
    _exit(0);
  }
  int status = 1;
  waitpid(pid, &status, 0);
  if (status != 0) std::printf("  (ended with status %d)\n", status);
}

namespace {

using Issue = std::function<CUresult(const Setup&, std::size_t bytes)>;
struct Copy {
  const char* name;
  Issue issue;
};

const Copy kCopies[] = {
    {"GPU",
     [](const Setup& s, std::size_t n) { return driver->memcpy_async(s.to, s.from, n, s.stream); }},
    {"GPU, DtoD",
     [](const Setup& s, std::size_t n) {
       return driver->memcpy_dtod_async(s.to, s.from, n, s.stream);
     }},
    {"GPU, Peer(primary)",
     [](const Setup& s, std::size_t n) {
       return driver->memcpy_peer_async(s.to, s.primary, s.from, s.primary, n, s.stream);
     }},
    {"GPU, Peer(own)",
     [](const Setup& s, std::size_t n) {
       return driver->memcpy_peer_async(s.to, s.own, s.from, s.own, n, s.stream);
     }},
    {"GPU, batch of 1",
     [](const Setup& s, std::size_t n) {
       return batch(s.to, s.from, n, 1, CU_MEMCPY_FLAG_DEFAULT, s.stream);
     }},
    {"pinned, 2 rows",
     [](const Setup& s, std::size_t n) { return two_rows(s.to, s.pinned, n, s.stream); }},
    {"pinned, 1 batch",
     [](const Setup& s, std::size_t n) {
       return batch(s.to, reinterpret_cast<CUdeviceptr>(s.pinned), n, 1,
                    CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE, s.stream);
     }},
};

enum class End { kEvent, kStream, kWordByCopy, kWordByValue };
constexpr struct {
  const char* name;
  End end;
} kEnds[] = {{"event", End::kEvent},
             {"stream query", End::kStream},
             {"word, 4 B copy", End::kWordByCopy},
             {"word, WriteValue", End::kWordByValue}};

CUresult issue_end(const Setup& s, End end) {
  switch (end) {
    case End::kEvent:
      return driver->event_record(s.event, s.stream);
    case End::kStream:
      return CUDA_SUCCESS;
    case End::kWordByCopy:
      return driver->memcpy_dtoh_async(s.word, s.one, 4, s.stream);
    case End::kWordByValue:
      if (driver->stream_write_value_32 == nullptr) return CUDA_ERROR_NOT_SUPPORTED;
      return driver->stream_write_value_32(s.stream, s.word_on_device, 1, 0);
  }
  return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult has_ended(const Setup& s, End end) {
  if (end == End::kEvent) return driver->event_query(s.event);
  if (end == End::kStream) return driver->stream_query(s.stream);
  return *static_cast<volatile std::uint32_t*>(s.word) != 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

void measure(const Setup& s, const Copy& copy, End end, std::size_t bytes) {
  std::vector<double> whole, issuing;
  for (int i = 0; i < 220; ++i) {
    *s.word = 0;
    const auto start = clock_now();
    CUresult result = copy.issue(s, bytes);
    if (result == CUDA_SUCCESS) result = issue_end(s, end);
    const double issued = micros_since(start);
    while (result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_READY) {
      result = has_ended(s, end);
      if (result == CUDA_SUCCESS) break;
    }
    if (result != CUDA_SUCCESS) {
      (void)driver->stream_synchronize(s.stream);
      std::printf("  %16s", driver->describe(result).substr(11, 16).c_str());
      return;
    }
    if (i >= 20) whole.push_back(micros_since(start)), issuing.push_back(issued);
  }
  (void)driver->stream_synchronize(s.stream);
  std::printf("  %8.2f (%5.2f)", median(whole), median(issuing));
}

void measure_way(const Way& way, int gpu, int far) {
  const Setup setup(way, gpu, far);
  std::printf("\n%s\n  %-20s %7s", way.name, "from", "bytes");
  for (const auto& end : kEnds) std::printf("  %16s", end.name);
  std::printf("\n");
  for (const Copy& copy : kCopies) {
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{4096}, std::size_t{64} << 10}) {
      std::printf("  %-20s %7zu", copy.name, bytes);
      for (const auto& end : kEnds) measure(setup, copy, end.end, bytes);
      std::printf("\n");
    }
  }
}

}  // namespace

void small_copies(int gpu, int far) {
  std::printf("\n== one copy at a time, microseconds until seen (of which calls), by its end\n");
  for (const Way& way : kWays) {
    apart([&] { measure_way(way, gpu, far); });
  }
}

}  // namespace gdr::costs

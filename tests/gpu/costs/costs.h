// What the parts of this program share: the driver, timing, and the other process.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "cuda/driver.h"

namespace gdr::costs {

constexpr std::size_t kBytes = 64 << 20;

extern const cuda::Driver* driver;

// Ends the process, since nothing can be measured then.
void must(cuda::CUresult result, const char* call);
void load();

double micros_since(std::chrono::steady_clock::time_point start);
inline std::chrono::steady_clock::time_point clock_now() {
  return std::chrono::steady_clock::now();
}
double median(std::vector<double> values);

// Makes a context current while it lives.
class Current {
 public:
  explicit Current(cuda::CUcontext context) { must(driver->ctx_push_current(context), "push"); }
  ~Current() {
    cuda::CUcontext popped = nullptr;
    (void)driver->ctx_pop_current(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;
};

cuda::CUdeviceptr created_and_mapped_on(int gpu);
cuda::CUcontext primary_of(int gpu);
cuda::CUcontext own_of(int gpu);

// Work for threads of this process or of the other: job n is done once `done[n]` is set.
struct Jobs {
  static constexpr unsigned kMost = 1024;
  std::atomic<unsigned> posted, taken, finished, threads, stop, chunk, slots;
  std::atomic<unsigned> done[kMost];
  void begin(unsigned how_many_threads, unsigned chunk_bytes, unsigned slot_count);
  void post() { posted.fetch_add(1, std::memory_order_release); }
  // A number to work at, or kMost. `me`: index of the thread; those beyond `threads` rest.
  unsigned take(unsigned me);
  void finish(unsigned job);
};

// Memory that both processes map: jobs for the other's threads, and the ring of pinned chunks.
struct Shared {
  Jobs jobs;
  alignas(4096) std::byte ring[kBytes];
};

// Another process with memory on a GPU of its own: by cuMemAlloc, by cuMemCreate, and ordinary
// memory of the host. Its threads serve Shared::jobs by copies from the ring into that.
// Made before the driver is loaded; ends with this object.
class Other {
 public:
  explicit Other(int gpu);
  ~Other();
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;

  struct Told {
    cuda::CUipcMemHandle handle;
    int descriptor = -1;  // of mapped memory; -1: none
    std::byte* host = nullptr;
  };
  const Told& told() const { return told_; }
  Shared& shared() const { return *shared_; }
  pid_t pid() const { return pid_; }
  // Opened for `gpu` in the current context.
  cuda::CUdeviceptr open_allocated() const;
  cuda::CUdeviceptr map_created(int gpu) const;

 private:
  pid_t pid_ = -1;
  int end_ = -1;
  Told told_;
  Shared* shared_ = nullptr;
};

// One topic each, every one in a process of its own.
void small_copies(int gpu, int far);
void copies_in_flight(int gpu, int far);
void beside_a_kernel(int gpu, int far);
void from_host_memory(int gpu, int far);
void to_host_memory(int gpu, int far);
void behind_queued_work(int gpu, int far);
void after_a_reset(int gpu, int far);

}  // namespace gdr::costs

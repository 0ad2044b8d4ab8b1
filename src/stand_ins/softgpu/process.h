// Process: everything the software driver keeps for one process, behind one lock; and the frame
// that every entry point runs in.
//
//   GDR_CU cuMemFree_v2(CUdeviceptr address) {
//     return in_context([&](Process& process, Context& context) {
//       std::unique_lock guard(process.lock);
//       ...
//       return CUDA_SUCCESS;
//     });
//   }
//
// The lock is held for bookkeeping only, never while something is copied or waited for. Operations
// are put on their streams with it held, so that "issued before" is one order for the process.
// Process is never destroyed: stream threads may outlive main().
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <unordered_map>
#include <vector>

#include "cuda/driver_abi.h"
#include "softgpu/address_space.h"
#include "softgpu/capture.h"
#include "softgpu/compute_channel.h"
#include "softgpu/context.h"
#include "softgpu/device_config.h"
#include "softgpu/identity.h"
#include "softgpu/ranges.h"

// A function of the driver's interface.
#define GDR_CU extern "C" __attribute__((visibility("default"))) gdr::cuda::CUresult

namespace gdr::softgpu {

class Event;
class Pool;

struct Device {
  std::uint64_t used = 0;
  Context* primary = nullptr;  // made once, revived by each first retain
  std::shared_ptr<Pool> default_pool;
  std::shared_ptr<Pool> current_pool;
  std::shared_ptr<ComputeChannel> compute_channel = std::make_shared<ComputeChannel>();
  // Backings from which small allocations are cut.
  struct Slab {
    std::shared_ptr<Backing> backing;
    std::uint64_t address = 0;
    std::map<std::uint64_t, std::uint64_t> free;  // offset -> length
  };
  std::map<std::uint64_t, Slab> slabs;  // by address
};

// A range of addresses from cuMemAddressReserve.
struct Reservation {
  std::uint64_t bytes = 0;
};

class Process {
 public:
  static Process& instance();

  // cuInit. Returns what every later call returns, too, until it succeeds.
  cuda::CUresult initialise();
  bool initialised() const { return ready_.load(std::memory_order_acquire); }
  // True in a child of fork(): as with CUDA, nothing works there, and nothing is locked either.
  bool forked() const { return forked_.load(std::memory_order_relaxed); }

  const DeviceConfig& config() const { return config_; }
  bool is_device(int device) const { return device >= 0 && device < config_.count; }

  std::mutex lock;

  // Everything below: with `lock` held.
  std::vector<Device> devices;
  AddressSpace addresses;
  Ranges ranges;
  std::map<std::uint64_t, Reservation> reservations;  // by base
  std::unordered_map<Context*, std::unique_ptr<Context>> contexts;
  std::unordered_map<Event*, std::shared_ptr<Event>> events;
  std::unordered_map<Pool*, std::shared_ptr<Pool>> pools;
  std::unordered_map<std::uint64_t, std::shared_ptr<PhysicalMemory>> physical;  // by handle

  Captures captures;

  // For entry points that put nothing on a stream, without the lock: refused beside a capture.
  cuda::CUresult refuse_beside_capture();

  std::uint64_t next_buffer_id() { return ++last_buffer_id_; }
  std::uint64_t next_handle() { return ++last_handle_; }
  Context* find_context(cuda::CUcontext handle);
  std::shared_ptr<Range> find_range(std::uint64_t address);
  Context* create_context(int device, unsigned flags, bool primary);

  // Takes everything the context owns out of the tables. What it returns must be waited for without
  // the lock, and then be dropped.
  struct Leftovers {
    std::vector<Mark> marks;
    std::vector<std::shared_ptr<Range>> ranges;
  };
  Leftovers end_context(Context& context);

 private:
  Process() = default;
  std::once_flag once_;
  cuda::CUresult outcome_ = cuda::CUDA_ERROR_NOT_INITIALIZED;
  std::atomic<bool> ready_{false};
  std::atomic<bool> forked_{false};
  DeviceConfig config_;
  std::uint64_t last_buffer_id_ = 0;
  std::uint64_t last_handle_ = 0;
};

// Contexts made current by the calling thread, newest last.
std::vector<Context*>& context_stack();

// Turns what C++ throws into a result: nothing may cross the C interface.
template <typename Body>
cuda::CUresult guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return cuda::CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return cuda::CUDA_ERROR_OPERATING_SYSTEM;  // a lock or a thread that could not be had
  }
}

// Entry points that need cuInit only.
template <typename Body>
cuda::CUresult in_driver(Body&& body) {
  Process& process = Process::instance();
  if (process.forked() || !process.initialised()) return cuda::CUDA_ERROR_NOT_INITIALIZED;
  return guarded([&] { return body(process); });
}

// Entry points that need a current context.
template <typename Body>
cuda::CUresult in_context(Body&& body) {
  return in_driver([&](Process& process) -> cuda::CUresult {
    auto& stack = context_stack();
    if (stack.empty() || stack.back() == nullptr) return cuda::CUDA_ERROR_INVALID_CONTEXT;
    Context& context = *stack.back();
    if (!context.alive()) return cuda::CUDA_ERROR_CONTEXT_IS_DESTROYED;
    return body(process, context);
  });
}

// The same for entry points that a stream capture forbids: those that neither put work on a stream
// nor only ask, nor make something current.
template <typename Body>
cuda::CUresult in_driver_uncaptured(Body&& body) {
  return in_driver([&](Process& process) -> cuda::CUresult {
    if (cuda::CUresult r = process.refuse_beside_capture()) return r;
    return body(process);
  });
}
template <typename Body>
cuda::CUresult in_context_uncaptured(Body&& body) {
  return in_context([&](Process& process, Context& context) -> cuda::CUresult {
    if (cuda::CUresult r = process.refuse_beside_capture()) return r;
    return body(process, context);
  });
}

inline cuda::CUcontext handle_of(Context* context) {
  return reinterpret_cast<cuda::CUcontext>(context);
}
inline cuda::CUstream handle_of(Stream* stream) { return reinterpret_cast<cuda::CUstream>(stream); }

// The stream a handle stands for (0, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD, or one that was
// created in any living context); null when there is none. With Process::lock held.
std::shared_ptr<Stream> find_stream(Process& process, Context& context, cuda::CUstream handle);

}  // namespace gdr::softgpu

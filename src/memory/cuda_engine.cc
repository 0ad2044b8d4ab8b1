#include "memory/cuda_engine.h"

#include <cstring>

#include "memory/cuda_scope.h"

namespace gdr::memory {
namespace {

using cuda::CUresult;

constexpr std::uint32_t kEventsAtStart = 64;
// Enough for every queue pair's copy in flight; beyond, the caller is told to wait.
constexpr std::uint32_t kMostEvents = 1u << 16;
// Up to here (24 KiB pinned, 64 KiB pageable) drivers send host-to-device copies through the
// compute channel, where they wait behind the application's kernels. Two rows take the copy engine.
constexpr std::uint64_t kComputeChannelBytes = 64 << 10;

const void* host_pointer(std::uint64_t address) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
}

}  // namespace

Result<std::unique_ptr<CudaEngine>> CudaEngine::create(const cuda::Driver& driver, int ordinal) {
  const RelaxedCapture relaxed(driver);
  const auto failed = [&](CUresult result) {
    return Error{EIO, "GPU " + std::to_string(ordinal) + ": " + driver.describe(result)};
  };
  cuda::CUdevice device = 0;
  if (CUresult r = driver.device_get(&device, ordinal)) return failed(r);
  cuda::CUcontext context = nullptr;
  if (CUresult r = driver.ctx_create(&context, cuda::CU_CTX_SCHED_AUTO, device)) return failed(r);
  cuda::CUcontext popped = nullptr;  // creation made it current
  driver.ctx_pop_current(&popped);
  std::unique_ptr<CudaEngine> engine(new CudaEngine(driver, ordinal, context));
  cuda::CUuuid uuid{};
  if (driver.device_get_uuid != nullptr &&
      driver.device_get_uuid(&uuid, device) == cuda::CUDA_SUCCESS) {
    std::memcpy(engine->uuid_.data(), &uuid, sizeof uuid);
  }
  if (CUresult r = engine->prepare()) return failed(r);
  return engine;
}

CUresult CudaEngine::prepare() {
  const CurrentContext current(driver_, context_);
  if (CUresult r = current.result()) return r;
  int least = 0, greatest = 0;
  if (CUresult r = driver_.ctx_get_stream_priority_range(&least, &greatest)) return r;
  if (CUresult r =
          driver_.stream_create_with_priority(&stream_, cuda::CU_STREAM_NON_BLOCKING, greatest)) {
    return r;
  }
  for (std::uint32_t slot = 0; slot < kEventsAtStart; ++slot) {
    cuda::CUevent event = nullptr;
    if (CUresult r = driver_.event_create(&event, cuda::CU_EVENT_DISABLE_TIMING)) return r;
    events_.push_back(event);
    free_.push_back(slot);
  }
  return cuda::CUDA_SUCCESS;
}

CudaEngine::~CudaEngine() {
  const RelaxedCapture relaxed(driver_);
  driver_.ctx_destroy(context_);  // with its stream and events
}

Result<std::uint32_t> CudaEngine::start(std::uint64_t to, std::uint64_t from, std::uint64_t length,
                                        Kind kind) {
  const RelaxedCapture relaxed(driver_);
  const CurrentContext current(driver_, context_);
  if (CUresult r = current.result()) return Error{EIO, driver_.describe(r)};
  std::uint32_t slot = 0;
  if (!take_slot(&slot)) return Error{EAGAIN, "too many GPU copies in flight"};
  cuda::CUevent event = nullptr;
  {
    const std::lock_guard guard(mutex_);
    event = events_[slot];
  }
  CUresult result = issue(to, from, length, kind);
  if (result == cuda::CUDA_SUCCESS) result = driver_.event_record(event, stream_);
  if (result == cuda::CUDA_SUCCESS) return slot;
  // Part of it may be on its way: no byte may move once the caller has the error.
  driver_.stream_synchronize(stream_);
  free_slot(slot);
  return Error{EFAULT, "GPU copy: " + driver_.describe(result)};
}

Result<bool> CudaEngine::finished(std::uint32_t slot) {
  const RelaxedCapture relaxed(driver_);
  cuda::CUevent event = nullptr;
  {
    const std::lock_guard guard(mutex_);
    if (slot >= events_.size()) return Error{EINVAL, "no such GPU copy"};
    event = events_[slot];
  }
  CUresult result = cuda::CUDA_SUCCESS;
  {
    const CurrentContext current(driver_, context_);
    result = current.result();
    if (result == cuda::CUDA_SUCCESS) result = driver_.event_query(event);
  }
  if (result == cuda::CUDA_ERROR_NOT_READY) return false;
  free_slot(slot);
  if (result == cuda::CUDA_SUCCESS) return true;
  return Error{EIO, "GPU copy: " + driver_.describe(result)};
}

CUresult CudaEngine::issue(std::uint64_t to, std::uint64_t from, std::uint64_t length, Kind kind) {
  switch (kind) {
    case Kind::kOnDevice:
      return driver_.memcpy_async(to, from, length, stream_);
    case Kind::kToHost:
      return driver_.memcpy_dtoh_async(const_cast<void*>(host_pointer(to)), from, length, stream_);
    case Kind::kFromHost:
      break;
  }
  // A single byte has no two rows.
  if (length == 1 || length > kComputeChannelBytes) {
    return driver_.memcpy_htod_async(to, host_pointer(from), length, stream_);
  }
  const std::uint64_t even = length & ~std::uint64_t{1};
  if (CUresult r = two_rows(to, from, even)) return r;
  // The last byte of an odd length goes together with the one before it, once more.
  return even == length ? cuda::CUDA_SUCCESS : two_rows(to + length - 2, from + length - 2, 2);
}

CUresult CudaEngine::two_rows(std::uint64_t to, std::uint64_t from, std::uint64_t length) {
  cuda::CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = cuda::CU_MEMORYTYPE_HOST;
  copy.srcHost = host_pointer(from);
  copy.dstMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = length / 2;
  copy.Height = 2;
  return driver_.memcpy_2d_async(&copy, stream_);
}

bool CudaEngine::take_slot(std::uint32_t* slot) {
  const std::lock_guard guard(mutex_);
  if (free_.empty()) {
    cuda::CUevent event = nullptr;
    if (events_.size() >= kMostEvents ||
        driver_.event_create(&event, cuda::CU_EVENT_DISABLE_TIMING) != cuda::CUDA_SUCCESS) {
      return false;
    }
    free_.push_back(static_cast<std::uint32_t>(events_.size()));
    events_.push_back(event);
  }
  *slot = free_.back();
  free_.pop_back();
  return true;
}

void CudaEngine::free_slot(std::uint32_t slot) {
  const std::lock_guard guard(mutex_);
  free_.push_back(slot);
}

}  // namespace gdr::memory

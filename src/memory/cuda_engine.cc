#include "memory/cuda_engine.h"

#include <cstring>

#include "memory/cuda_scope.h"

namespace gdr::memory {
namespace {

using cuda::CUresult;

// The driver is not asked more often: each time costs as much as a short copy's share.
constexpr Nanoseconds kBetweenLooks = 500;
constexpr std::uint64_t kShort = 64 << 10;  // some microseconds, most of it the driver's
// Up to here (24 KiB pinned, 64 KiB pageable) drivers send host-to-device copies through the
// compute channel, where they wait behind the application's kernels. Two rows take the copy engine.
constexpr std::uint64_t kComputeChannelBytes = 64 << 10;
constexpr std::uint64_t kPair = 2;

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
  for (Lane& lane : lanes_) {
    if (CUresult r = prepare(lane, greatest)) return r;
  }
  return driver_.mem_alloc(&pair_, kPair);
}

CUresult CudaEngine::prepare(Lane& lane, int priority) {
  if (CUresult r = driver_.stream_create_with_priority(&lane.stream, cuda::CU_STREAM_NON_BLOCKING,
                                                       priority)) {
    return r;
  }
  for (std::uint64_t i = 0; i < kMostInFlight; ++i) {
    cuda::CUevent event = nullptr;
    if (CUresult r = driver_.event_create(&event, cuda::CU_EVENT_DISABLE_TIMING)) return r;
    lane.events.push_back(event);
  }
  return cuda::CUDA_SUCCESS;
}

CudaEngine::~CudaEngine() {
  const RelaxedCapture relaxed(driver_);
  driver_.ctx_destroy(context_);  // with its streams and events
}

std::size_t CudaEngine::lane_for(std::uint64_t length) {
  return length <= kShort ? 0 : 1 + next_long_.fetch_add(1) % (kLanes - 1);
}

Result<std::uint64_t> CudaEngine::start(std::uint64_t to, std::uint64_t from, std::uint64_t length,
                                        Kind kind) {
  const RelaxedCapture relaxed(driver_);
  const CurrentContext current(driver_, context_);
  if (CUresult r = current.result()) return Error{EIO, driver_.describe(r)};
  const std::size_t index = lane_for(length);
  Lane& lane = lanes_[index];
  const std::lock_guard guard(lane.issuing);
  const std::uint64_t number = lane.issued.load(std::memory_order_relaxed) + 1;
  if (number - lane.ended.load(std::memory_order_acquire) > kMostInFlight) {
    return Error{EAGAIN, "too many GPU copies in flight"};
  }
  CUresult result = issue(to, from, length, kind, lane.stream);
  if (result == cuda::CUDA_SUCCESS) {
    result = driver_.event_record(lane.events[number % kMostInFlight], lane.stream);
  }
  if (result == cuda::CUDA_SUCCESS) {
    lane.issued.store(number, std::memory_order_release);
    return number * kLanes + index;
  }
  // Part of it may be on its way: no byte may move once the caller has the error.
  driver_.stream_synchronize(lane.stream);
  return Error{EFAULT, "GPU copy: " + driver_.describe(result)};
}

Result<bool> CudaEngine::finished(std::uint64_t number) {
  Lane& lane = lanes_[number % kLanes];
  number /= kLanes;
  if (number == 0 || number > lane.issued.load(std::memory_order_acquire)) {
    return Error{EINVAL, "no such GPU copy"};
  }
  if (number > lane.ended.load(std::memory_order_acquire)) {
    const std::unique_lock guard(lane.looking, std::try_to_lock);
    if (guard) look(lane, now());
  }
  if (number <= lane.ended.load(std::memory_order_acquire)) return true;
  if (const CUresult failure = lane.failure.load(); failure != cuda::CUDA_SUCCESS) {
    return Error{EIO, "GPU copy: " + driver_.describe(failure)};
  }
  return false;
}

// Under lane.looking. Only the oldest is asked for, and the next when it has ended.
void CudaEngine::look(Lane& lane, Nanoseconds time) {
  if (time - lane.looked_at < kBetweenLooks) return;
  lane.looked_at = time;
  const RelaxedCapture relaxed(driver_);
  const CurrentContext current(driver_, context_);
  CUresult result = current.result();
  std::uint64_t ended = lane.ended.load(std::memory_order_relaxed);
  while (result == cuda::CUDA_SUCCESS && ended != lane.issued.load(std::memory_order_acquire)) {
    result = driver_.event_query(lane.events[(ended + 1) % kMostInFlight]);
    if (result == cuda::CUDA_SUCCESS) lane.ended.store(++ended, std::memory_order_release);
  }
  if (result != cuda::CUDA_SUCCESS && result != cuda::CUDA_ERROR_NOT_READY) {
    lane.failure.store(result);
  }
}

CUresult CudaEngine::issue(std::uint64_t to, std::uint64_t from, std::uint64_t length, Kind kind,
                           cuda::CUstream stream) {
  switch (kind) {
    case Kind::kOnDevice:
      return driver_.memcpy_async(to, from, length, stream);
    case Kind::kToHost:
      return driver_.memcpy_dtoh_async(const_cast<void*>(host_pointer(to)), from, length, stream);
    case Kind::kFromHost:
      break;
  }
  if (length > kComputeChannelBytes) {
    return driver_.memcpy_htod_async(to, host_pointer(from), length, stream);
  }
  if (length == 1) return single_byte(to, from, stream);
  const std::uint64_t even = length & ~std::uint64_t{1};
  if (CUresult r = two_rows(to, from, even, stream)) return r;
  // The last byte of an odd length goes together with the one before it, once more.
  return even == length ? cuda::CUDA_SUCCESS
                        : two_rows(to + length - 2, from + length - 2, 2, stream);
}

// A single byte has no two rows, and its neighbours are not ours to touch. So it goes into memory
// of our own in two rows, and from there as a copy within the device. All single bytes take one
// lane, whose order keeps them apart. The source is read here: the driver has taken pageable memory
// of this size when its call returns. Whether drivers let a copy within one GPU wait behind a
// kernel is not known (tests/gpu/spinning_kernel.cc measures it); a plain copy of one byte does
// wait.
CUresult CudaEngine::single_byte(std::uint64_t to, std::uint64_t from, cuda::CUstream stream) {
  unsigned char twice[kPair];
  std::memset(twice, *static_cast<const unsigned char*>(host_pointer(from)), sizeof twice);
  if (CUresult r = two_rows(pair_, reinterpret_cast<std::uintptr_t>(twice), kPair, stream)) {
    return r;
  }
  return driver_.memcpy_async(to, pair_, 1, stream);
}

CUresult CudaEngine::two_rows(std::uint64_t to, std::uint64_t from, std::uint64_t length,
                              cuda::CUstream stream) {
  cuda::CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = cuda::CU_MEMORYTYPE_HOST;
  copy.srcHost = host_pointer(from);
  copy.dstMemoryType = cuda::CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  copy.srcPitch = copy.dstPitch = copy.WidthInBytes = length / 2;
  copy.Height = 2;
  return driver_.memcpy_2d_async(&copy, stream);
}

}  // namespace gdr::memory

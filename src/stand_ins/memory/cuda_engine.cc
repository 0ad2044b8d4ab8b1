#include "memory/cuda_engine.h"

#include <cstring>

#include "memory/cuda_scope.h"

namespace gdr::memory {
namespace {

using cuda::CUresult;

constexpr std::uint64_t kShort = 64 << 10;  // some microseconds, most of it the driver's

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
  for (CudaLane& lane : lanes_) {
    if (CUresult r = lane.prepare(driver_, context_, greatest)) return r;
  }
  return cuda::CUDA_SUCCESS;
}

CudaEngine::~CudaEngine() {
  const RelaxedCapture relaxed(driver_);
  driver_.ctx_destroy(context_);  // with its streams and events
}

std::size_t CudaEngine::lane_for(const CudaCopy& copy) {
  return copy.length <= kShort ? 0 : 1 + static_cast<std::size_t>(copy.kind);
}

// What follows a copy that is under way goes by its lane, and so behind it.
Result<std::uint64_t> CudaEngine::start(const CudaCopy& copy, std::optional<std::uint64_t> after) {
  const std::size_t lane = after && !is_over(*after) ? *after % kLanes : lane_for(copy);
  const std::optional<std::uint64_t> number = lanes_[lane].add(copy);
  if (!number) return Error{EAGAIN, "too many GPU copies in flight"};
  return *number * kLanes + lane;
}

Result<bool> CudaEngine::finished(std::uint64_t number) {
  return lanes_[number % kLanes].finished(number / kLanes);
}

}  // namespace gdr::memory

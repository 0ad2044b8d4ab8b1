#include "memory/cuda_engine.h"

#include <cstring>

#include "memory/primary_context.h"
#include "memory/settings.h"

namespace gdr::memory {
namespace {

using cuda::CUresult;

constexpr std::uint64_t kShort = 64 << 10;  // some microseconds, most of it the driver's

// Not unless the user says so: a stream of that context may share a channel with one of the
// program's, whose work may wait for a kernel that waits for the network.
bool is_primary_wanted() {
  static const bool wanted = [] {
    const Result<bool> said = copies_in_primary();
    return said && *said;
  }();
  return wanted;
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
  for (std::size_t i = 0; i < kLanes; ++i) {
    if (CUresult r = lanes_[i].prepare(driver_, context_, greatest)) return r;
  }
  return cuda::CUDA_SUCCESS;
}

CudaEngine::~CudaEngine() {
  const RelaxedCapture relaxed(driver_);
  driver_.ctx_destroy(context_);  // with its streams and events
}

bool CudaEngine::primary_lives() const {
  const cuda::CUdeviceptr sign = sign_.load(std::memory_order_acquire);
  return sign != 0 && buffer_id_of(driver_, sign) == sign_id_.load(std::memory_order_relaxed);
}

void CudaEngine::use_primary() {
  if (!is_primary_wanted()) return;
  const RelaxedCapture relaxed(driver_);
  const std::lock_guard guard(primary_mutex_);
  if (primary_lives()) return;
  const PrimaryContext primary(driver_, ordinal_);
  cuda::CUdeviceptr sign = 0;
  int least = 0, greatest = 0;
  if (!primary || driver_.ctx_get_stream_priority_range(&least, &greatest) != cuda::CUDA_SUCCESS ||
      driver_.mem_alloc(&sign, 1) != cuda::CUDA_SUCCESS) {
    return;
  }
  sign_.store(0);
  for (std::size_t i = kLanes; i < 2 * kLanes; ++i) {
    if (lanes_[i].prepare(driver_, primary.get(), greatest, [this] { return primary_lives(); }) !=
        cuda::CUDA_SUCCESS) {
      driver_.mem_free(sign);
      return;
    }
  }
  sign_id_.store(buffer_id_of(driver_, sign));
  sign_.store(sign, std::memory_order_release);
}

std::size_t CudaEngine::lane_for(const CudaCopy& copy) const {
  const std::size_t lane = copy.length <= kShort ? 0 : 1 + static_cast<std::size_t>(copy.kind);
  return copy.is_across && primary_lives() ? kLanes + lane : lane;
}

// What follows a copy that is under way goes by its lane, and so behind it.
Result<std::uint64_t> CudaEngine::start(const CudaCopy& copy, std::optional<std::uint64_t> after) {
  const std::size_t lane = after && !is_over(*after) ? *after % lanes_.size() : lane_for(copy);
  const std::optional<std::uint64_t> number = lanes_[lane].add(copy);
  if (!number) return Error{EAGAIN, "too many GPU copies in flight"};
  return *number * lanes_.size() + lane;
}

Result<bool> CudaEngine::finished(std::uint64_t number) {
  return lanes_[number % lanes_.size()].finished(number / lanes_.size());
}

}  // namespace gdr::memory

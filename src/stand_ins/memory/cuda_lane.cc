#include "memory/cuda_lane.h"

#include <algorithm>

#include "memory/cuda_scope.h"

namespace gdr::memory {
namespace {

using cuda::CUresult;

// The driver is not asked more often: each time costs as much as a short copy's share.
constexpr Nanoseconds kBetweenLooks = 500;
// A long batch is asked for some eight times while it lasts, at this many bytes a nanosecond.
constexpr std::uint64_t kFastest = 400, kLooksAtABatch = 8;
// All copies of a batch end with its last, so that it should not be too long.
constexpr std::size_t kMostCopies = 16;
constexpr std::uint64_t kEnoughBytes = 16 << 20;

}  // namespace

CUresult CudaLane::prepare(const cuda::Driver& driver, cuda::CUcontext context, int priority) {
  driver_ = &driver;
  context_ = context;
  if (CUresult r =
          driver.stream_create_with_priority(&stream_, cuda::CU_STREAM_NON_BLOCKING, priority)) {
    return r;
  }
  for (Batch& batch : batches_) {
    if (CUresult r = driver.event_create(&batch.event, cuda::CU_EVENT_DISABLE_TIMING)) return r;
  }
  return cuda::CUDA_SUCCESS;
}

std::optional<std::uint64_t> CudaLane::add(const CudaCopy& copy) {
  const std::lock_guard guard(mutex_);
  if (waiting_.size() == kMostWaiting) return std::nullopt;
  waiting_.push_back(copy);
  return added_.fetch_add(1, std::memory_order_release) + 1;
}

Result<bool> CudaLane::finished(std::uint64_t number) {
  if (number == 0 || number > added_.load(std::memory_order_acquire)) {
    return Error{EINVAL, "no such GPU copy"};
  }
  if (number > ended_.load(std::memory_order_acquire)) go_on();
  if (number > ended_.load(std::memory_order_acquire)) {
    const CUresult failure = failure_.load();
    if (failure != cuda::CUDA_SUCCESS) return Error{EIO, "GPU copy: " + driver_->describe(failure)};
    return false;
  }
  if (any_refused_.load(std::memory_order_acquire)) {
    const std::lock_guard guard(mutex_);
    const bool refused = refused_.erase(number) != 0;
    any_refused_.store(!refused_.empty());
    if (refused) return Error{EFAULT, "GPU copy: the driver refuses its addresses"};
  }
  return true;
}

void CudaLane::go_on() {
  if (added_.load(std::memory_order_acquire) == ended_.load(std::memory_order_acquire)) return;
  const std::unique_lock guard(mutex_, std::try_to_lock);
  if (guard) go_on_at(now());
}

// Under mutex_.
void CudaLane::go_on_at(Nanoseconds time) {
  const bool under_way = first_batch_ != next_batch_;
  const bool may_look =
      under_way && time - looked_at_ >= batches_[first_batch_ % kBatches].between_looks;
  if (failure_.load() != cuda::CUDA_SUCCESS || (!may_issue() && !may_look)) return;
  const RelaxedCapture relaxed(*driver_);
  const CurrentContext current(*driver_, context_);
  CUresult result = current.result();
  if (result == cuda::CUDA_SUCCESS && may_look) {
    looked_at_ = time;
    result = look();
  }
  while (result == cuda::CUDA_SUCCESS && may_issue()) result = issue();
  if (result != cuda::CUDA_SUCCESS) failure_.store(result);
}

// Only the oldest is asked for, and the next when it has ended.
CUresult CudaLane::look() {
  while (first_batch_ != next_batch_) {
    const Batch& oldest = batches_[first_batch_ % kBatches];
    const CUresult result = driver_->event_query(oldest.event);
    if (result == cuda::CUDA_ERROR_NOT_READY) return cuda::CUDA_SUCCESS;
    if (result != cuda::CUDA_SUCCESS) return result;
    ended_.store(oldest.last, std::memory_order_release);
    ++first_batch_;
  }
  return cuda::CUDA_SUCCESS;
}

// Of the copies that wait, how many the next batch takes. A batch has no order, so one that is
// behind another of its sequence goes in the next.
std::size_t CudaLane::next_size() const {
  std::size_t size = 0;
  std::uint64_t bytes = 0;
  for (; size < std::min(waiting_.size(), kMostCopies) && bytes < kEnoughBytes; ++size) {
    const CudaCopy& next = waiting_[size];
    const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(size);
    if (next.sequence != nullptr && !next.may_overtake &&
        std::any_of(waiting_.begin(), end,
                    [&](const CudaCopy& copy) { return copy.sequence == next.sequence; })) {
      break;
    }
    bytes += next.length;
  }
  return size;
}

// With few under way at once; behind those only a batch that no other copy can join any more.
bool CudaLane::may_issue() const {
  const std::uint64_t under_way = next_batch_ - first_batch_;
  if (waiting_.empty() || under_way >= kBatches) return false;
  return under_way < kFewBatches || next_size() < waiting_.size();
}

// The event is recorded also where copies were refused: part of one may be on its way, and no byte
// may move once its owner has the error.
CUresult CudaLane::issue() {
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(next_size());
  const std::vector<CudaCopy> copies(waiting_.begin(), end);
  waiting_.erase(waiting_.begin(), end);
  Batch& batch = batches_[next_batch_++ % kBatches];
  batch.last = added_.load(std::memory_order_relaxed) - waiting_.size();
  std::uint64_t bytes = 0;
  for (const CudaCopy& copy : copies) bytes += copy.length;
  batch.between_looks = std::max(kBetweenLooks, bytes / kFastest / kLooksAtABatch);
  issue_all(copies, batch.last - copies.size() + 1);
  return driver_->event_record(batch.event, stream_);
}

void CudaLane::issue_all(const std::vector<CudaCopy>& copies, std::uint64_t first) {
  const auto flags = copies.front().kind == CudaCopy::Kind::kOnDevice
                         ? cuda::CU_MEMCPY_FLAG_DEFAULT
                         : cuda::CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE;
  if (copies.size() > 1 && can_go_together(copies) &&
      issue_together(*driver_, copies, flags, stream_) == cuda::CUDA_SUCCESS) {
    return;
  }
  // Also where one of them is refused: only that one.
  for (std::size_t i = 0; i < copies.size(); ++i) {
    if (issue_copy(*driver_, copies[i], stream_) == cuda::CUDA_SUCCESS) continue;
    refused_.insert(first + i);
    any_refused_.store(true, std::memory_order_release);
  }
}

}  // namespace gdr::memory

// CudaLane: copies on one stream of a GPU, in batches: while two are under way, what comes is
// gathered for the next. Between two copies a copy engine rests for 2 us, in which it would move
// 1 MiB to another GPU, and within a batch it does not (measured on an H200: 4 MiB singly 315 GB/s,
// in batches of eight 375).
//
//   std::optional<std::uint64_t> copy = lane.add({to, from, length, kind});
//   while (true) {
//     Result<bool> done = lane.finished(*copy);  // issues it when its turn has come
//     if (!done || *done) break;
//   }
//
// add() and finished() are hot, and may be called by any thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "memory/cuda_copy.h"

namespace gdr::memory {

class CudaLane {
 public:
  // The context is current.
  cuda::CUresult prepare(const cuda::Driver& driver, cuda::CUcontext context, int priority);

  // In no order among each other, but those of one sequence. The number is the copy's until
  // finished() has given true or an error. Nothing: too much is waiting.
  std::optional<std::uint64_t> add(const CudaCopy& copy);
  // EFAULT when the driver refuses an address.
  Result<bool> finished(std::uint64_t number);
  // Goes on with all copies: issues those whose turn has come, and looks which have ended.
  void go_on();
  bool is_over(std::uint64_t number) const {
    return number <= ended_.load(std::memory_order_acquire) ||
           failure_.load() != cuda::CUDA_SUCCESS;
  }

 private:
  static constexpr std::size_t kBatches = 8;     // under way at most
  static constexpr std::size_t kFewBatches = 2;  // one runs, the next begins without a gap
  static constexpr std::size_t kMostWaiting = 1024;

  void go_on_at(Nanoseconds time);
  cuda::CUresult look();
  std::size_t next_size() const;
  bool may_issue() const;
  cuda::CUresult issue();
  void issue_all(const std::vector<CudaCopy>& copies, std::uint64_t first);

  const cuda::Driver* driver_ = nullptr;
  cuda::CUcontext context_ = nullptr;
  cuda::CUstream stream_ = nullptr;

  struct Batch {
    cuda::CUevent event = nullptr;
    std::uint64_t last = 0;  // of its copies
    Nanoseconds between_looks = 0;
  };
  std::mutex mutex_;
  std::deque<CudaCopy> waiting_;                    // under mutex_
  std::array<Batch, kBatches> batches_{};           // under mutex_: number n at n modulo kBatches
  std::uint64_t first_batch_ = 0, next_batch_ = 0;  // under mutex_: those under way
  Nanoseconds looked_at_ = 0;                       // under mutex_
  std::set<std::uint64_t> refused_;                 // under mutex_: nothing moved
  std::atomic<std::uint64_t> added_{0};             // copies up to here
  std::atomic<std::uint64_t> ended_{0};             // the same
  std::atomic<bool> any_refused_{false};            // whether refused_ holds any
  std::atomic<cuda::CUresult> failure_{cuda::CUDA_SUCCESS};  // whatever had not ended has failed
};

}  // namespace gdr::memory

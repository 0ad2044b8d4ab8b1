// CudaEngine: copies on one GPU, in a context and high-priority streams of our own, so that
// neither the application's current context nor its launch queues nor its stream capture are
// touched.
//
//   Result<std::unique_ptr<CudaEngine>> engine = CudaEngine::create(driver, /*ordinal=*/0);
//   Result<std::uint64_t> copy = (*engine)->start(to, from, length, CudaEngine::Kind::kFromHost);
//   while (true) {
//     Result<bool> done = (*engine)->finished(*copy);
//     if (!done || *done) break;
//   }
//
// Made at the first registration of the GPU's memory, since making contexts and streams can wait
// behind the application's kernels. start() and finished() are hot, and may be called by any
// thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cuda/driver.h"

namespace gdr::memory {

class CudaEngine {
 public:
  enum class Kind { kFromHost, kToHost, kOnDevice };

  static Result<std::unique_ptr<CudaEngine>> create(const cuda::Driver& driver, int ordinal);
  ~CudaEngine();
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  // In no order among each other. The number is the copy's until finished() has given true or an
  // error. EAGAIN: too many are in flight. EFAULT when the driver refuses an address.
  Result<std::uint64_t> start(std::uint64_t to, std::uint64_t from, std::uint64_t length,
                              Kind kind);
  Result<bool> finished(std::uint64_t number);

  int ordinal() const { return ordinal_; }
  cuda::CUcontext context() const { return context_; }
  const std::array<std::uint8_t, 16>& uuid() const { return uuid_; }  // of the GPU; may be zeros

 private:
  CudaEngine(const cuda::Driver& driver, int ordinal, cuda::CUcontext context)
      : driver_(driver), ordinal_(ordinal), context_(context) {}
  // Copies run and end in the order in which they are started on a lane. Short ones have one of
  // their own, so that they need not wait for long ones; long ones have two, so that the next
  // begins while the driver ends one.
  struct Lane {
    cuda::CUstream stream = nullptr;
    std::mutex issuing;                    // the order of copies is that of their numbers
    std::vector<cuda::CUevent> events;     // of copy n: at n modulo their number
    std::atomic<std::uint64_t> issued{0};  // the last number; the first is 1
    std::atomic<std::uint64_t> ended{0};   // up to here they have ended
    std::mutex looking;                    // at the oldest that has not
    Nanoseconds looked_at = 0;             // under looking
    std::atomic<cuda::CUresult> failure{cuda::CUDA_SUCCESS};  // what came after it failed, too
  };
  static constexpr std::size_t kLanes = 3;
  static constexpr std::uint64_t kMostInFlight = 512;  // of a lane

  cuda::CUresult prepare();
  cuda::CUresult prepare(Lane& lane, int priority);
  std::size_t lane_for(std::uint64_t length);
  cuda::CUresult issue(std::uint64_t to, std::uint64_t from, std::uint64_t length, Kind kind,
                       cuda::CUstream stream);
  cuda::CUresult single_byte(std::uint64_t to, std::uint64_t from, cuda::CUstream stream);
  cuda::CUresult two_rows(std::uint64_t to, std::uint64_t from, std::uint64_t length,
                          cuda::CUstream stream);
  void look(Lane& lane, Nanoseconds time);

  const cuda::Driver& driver_;
  const int ordinal_;
  const cuda::CUcontext context_;
  std::array<std::uint8_t, 16> uuid_{};
  std::array<Lane, kLanes> lanes_;
  cuda::CUdeviceptr pair_ = 0;  // two bytes of the GPU's, for copies of one
  std::atomic<std::size_t> next_long_{0};
};

}  // namespace gdr::memory

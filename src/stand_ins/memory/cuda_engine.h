// CudaEngine: copies on one GPU, in a context and high-priority streams of our own, so that
// neither the application's current context nor its launch queues nor its stream capture are
// touched.
//
//   Result<std::unique_ptr<CudaEngine>> engine = CudaEngine::create(driver, /*ordinal=*/0);
//   Result<std::uint64_t> copy = (*engine)->start({to, from, length, kFromHost});
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
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "cuda/driver.h"
#include "memory/cuda_lane.h"

namespace gdr::memory {

class CudaEngine {
 public:
  static Result<std::unique_ptr<CudaEngine>> create(const cuda::Driver& driver, int ordinal);
  ~CudaEngine();
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  // In no order among each other, but those of one sequence: `after` is the last one of that. The
  // number is the copy's until finished() has given true or an error. EAGAIN: too many are in
  // flight.
  Result<std::uint64_t> start(const CudaCopy& copy, std::optional<std::uint64_t> after = {});
  // A copy goes on by these calls and those of go_on() alone. EFAULT when the driver refuses an
  // address.
  Result<bool> finished(std::uint64_t number);
  // The same without going on with it, and for a copy whose end was told before.
  bool is_over(std::uint64_t number) const {
    return lanes_[number % kLanes].is_over(number / kLanes);
  }
  // Goes on with all copies.
  void go_on() {
    for (CudaLane& lane : lanes_) lane.go_on();
  }

  int ordinal() const { return ordinal_; }
  cuda::CUcontext context() const { return context_; }
  const std::array<std::uint8_t, 16>& uuid() const { return uuid_; }  // of the GPU; may be zeros

 private:
  CudaEngine(const cuda::Driver& driver, int ordinal, cuda::CUcontext context)
      : driver_(driver), ordinal_(ordinal), context_(context) {}
  // Short copies have a lane of their own, so that they need not wait for long ones, and each
  // direction has one, since hardware has an engine for each.
  static constexpr std::size_t kLanes = 4;

  cuda::CUresult prepare();
  static std::size_t lane_for(const CudaCopy& copy);

  const cuda::Driver& driver_;
  const int ordinal_;
  const cuda::CUcontext context_;
  std::array<std::uint8_t, 16> uuid_{};
  std::array<CudaLane, kLanes> lanes_;
};

}  // namespace gdr::memory

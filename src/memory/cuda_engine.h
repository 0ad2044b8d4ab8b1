// CudaEngine: copies on one GPU, in a context and a high-priority stream of our own, so that
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

  // Copies run in the order they were started, and end in it. The number is the copy's until
  // finished() has given true or an error. EAGAIN: too many are in flight. EFAULT when the driver
  // refuses an address.
  Result<std::uint64_t> start(std::uint64_t to, std::uint64_t from, std::uint64_t length,
                              Kind kind);
  Result<bool> finished(std::uint64_t number);

  int ordinal() const { return ordinal_; }
  cuda::CUcontext context() const { return context_; }
  const std::array<std::uint8_t, 16>& uuid() const { return uuid_; }  // of the GPU; may be zeros

 private:
  CudaEngine(const cuda::Driver& driver, int ordinal, cuda::CUcontext context)
      : driver_(driver), ordinal_(ordinal), context_(context) {}
  cuda::CUresult prepare();
  cuda::CUresult issue(std::uint64_t to, std::uint64_t from, std::uint64_t length, Kind kind);
  cuda::CUresult two_rows(std::uint64_t to, std::uint64_t from, std::uint64_t length);
  void look(Nanoseconds time);

  const cuda::Driver& driver_;
  const int ordinal_;
  const cuda::CUcontext context_;
  std::array<std::uint8_t, 16> uuid_{};
  cuda::CUstream stream_ = nullptr;

  static constexpr std::uint64_t kMostInFlight = 1024;
  std::mutex mutex_;                      // issuing: the order of copies is that of their numbers
  std::vector<cuda::CUevent> events_;     // of copy n: at n modulo their number
  std::atomic<std::uint64_t> issued_{0};  // the last number; the first is 1
  std::atomic<std::uint64_t> ended_{0};   // up to here they have ended
  std::mutex looking_;                    // at the oldest that has not
  Nanoseconds looked_at_ = 0;             // under looking_
  std::atomic<cuda::CUresult> failure_{cuda::CUDA_SUCCESS};  // what came after it failed, too
};

}  // namespace gdr::memory

// CudaEngine: copies on one GPU, in a context and a high-priority stream of our own, so that
// neither the application's current context nor its launch queues nor its stream capture are
// touched.
//
//   Result<std::unique_ptr<CudaEngine>> engine = CudaEngine::create(driver, /*ordinal=*/0);
//   Result<std::uint32_t> slot = (*engine)->start(to, from, length, CudaEngine::Kind::kFromHost);
//   while (true) {
//     Result<bool> done = (*engine)->finished(*slot);
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
#include <mutex>
#include <vector>

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

  // Copies run in the order they were started. The slot is in use until finished() gives true or
  // an error. EFAULT when the driver refuses an address.
  Result<std::uint32_t> start(std::uint64_t to, std::uint64_t from, std::uint64_t length,
                              Kind kind);
  Result<bool> finished(std::uint32_t slot);

  int ordinal() const { return ordinal_; }
  cuda::CUcontext context() const { return context_; }
  const std::array<std::uint8_t, 16>& uuid() const { return uuid_; }  // of the GPU; may be zeros

 private:
  CudaEngine(const cuda::Driver& driver, int ordinal, cuda::CUcontext context)
      : driver_(driver), ordinal_(ordinal), context_(context) {}
  cuda::CUresult prepare();
  cuda::CUresult issue(std::uint64_t to, std::uint64_t from, std::uint64_t length, Kind kind);
  cuda::CUresult two_rows(std::uint64_t to, std::uint64_t from, std::uint64_t length);
  bool take_slot(std::uint32_t* slot);
  void free_slot(std::uint32_t slot);

  const cuda::Driver& driver_;
  const int ordinal_;
  const cuda::CUcontext context_;
  std::array<std::uint8_t, 16> uuid_{};
  cuda::CUstream stream_ = nullptr;

  std::mutex mutex_;
  std::vector<cuda::CUevent> events_;  // by slot
  std::vector<std::uint32_t> free_;
};

}  // namespace gdr::memory

// Kernel: one that spins on a word of GPU memory, until the word is not zero, release() is called,
// or its time is over. Needs no compiler: its text is the driver's to compile.
//
//   Kernel kernel(driver, /*blocks=*/1);
//   kernel.start(flag, 2 * kSecond);          // runs when this returns
//   ...
//   if (kernel.end() == Kernel::Outcome::kSawItsFlag) ...
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "cuda/driver.h"
#include "process.h"

namespace gdr::test {

void check(const cuda::Driver& driver, cuda::CUresult result, const char* call);

class Kernel {
 public:
  enum class Outcome : std::uint32_t { kNone = 0, kSawItsFlag = 2, kReleased = 3, kTimeIsOver = 4 };

  // In the current context. Whole: as many blocks as the GPU holds at a time, or one.
  Kernel(const cuda::Driver& driver, bool whole);
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  // False: this driver runs no kernels.
  static bool can_run(const cuda::Driver& driver);

  void start(cuda::CUdeviceptr flag, Nanoseconds limit);
  // After this long, or at once: releases it, if it still runs.
  Outcome end(Nanoseconds patience = 0);
  cuda::CUstream stream() const { return stream_; }  // that it runs on

 private:
  // In memory that both sides see.
  struct Words {
    volatile std::uint32_t stop, started;
    volatile Outcome outcome;
  };
  const cuda::Driver& driver_;
  cuda::CUcontext context_ = nullptr;
  unsigned blocks_ = 1, threads_ = 1;
  void* function_ = nullptr;
  cuda::CUstream stream_ = nullptr;
  cuda::CUdeviceptr relay_ = 0, words_on_device_ = 0;
  Words* words_ = nullptr;
};

}  // namespace gdr::test

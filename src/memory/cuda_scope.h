// Around driver calls in other people's threads: what they must not notice.
#pragma once

#include "cuda/driver.h"

namespace gdr::memory {

// While it lives, this thread's driver calls are allowed beside anybody's stream capture.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const cuda::Driver& driver) : driver_(driver) {
    known_ = driver_.thread_exchange_stream_capture_mode(&mode_) == cuda::CUDA_SUCCESS;
  }
  ~RelaxedCapture() {
    if (known_) driver_.thread_exchange_stream_capture_mode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const cuda::Driver& driver_;
  cuda::CUstreamCaptureMode mode_ = cuda::CU_STREAM_CAPTURE_MODE_RELAXED;
  bool known_ = false;
};

// Makes a context current and puts the thread's own back.
class CurrentContext {
 public:
  CurrentContext(const cuda::Driver& driver, cuda::CUcontext context)
      : driver_(driver), result_(driver.ctx_push_current(context)) {}
  ~CurrentContext() {
    cuda::CUcontext popped = nullptr;
    if (result_ == cuda::CUDA_SUCCESS) driver_.ctx_pop_current(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  cuda::CUresult result() const { return result_; }

 private:
  const cuda::Driver& driver_;
  const cuda::CUresult result_;
};

}  // namespace gdr::memory

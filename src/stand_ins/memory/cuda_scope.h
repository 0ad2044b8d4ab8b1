// Around driver calls in other people's threads: what they must not notice. In the library's own
// threads there is nobody to notice, and what is set stays, since setting it costs as much as a
// call.
#pragma once

#include "base/quiet_thread.h"
#include "cuda/driver.h"

namespace gdr::memory {

// While it lives, this thread's driver calls are allowed beside anybody's stream capture.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const cuda::Driver& driver) : driver_(driver) {
    thread_local bool stays = false;
    if (stays) return;
    known_ = driver_.thread_exchange_stream_capture_mode(&mode_) == cuda::CUDA_SUCCESS;
    if (known_ && is_quiet_thread()) {
      stays = true;
      known_ = false;
    }
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
  CurrentContext(const cuda::Driver& driver, cuda::CUcontext context) : driver_(driver) {
    thread_local cuda::CUcontext stays = nullptr;
    if (!is_quiet_thread()) {
      result_ = driver.ctx_push_current(context);
      pushed_ = result_ == cuda::CUDA_SUCCESS;
    } else if (stays != context) {
      result_ = driver.ctx_set_current(context);
      stays = result_ == cuda::CUDA_SUCCESS ? context : nullptr;
    }
  }
  ~CurrentContext() {
    cuda::CUcontext popped = nullptr;
    if (pushed_) driver_.ctx_pop_current(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  cuda::CUresult result() const { return result_; }

 private:
  const cuda::Driver& driver_;
  cuda::CUresult result_ = cuda::CUDA_SUCCESS;
  bool pushed_ = false;
};

}  // namespace gdr::memory

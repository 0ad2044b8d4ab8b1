// The context that a GPU's runtime programs and libraries share, and the identity of what lies in
// it: both go when the program resets it.
#pragma once

#include "memory/cuda_scope.h"

namespace gdr::memory {

// The GPU's primary context, current while this lives; none if the program does not use it. It is
// held no longer than that: whether and when it ends is the program's business.
class PrimaryContext {
 public:
  PrimaryContext(const cuda::Driver& driver, int ordinal) : driver_(driver) {
    unsigned flags = 0;
    int active = 0;
    if (driver.device_get(&device_, ordinal) != cuda::CUDA_SUCCESS ||
        driver.device_primary_ctx_get_state(device_, &flags, &active) != cuda::CUDA_SUCCESS ||
        active == 0 || driver.device_primary_ctx_retain(&context_, device_) != cuda::CUDA_SUCCESS) {
      return;
    }
    is_held_ = true;
    is_current_ = driver.ctx_push_current(context_) == cuda::CUDA_SUCCESS;
  }
  ~PrimaryContext() {
    cuda::CUcontext popped = nullptr;
    if (is_current_) driver_.ctx_pop_current(&popped);
    if (is_held_) driver_.device_primary_ctx_release(device_);
  }
  PrimaryContext(const PrimaryContext&) = delete;
  PrimaryContext& operator=(const PrimaryContext&) = delete;
  explicit operator bool() const { return is_current_; }
  cuda::CUcontext get() const { return context_; }

 private:
  const cuda::Driver& driver_;
  cuda::CUdevice device_ = 0;
  cuda::CUcontext context_ = nullptr;
  bool is_held_ = false, is_current_ = false;
};

// 0: nothing lies there.
inline std::uint64_t buffer_id_of(const cuda::Driver& driver, cuda::CUdeviceptr address) {
  unsigned long long id = 0;
  const cuda::CUresult result =
      driver.pointer_get_attribute(&id, cuda::CU_POINTER_ATTRIBUTE_BUFFER_ID, address);
  return result == cuda::CUDA_SUCCESS ? id : 0;
}

}  // namespace gdr::memory

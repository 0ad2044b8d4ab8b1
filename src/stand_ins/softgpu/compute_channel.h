// ComputeChannel: what a device's kernels run through, and with them everything that the driver of
// a real GPU sends the same way: copies of few bytes from the host, and fills. Those wait behind a
// kernel that runs, which is a deadlock where the kernel waits for their bytes. Copies by a copy
// engine do not.
//
// No kernels run here. A stream that waits for a value in memory (cuStreamWaitValue32) stands for
// one that spins on it.
#pragma once

#include <condition_variable>
#include <mutex>

namespace gdr::softgpu {

class ComputeChannel {
 public:
  void occupy() {
    const std::lock_guard guard(lock_);
    ++running_;
  }
  void leave() {
    const std::lock_guard guard(lock_);
    if (--running_ == 0) free_.notify_all();
  }
  void wait_until_free() {
    std::unique_lock guard(lock_);
    free_.wait(guard, [this] { return running_ == 0; });
  }

 private:
  std::mutex lock_;
  std::condition_variable free_;
  int running_ = 0;  // kernels run beside each other
};

}  // namespace gdr::softgpu

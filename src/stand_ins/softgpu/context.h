// Context: what one cuCtxCreate (or the first retain of a device's primary context) made, with the
// streams that belong to it.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "cuda/driver_abi.h"
#include "softgpu/stream.h"

namespace gdr::softgpu {

class Context {
 public:
  Context(int device, unsigned flags, bool primary)
      : device_(device), primary_(primary), flags_(flags) {}

  int device() const { return device_; }
  bool primary() const { return primary_; }
  unsigned flags() const { return flags_; }
  bool syncs_memops() const { return (flags_ & cuda::CU_CTX_SYNC_MEMOPS) != 0; }
  void set_flags(unsigned flags) { flags_ = flags; }

  // A context whose device was reset or released, or that was destroyed, is not alive. May be asked
  // without the lock, since every entry point does.
  bool alive() const { return alive_.load(std::memory_order_acquire); }

  // All that follows: with Process::lock held.
  void revive();
  std::vector<Mark> end();  // the streams' last operations, to be waited for outside the lock

  std::shared_ptr<Stream> legacy_stream() const { return legacy_; }
  std::shared_ptr<Stream> thread_stream();  // CU_STREAM_PER_THREAD
  std::shared_ptr<Stream> add_stream(Stream::Kind kind, int priority);
  bool remove_stream(Stream* stream);
  std::shared_ptr<Stream> find_stream(Stream* stream) const;

  // What an operation on `stream` must wait for: legacy default stream and blocking streams never
  // overlap.
  std::vector<Mark> implicit_order(const Stream& stream) const;
  std::vector<Mark> outstanding() const;

  std::set<Context*> peers;  // cuCtxEnablePeerAccess
  unsigned retained = 0;     // of a primary context

 private:
  const int device_;
  const bool primary_;
  unsigned flags_;
  std::atomic<bool> alive_{false};
  std::shared_ptr<Stream> legacy_;
  std::map<Stream*, std::shared_ptr<Stream>> streams_;
  std::map<std::thread::id, std::shared_ptr<Stream>> thread_streams_;
};

}  // namespace gdr::softgpu

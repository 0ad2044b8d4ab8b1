// Event: a mark in a stream, with the time at which it was reached.
#pragma once

#include <atomic>
#include <memory>

#include "base/clock.h"
#include "softgpu/stream.h"

namespace gdr::softgpu {

class Event {
 public:
  Event(Context* context, unsigned flags) : context_(context), flags_(flags) {}

  Context* context() const { return context_; }
  unsigned flags() const { return flags_; }

  // Needs Process::lock. The stream writes `time` when it reaches the event.
  void record(Mark mark, std::shared_ptr<std::atomic<Nanoseconds>> time) {
    mark_ = std::move(mark);
    time_ = std::move(time);
  }
  bool recorded() const { return time_ != nullptr; }
  const Mark& mark() const { return mark_; }
  Nanoseconds time() const { return time_->load(std::memory_order_acquire); }

 private:
  Context* const context_;
  const unsigned flags_;
  Mark mark_;
  std::shared_ptr<std::atomic<Nanoseconds>> time_;
};

}  // namespace gdr::softgpu

// Completions: a completion queue with a channel of its own, whose descriptor can be waited on.
//
//   Completions completions;
//   if (int error = completions.open(id->verbs, entries)) return error;
//   completions.arm();              // then look once more, and sleep on descriptor()
//   completions.take_events();      // behind the sleep
#pragma once

#include <infiniband/verbs.h>

namespace gdr::rsockets {

class Completions {
 public:
  Completions() = default;
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;
  // Its queue pairs are gone by then.
  ~Completions();

  // An errno value; 0: done.
  int open(ibv_context* device, int entries);

  ibv_cq* queue() const { return queue_; }
  int descriptor() const { return channel_->fd; }
  bool armed() const { return armed_; }
  // False: it cannot be armed.
  bool arm();
  // Takes what there is without waiting.
  void take_events();

 private:
  ibv_comp_channel* channel_ = nullptr;
  ibv_cq* queue_ = nullptr;
  bool armed_ = false;
};

}  // namespace gdr::rsockets

// Cq: a completion queue as programs see it, plain or extended.
#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rnic/completion_queue.h"
#include "verbs/comp_channel.h"

namespace gdr::verbs {

struct Pd;

struct Cq {
  union {
    ibv_cq base;
    ibv_cq_ex extended;
  };

  std::shared_ptr<rnic::CompletionQueue> queue;
  std::shared_ptr<CompletionSignal> signal;
  std::atomic<int> users{0};             // queue pairs
  std::uint32_t events_taken = 0;        // of the channel, under its mutex
  std::uint32_t async_events_taken = 0;  // under Context::events_mutex
  std::uint64_t serial = 0;
  Pd* domain = nullptr;  // the parent domain that it was made on

  // Held in the extended interface from a successful start_poll to end_poll.
  std::mutex polling;
  std::uint32_t left_in_batch = 0;
  rnic::SharedCompletion current{};
  rnic::CompletionNotes current_notes;

  Cq() : extended{} {}
};

inline Cq& cq_of(ibv_cq* cq) { return *reinterpret_cast<Cq*>(cq); }
inline Cq& cq_of(ibv_cq_ex* cq) { return *reinterpret_cast<Cq*>(cq); }

// Null and errno.
Cq* create_cq(ibv_context* context, std::uint32_t entries, void* cq_context,
              ibv_comp_channel* channel, std::uint32_t vector, std::uint32_t traits = 0);

// verbs_context::create_cq_ex
ibv_cq_ex* create_cq_ex(ibv_context* context, ibv_cq_init_attr_ex* attributes);

}  // namespace gdr::verbs

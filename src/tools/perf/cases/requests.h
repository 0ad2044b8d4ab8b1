// Requests: the work requests of a station's queue pairs, made beforehand, so that posting one
// changes only what differs from one to the next.
//
//   Requests requests(task);
//   if (int code = requests.post(queue_index)) ...   // one batch
//   const int count = requests.reap(&error);         // requests that have completed
#pragma once

#include <sched.h>

#include <cerrno>
#include <vector>

#include "perf/cases/task.h"

namespace gdr::perf {

class Requests {
 public:
  // `batch` of them by one call. `operation`: which may differ from the load's (a pong).
  Requests(Task& task, Operation operation, std::uint32_t batch, std::uint32_t signal_every);
  // Sends of `size` bytes that carry an immediate.
  static Requests sends(Task& task, std::uint64_t size);

  // One batch on that queue pair: an errno value. Hot, and inline as reap() is: between two system
  // calls each further line of code has to come into the cache again.
  int post(std::uint32_t index, bool signal_last = false);
  // Takes at most `kMost` completions off the send queue: how many requests have completed, or -1
  // and the error in `outcome`. Hot.
  template <int kMost = 16>
  int reap(Outcome& outcome);
  // At the end of a row: takes off the send queue what is still under way. Found there by the next
  // row, it would be counted as that one's.
  void drain(Outcome& outcome);
  // The immediate of what is posted next.
  void set_immediate(std::uint32_t value) { immediate_ = value; }

  std::uint64_t completed() const { return completed_; }

 private:
  Requests(Task& task, std::uint32_t batch, std::uint32_t signal_every, std::uint64_t size,
           ibv_wr_opcode opcode);
  void make(std::uint32_t index, ibv_wr_opcode opcode);
  void ask_for_completion(Station::Queue& queue, std::uint32_t index, ibv_send_wr& request,
                          bool now);
  void prepare(Station::Queue& queue, std::uint32_t index, bool signal_last);
  [[gnu::cold]] int refuse(Outcome& outcome, const ibv_wc* completion) const;
  bool is_under_way() const;

  Station& station_;
  Station::Queue* const queues_;
  ibv_cq* const send_queue_;
  const Layout& layout_;
  const std::uint32_t batch_, signal_every_;
  const std::uint64_t size_;
  const bool has_slots_, has_immediate_, gives_way_;
  const bool all_alike_;  // nothing differs from one request of a queue pair to the next
  std::uint32_t immediate_ = 0;
  std::uint64_t completed_ = 0;
  std::vector<ibv_sge> segments_;
  std::vector<ibv_send_wr> requests_;  // `batch_` for each queue pair, chained
};

// Asks for a completion if this is the last of `signal_every_` requests, or `now`. Only what
// changes is stored: the library reads a request in larger pieces right behind, and a processor
// waits for stores to parts of what it loads.
inline void Requests::ask_for_completion(Station::Queue& queue, std::uint32_t index,
                                         ibv_send_wr& request, bool now) {
  ++queue.unsignaled;
  if (queue.unsignaled >= signal_every_ || now) [[unlikely]] {
    request.send_flags |= IBV_SEND_SIGNALED;
    request.wr_id = std::uint64_t{index} << 32 | queue.unsignaled;
    queue.unsignaled = 0;
  } else if ((request.send_flags & IBV_SEND_SIGNALED) != 0) [[unlikely]] {
    request.send_flags &= ~static_cast<unsigned>(IBV_SEND_SIGNALED);
  }
}

inline int Requests::post(std::uint32_t index, bool signal_last) {
  Station::Queue& queue = queues_[index];
  if (!all_alike_) {
    if (batch_ == 1 && !has_slots_ && !has_immediate_) {
      ask_for_completion(queue, index, requests_[index], signal_last);
    } else {
      prepare(queue, index, signal_last);
    }
  }
  ibv_send_wr* refused = nullptr;
  if (int code = ibv_post_send(queue.sender, &requests_[index * batch_], &refused)) [[unlikely]] {
    return code > 0 ? code : errno;
  }
  queue.posted += batch_;
  return 0;
}

template <int kMost>
int Requests::reap(Outcome& outcome) {
  ibv_wc completions[kMost];
  const int count = ibv_poll_cq(send_queue_, kMost, completions);
  if (count == 0) {
    if (gives_way_) [[unlikely]] {
      sched_yield();
    }
    return 0;
  }
  if (count < 0) [[unlikely]] {
    return refuse(outcome, nullptr);
  }
  std::uint32_t done = 0;
  for (int i = 0; i < count; ++i) {
    const ibv_wc& completion = completions[i];
    if (completion.status != IBV_WC_SUCCESS) [[unlikely]] {
      return refuse(outcome, &completion);
    }
    const auto covered = static_cast<std::uint32_t>(completion.wr_id);
    queues_[completion.wr_id >> 32].completed += covered;
    done += covered;
  }
  completed_ += done;
  return static_cast<int>(done);
}

Error completion_error(const Station& station, const ibv_wc& completion, const char* of);

}  // namespace gdr::perf

// Requests: the work requests of a station's queue pairs, made beforehand, so that posting one
// changes only what differs from one to the next.
//
//   Requests requests(task);
//   if (int code = requests.post(queue_index)) ...   // one batch
//   const int count = requests.reap(&error);         // requests that have completed
#pragma once

#include <vector>

#include "perf/cases/task.h"

namespace gdr::perf {

class Requests {
 public:
  // `batch` of them by one call. `operation`: which may differ from the load's (a pong).
  Requests(Task& task, Operation operation, std::uint32_t batch, std::uint32_t signal_every);
  // Sends of `size` bytes that carry an immediate.
  static Requests sends(Task& task, std::uint64_t size);

  // One batch on that queue pair: an errno value. Hot.
  int post(std::uint32_t index, bool signal_last = false);
  // Takes at most so many completions off the send queue: how many requests have completed, or -1
  // and the error in `outcome`. Hot.
  int reap(Outcome& outcome, int most = kAtOnce);
  // At the end of a row: takes off the send queue what is still under way. Found there by the next
  // row, it would be counted as that one's.
  void drain(Outcome& outcome);
  // The immediate of what is posted next.
  void set_immediate(std::uint32_t value) { immediate_ = value; }

  std::uint64_t completed() const { return completed_; }

 private:
  static constexpr int kAtOnce = 16;
  Requests(Task& task, std::uint32_t batch, std::uint32_t signal_every, std::uint64_t size,
           ibv_wr_opcode opcode);
  void make(std::uint32_t index, ibv_wr_opcode opcode);
  void prepare(Station::Queue& queue, std::uint32_t index, bool signal_last);
  bool is_under_way() const;

  Station& station_;
  const Layout& layout_;
  const std::uint32_t batch_, signal_every_;
  const std::uint64_t size_;
  const bool has_slots_, has_immediate_;
  const bool all_alike_;  // nothing differs from one request of a queue pair to the next
  std::uint32_t immediate_ = 0;
  std::uint64_t completed_ = 0;
  std::vector<ibv_sge> segments_;
  std::vector<ibv_send_wr> requests_;  // `batch_` for each queue pair, chained
};

Error completion_error(const Station& station, const ibv_wc& completion, const char* of);

}  // namespace gdr::perf

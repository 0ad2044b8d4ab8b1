// Receives: the receive requests of a station, posted before anything is sent and again as messages
// arrive.
//
//   Receives receives(station);
//   if (int code = receives.post_all()) ...
//   const int count = receives.take(outcome, [](Station::Queue& queue, const ibv_wc& wc) {...});
#pragma once

#include <sched.h>

#include <vector>

#include "perf/cases/task.h"

namespace gdr::perf {

class Receives {
 public:
  explicit Receives(Station& station);

  // As many as the station has room for; once, after it was connected. An errno value.
  int post_all();
  // Messages that have arrived, each handed to `taken`, at most `most`; their receives are posted
  // again. -1 and the error in `outcome`. Hot.
  template <typename Taken>
  int take(Outcome& outcome, Taken&& taken, int most = kAtOnce);
  // Where the message of a completion lies: an address in the station's memory.
  std::uint64_t place(const ibv_wc& completion) const { return places_[completion.wr_id]; }

 private:
  static constexpr int kAtOnce = 16;
  int post(std::uint64_t number);
  bool repost(Outcome& outcome, const ibv_wc& completion);

  Station& station_;
  const bool shared_;
  const std::uint32_t of_each_;
  const std::span<Station::Queue> queues_;
  std::vector<ibv_sge> segments_;  // of each receive request, by number
  std::vector<std::uint64_t> places_;
};

template <typename Taken>
int Receives::take(Outcome& outcome, Taken&& taken, int most) {
  ibv_wc completions[kAtOnce];
  const int count = ibv_poll_cq(station_.receive_queue(), most, completions);
  if (count == 0) {
    if (station_.gives_way()) [[unlikely]] {
      sched_yield();
    }
    return 0;
  }
  if (count < 0) {
    outcome.fail(rdma::verbs_error("ibv_poll_cq", EIO));
    return -1;
  }
  for (int i = 0; i < count; ++i) {
    Station::Queue* queue = station_.find(completions[i].qp_num);
    if (completions[i].status == IBV_WC_SUCCESS && queue != nullptr) taken(*queue, completions[i]);
    if (!repost(outcome, completions[i])) return -1;
  }
  return count;
}

}  // namespace gdr::perf

#include "perf/cases/stream.h"

#include <algorithm>

#include "perf/cases/requests.h"
#include "perf/cases/slicer.h"

namespace gdr::perf {
namespace {

// An unreliable transport's messages are lost if nothing has come for this long after the last.
constexpr Nanoseconds kQuiet = 200 * kMillisecond;
constexpr Nanoseconds kGivenUp = 5 * kSecond;  // of those that lose none
// Between two looks at the flags that others set, while messages move.
constexpr std::uint32_t kLook = 64;

class Stream {
 public:
  Stream(Task& task, Receives* receives, Outcome& outcome)
      : task_(task),
        outcome_(outcome),
        receives_(task.receives ? receives : nullptr),
        load_(task.station.plan().load),
        under_way_(requests_under_way(load_, task.size)),
        requests_(task, load_.operation, load_.batch, task.signal_every),
        slicer_(task.timing, task.clock, ticks()) {}

  void run() {
    sending_ = task_.sends;
    if (!sending_) finish_sending();
    for (std::uint32_t round = 0; outcome_.done && !task_.aborted(); ++round) {
      bool moved = false;
      if (!sent_all_) moved = send();
      if (receives_ != nullptr) moved |= receive();
      if (moved && round % kLook != 0) continue;
      if (sent_all_ && has_received_all()) return;
      if (sending_ && task_.stopped()) sending_ = false;
      if (!moved && load_.events) {
        if (Result<void> slept = task_.station.sleep(); !slept) outcome_.fail(slept.error());
      }
    }
    if (!sent_all_) finish_sending();
  }

 private:
  bool send() {
    if (sending_ && !post()) return false;
    const int reaped = requests_.reap(outcome_);
    if (reaped < 0) return false;
    if (reaped > 0 && sending_) sending_ = slicer_.go_on(requests_.completed(), ticks());
    if (!sending_) drain();
    return reaped > 0;
  }

  bool post() {
    const auto queues = task_.station.queues();
    for (std::uint32_t i = 0; i < queues.size(); ++i) {
      while (queues[i].posted - queues[i].completed + load_.batch <= under_way_) {
        if (int code = requests_.post(i)) {
          outcome_.fail(rdma::verbs_error("ibv_post_send", code));
          return false;
        }
      }
    }
    return true;
  }

  // The last ones may not have asked for a completion: one more, which does.
  void drain() {
    bool all = true;
    const auto queues = task_.station.queues();
    for (std::uint32_t i = 0; i < queues.size(); ++i) {
      const std::uint64_t under_way = queues[i].posted - queues[i].completed;
      if (under_way == 0) continue;
      all = false;
      if (queues[i].unsignaled == 0 || under_way + load_.batch > load_.depth) continue;
      if (int code = requests_.post(i, true)) {
        return outcome_.fail(rdma::verbs_error("ibv_post_send", code));
      }
    }
    if (all) finish_sending();
  }

  void finish_sending() {
    sent_all_ = true;
    outcome_.slices = slicer_.slices();
    for (const Station::Queue& queue : task_.station.queues()) {
      outcome_.sent.push_back(task_.sends ? queue.posted : 0);
    }
    outcome_.has_sent.store(true);
  }

  bool receive() {
    const int count = receives_->take(outcome_, [](Station::Queue&, const ibv_wc&) {});
    if (count <= 0) return false;
    outcome_.received += static_cast<std::uint64_t>(count);
    heard_at_ = 0;
    return true;
  }

  bool has_received_all() {
    if (receives_ == nullptr) return task_.is_client || task_.stopped();
    const std::optional<std::uint64_t> expected = task_.signals->expected.get();
    if (!expected) return false;
    if (outcome_.received >= *expected) return true;
    const bool unreliable = may_lose(load_.transport);
    if (heard_at_ == 0) heard_at_ = now();
    if (now() - heard_at_ < (unreliable ? kQuiet : kGivenUp)) return false;
    if (receive()) return false;  // while this thread waited for its processor
    if (unreliable) {
      outcome_.lost = *expected - outcome_.received;
    } else {
      outcome_.fail({ETIMEDOUT, std::to_string(outcome_.received) + " of " +
                                    std::to_string(*expected) + " messages have arrived"});
    }
    return true;
  }

  Task& task_;
  Outcome& outcome_;
  Receives* receives_;
  const Load& load_;
  const std::uint32_t under_way_;
  Requests requests_;
  Slicer slicer_;
  bool sending_ = true;       // posts
  bool sent_all_ = false;     // and everything has completed
  Nanoseconds heard_at_ = 0;  // when it was first seen that nothing had come since; 0: not yet
};

}  // namespace

void run_stream(Task& task, Receives* receives, Outcome& outcome) {
  Stream(task, receives, outcome).run();
}

}  // namespace gdr::perf

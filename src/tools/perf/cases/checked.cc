#include "perf/cases/checked.h"

#include <arpa/inet.h>

#include <algorithm>

#include "perf/cases/requests.h"
#include "perf/cases/rest.h"
#include "perf/cases/windows.h"

namespace gdr::perf {
namespace {

// Sends one side's windows, and takes what comes from the other one meanwhile.
class Traffic {
 public:
  Traffic(Task& task, Receives* receives, Outcome& outcome)
      : task_(task),
        outcome_(outcome),
        receives_(task.receives ? receives : nullptr),
        load_(task.station.plan().load),
        batch_(std::min(load_.batch, task.station.layout().slots)),
        count_(std::min(task.station.layout().slots, load_.depth) / batch_ * batch_),
        requests_(task, load_.operation, batch_, 1),
        contents_(task),
        arrivals_(task.station) {}

  std::uint32_t count() const { return count_; }  // of a window, on each queue pair

  // The next window. False: it failed, or there is no sense in it any more.
  bool send() {
    rest_ = {};
    for (std::uint32_t i = 0; i < count_; i += batch_) {
      requests_.set_immediate(static_cast<std::uint32_t>(first_ + i));
      for (std::uint32_t queue = 0; queue < task_.station.queues().size(); ++queue) {
        if (int code = requests_.post(queue)) {
          outcome_.fail(rdma::verbs_error("ibv_post_send", code));
          return false;
        }
      }
      if (requests_.reap(outcome_) < 0) return false;
    }
    first_ += count_;
    const std::uint64_t all = first_ * task_.station.queues().size();
    while (requests_.completed() < all) {
      const int reaped = requests_.reap(outcome_);
      const int taken = take();
      if (reaped < 0 || taken < 0 || task_.aborted() || task_.stopped()) return false;
      if (reaped + taken == 0 && load_.events) (void)task_.station.sleep();
    }
    return true;
  }

  // Messages that have come, each compared. -1: it failed.
  int take() {
    if (receives_ == nullptr) return 0;
    const Nanoseconds began = now();
    const int count = receives_->take(outcome_, [this](Station::Queue& queue, const ibv_wc& wc) {
      const auto index = static_cast<std::uint32_t>(&queue - task_.station.queues().data());
      // Immediates have 32 bits; a row has fewer messages on one queue pair.
      const std::uint64_t message = ntohl(wc.imm_data);
      if (load_.operation == Operation::kSend) {
        contents_.verify_at(receives_->place(wc), index, message, outcome_);
      } else {
        contents_.verify_incoming(index, message, outcome_);
      }
      task_.signals->received.fetch_add(1);
    });
    if (count == 0) {
      task_.signals->looked_at.store(began);
    } else {
      rest_ = {};
    }
    return count;
  }

  // The other side's messages of a window that this one has sent. When the last of both had moved.
  std::optional<Ticks> take_all(const Window& window) {
    Ticks ended = ticks();
    if (receives_ == nullptr) return ended;
    const Result<std::uint64_t> lost = arrivals_.await(window, [&]() -> std::optional<Arrived> {
      const int taken = take();
      if (taken < 0 || task_.aborted()) return std::nullopt;
      if (taken > 0) ended = ticks();
      return Arrived{task_.signals->received.load(), task_.signals->looked_at.load()};
    });
    if (!lost) outcome_.fail(lost.error());
    if (!outcome_.done) return std::nullopt;
    outcome_.lost += *lost;
    return ended;
  }

  bool is_over() const { return !outcome_.done || task_.stopped() || task_.aborted(); }
  // Nothing has come.
  void rest() {
    if (load_.events) {
      (void)task_.station.sleep();
    } else {
      rest_.pause();
    }
  }

 private:
  Task& task_;
  Outcome& outcome_;
  Receives* const receives_;
  const Load& load_;
  const std::uint32_t batch_, count_;  // of a call, of a window
  Requests requests_;
  Contents contents_;
  Arrivals arrivals_;
  Rest rest_;  // since the last message
  std::uint64_t first_ = 0;
};

}  // namespace

void run_checked_client(Task& task, Receives* receives, Outcome& outcome) {
  Traffic traffic(task, receives, outcome);
  Windows windows(task, outcome, traffic.count());
  windows.run([&](const Window& window) -> std::optional<Ticks> {
    if (!traffic.send()) return std::nullopt;
    return traffic.take_all(window);
  });
}

void run_checked_server(Task& task, Receives* receives, Outcome& outcome) {
  Traffic traffic(task, receives, outcome);
  Signals& signals = *task.signals;
  while (!traffic.is_over()) {
    if (signals.windows_sent.load() < signals.windows_asked.load()) {
      if (!traffic.send()) break;
      signals.sent_at.store(ticks());
      signals.windows_sent.fetch_add(1);
    }
    const int taken = traffic.take();
    if (taken < 0) break;
    if (taken == 0) traffic.rest();
  }
  for (const Station::Queue& queue : task.station.queues()) outcome.sent.push_back(queue.posted);
}

}  // namespace gdr::perf

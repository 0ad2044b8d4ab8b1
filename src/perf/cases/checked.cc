#include "perf/cases/checked.h"

#include <arpa/inet.h>

#include <algorithm>

#include "perf/cases/requests.h"
#include "perf/cases/slicer.h"
#include "perf/contents.h"

namespace gdr::perf {
namespace {

class Windows {
 public:
  Windows(Task& task, Outcome& outcome)
      : task_(task),
        outcome_(outcome),
        load_(task.station.plan().load),
        batch_(std::min(load_.batch, task.station.layout().slots)),
        count_(std::min(task.station.layout().slots, load_.depth) / batch_ * batch_),
        requests_(task, load_.operation, batch_, 1),
        contents_(task) {}

  // Repetitions are cut by all the time that passes, so that a row takes as long as was asked for;
  // only what is timed counts in them.
  void run() {
    Ticks timed = 0, timed_before = 0;
    const Ticks start = ticks();
    Slicer slicer(task_.timing, task_.clock, start);
    for (bool on = true; on && !task_.aborted();) {
      const Window window{task_.index, first_, count_};
      if (!prepare(window)) break;
      const Ticks before = ticks();
      if (!move()) break;
      timed += ticks() - before;
      if (!compare(window)) break;
      first_ += count_;
      const bool was_warm = slicer.slice() != 0;
      on = slicer.go_on(requests_.completed(), ticks());
      const bool has_slice = slicer.slices().size() > outcome_.slices.size();
      if (has_slice) {
        outcome_.slices.push_back(
            {slicer.slices().back().messages,
             static_cast<std::uint64_t>(task_.clock.nanoseconds(timed - timed_before))});
      }
      if (has_slice || !was_warm) timed_before = timed;
    }
    outcome_.timed = timed;
    outcome_.checking = ticks() - start - timed;
    for (const Station::Queue& queue : task_.station.queues())
      outcome_.sent.push_back(queue.posted);
    outcome_.has_sent.store(true);
  }

 private:
  bool prepare(const Window& window) {
    if (is_atomic(load_.operation)) return true;
    if (load_.operation == Operation::kRead) {
      const Result<void> filled = task_.verifier->fill(window);
      if (!filled) outcome_.fail(filled.error());
      return static_cast<bool>(filled);
    }
    return for_each_message(window, task_.station, [&](std::uint32_t queue, std::uint64_t message) {
      return contents_.fill_outgoing(queue, message, outcome_);
    });
  }

  bool move() {
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
    const std::uint64_t all = (first_ + count_) * task_.station.queues().size();
    while (requests_.completed() < all) {
      const int reaped = requests_.reap(outcome_);
      if (reaped < 0 || task_.aborted()) return false;
      if (reaped == 0 && load_.events) (void)task_.station.sleep();
    }
    return true;
  }

  bool compare(const Window& window) {
    if (is_atomic(load_.operation)) {
      return for_each_message(window, task_.station,
                              [&](std::uint32_t queue, std::uint64_t message) {
                                return contents_.verify_fetched(queue, message, outcome_);
                              });
    }
    if (load_.operation == Operation::kRead) {
      return for_each_message(window, task_.station,
                              [&](std::uint32_t queue, std::uint64_t message) {
                                return contents_.verify_outgoing(queue, message, outcome_);
                              });
    }
    const Result<VerifyWindow::Reply> reply = task_.verifier->verify(window);
    if (!reply) {
      outcome_.fail(reply.error());
      return false;
    }
    outcome_.checked += std::uint64_t{window.count} * task_.station.queues().size() - reply->lost;
    outcome_.add_wrong(reply->first, reply->wrong);
    outcome_.lost += reply->lost;
    return true;
  }

  Task& task_;
  Outcome& outcome_;
  const Load& load_;
  const std::uint32_t batch_, count_;  // of a call, of a window
  Requests requests_;
  Contents contents_;
  std::uint64_t first_ = 0;
};

}  // namespace

void run_checked_client(Task& task, Outcome& outcome) { Windows(task, outcome).run(); }

void run_checked_server(Task& task, Receives& receives, Outcome& outcome) {
  Contents contents(task);
  const Load& load = task.station.plan().load;
  const bool placed_by_receive = load.operation == Operation::kSend;
  while (outcome.done && !task.stopped() && !task.aborted()) {
    const int count = receives.take(outcome, [&](Station::Queue& queue, const ibv_wc& wc) {
      const auto index = static_cast<std::uint32_t>(&queue - task.station.queues().data());
      // Immediates have 32 bits; a row has fewer messages on one queue pair.
      const std::uint64_t message = ntohl(wc.imm_data);
      if (placed_by_receive) {
        contents.verify_at(receives.place(wc), index, message, outcome);
      } else {
        contents.verify_incoming(index, message, outcome);
      }
      task.received->fetch_add(1);
    });
    if (count < 0) return;
    if (count == 0 && load.events) (void)task.station.sleep();
  }
}

}  // namespace gdr::perf

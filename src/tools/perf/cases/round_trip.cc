#include "perf/cases/round_trip.h"

#include <algorithm>
#include <utility>

#include "perf/cases/latency_samples.h"
#include "perf/cases/requests.h"
#include "perf/cases/slicer.h"
#include "perf/cases/verifier.h"
#include "perf/contents.h"

namespace gdr::perf {
namespace {

constexpr std::uint32_t kLook = 1024;  // polls between two looks at the flags that others set
// A message of an unreliable transport is lost after this time: the first if the next one may come
// through, the second if it cannot. A later answer would be taken for the next one's.
constexpr Nanoseconds kLost = 200 * kMillisecond, kLostForGood = kSecond;
constexpr Nanoseconds kGivenUp = 10 * kSecond;  // of those that lose none

// One request after the other, until the slices are over or the other side ends it. What happens
// for each of them is kept together, and what is seldom apart: after a system call most of a
// program's lines have to come into the cache again, which is several percent of a small message.
class RoundTrips {
 public:
  RoundTrips(Task& task, Outcome& outcome, Operation operation, std::uint32_t signal_every)
      : task_(task),
        outcome_(outcome),
        load_(task.station.plan().load),
        queue_(task.station.queues()[0]),
        most_(requests_queued(load_)),
        looks_after_(load_.events ? 1 : kLook),
        requests_(task, operation, 1, signal_every),
        contents_(task),
        slicer_(task.timing, task.clock, ticks()),
        samples_(outcome, task.timing) {}

  // `answer`: waits for what ends a round; false: it never will.
  template <typename Answer>
  void ask(Answer&& answer) {
    if (load_.check) return ask_checked(answer);
    Ticks before = ticks();
    std::uint64_t rounds = 0;
    do {
      if (!post()) [[unlikely]] {
        return;
      }
      if (!answer()) [[unlikely]] {
        if (!std::exchange(lost_one_, false)) return;
        // The next one may come through.
        ++outcome_.lost;
        before = ticks();
        continue;
      }
      const Ticks after = ticks();
      before = samples_.note(slicer_.slice(), after - before) ? after : ticks();
      ++rounds;
    } while (samples_.go_on(slicer_, rounds, before) && !task_.aborted());
  }

  template <typename Answer>
  void reply(Answer&& answer) {
    if (load_.check) return reply_checked(answer);
    // Messages that come without a pause must not keep it from seeing that nobody wants it any
    // more.
    while (answer() && post() && !task_.aborted()) {
    }
  }

  // Polls `done` until it says so, and now and then whether there is any sense in it.
  template <typename Done>
  bool await(Done&& done) {
    bool overdue = false;
    while (true) {
      for (std::uint32_t polls = 0; polls < looks_after_; ++polls) {
        if (const int state = done(); state != 0) [[likely]] {
          heard_at_ = 0;
          return state > 0;
        }
      }
      if (!goes_on(overdue)) return false;
    }
  }

  // Completions of what was sent, when there are some.
  bool reap() { return requests_.reap(outcome_) >= 0; }
  int reap_one() { return requests_.reap<1>(outcome_); }

  void end() {
    outcome_.slices = slicer_.slices();
    outcome_.sent = {queue_.posted};
    requests_.drain(outcome_);
    outcome_.has_sent.store(true);
  }

  // The other side answers whatever comes; with --check it answers by number.
  void survive_losses() { survives_losses_ = !load_.check; }
  // A message has come, and lies there.
  void heard(std::uint64_t place) { place_ = place; }

 private:
  template <typename Answer>
  [[gnu::noinline]] void ask_checked(Answer& answer) {
    const Ticks began = ticks();
    std::uint64_t rounds = 0;
    Ticks after = began;
    do {
      if (!prepare()) return;
      const Ticks before = ticks();
      if (!post() || !answer()) return;
      after = ticks();
      samples_.note(slicer_.slice(), after - before);
      outcome_.timed += after - before;
      if (!verify()) return;
      ++rounds;
    } while (samples_.go_on(slicer_, rounds, after) && !task_.aborted());
    outcome_.checking = ticks() - began - outcome_.timed;
  }

  template <typename Answer>
  [[gnu::noinline]] void reply_checked(Answer& answer) {
    while (answer() && prepare() && post() && verify() && !task_.aborted()) {
    }
  }

  bool post() {
    if (queue_.posted - queue_.completed >= most_) [[unlikely]] {
      if (!make_room()) return false;
    }
    if (load_.check) [[unlikely]] {
      requests_.set_immediate(static_cast<std::uint32_t>(queue_.posted));
    }
    const int code = requests_.post(0);
    return code == 0 || refuse(code);
  }
  [[gnu::cold, gnu::noinline]] bool make_room() {
    return await([this] { return reap_one(); });
  }
  [[gnu::cold, gnu::noinline]] bool refuse(int code) {
    outcome_.fail(rdma::verbs_error("ibv_post_send", code));
    return false;
  }

  // Nothing has come for a while. `overdue`: nor with the one look that there was after it had been
  // told so; this thread may have had no processor before.
  [[gnu::cold, gnu::noinline]] bool goes_on(bool& overdue) {
    if (overdue) return give_up();
    if (load_.events) {
      if (Result<void> slept = task_.station.sleep(); !slept) outcome_.fail(slept.error());
    }
    if (!outcome_.done || task_.aborted() || task_.stopped()) return false;
    overdue = is_overdue();
    return true;
  }

  bool prepare() {
    if (is_atomic(load_.operation)) return true;
    if (load_.operation != Operation::kRead) {
      return contents_.fill_outgoing(0, queue_.posted, outcome_);
    }
    const Result<void> filled = task_.verifier->fill({task_.index, queue_.posted, 1});
    if (!filled) outcome_.fail(filled.error());
    return static_cast<bool>(filled);
  }
  // The answer has the same number as what it answers.
  bool verify() {
    const std::uint64_t message = queue_.posted - 1;
    if (is_atomic(load_.operation)) return contents_.verify_fetched(0, message, outcome_);
    if (load_.operation == Operation::kRead) {
      return contents_.verify_outgoing(0, message, outcome_);
    }
    if (load_.operation == Operation::kSend) {
      return contents_.verify_at(place_, 0, message, outcome_);
    }
    return contents_.verify_incoming(0, message, outcome_);
  }

  // Datagrams and unreliable connections lose messages; nothing repeats them. The others end with
  // an error instead, unless what tells of it is lost on the way to the program.
  bool is_overdue() {
    if (!task_.is_client) return false;
    if (heard_at_ == 0) heard_at_ = now();
    const Nanoseconds lost = survives_losses_ ? kLost : kLostForGood;
    return now() - heard_at_ >= (may_lose(load_.transport) ? lost : kGivenUp);
  }
  bool give_up() {
    if (may_lose(load_.transport) && survives_losses_) {
      heard_at_ = 0;
      lost_one_ = true;
    } else {
      outcome_.fail({ETIMEDOUT, may_lose(load_.transport)
                                    ? "a message or its answer was lost; use RC, which retransmits"
                                    : "no completion and no error for 10 s"});
    }
    return false;
  }

  Task& task_;
  Outcome& outcome_;
  const Load& load_;
  Station::Queue& queue_;
  const std::uint32_t most_, looks_after_;
  Requests requests_;
  Contents contents_;
  Slicer slicer_;
  Nanoseconds heard_at_ = 0;  // 0: just now
  std::uint64_t place_ = 0;   // of the last message
  bool survives_losses_ = false, lost_one_ = false;
  LatencySamples samples_;
};

}  // namespace

void run_request_latency(Task& task, Outcome& outcome) {
  if (!task.is_client) return;
  RoundTrips trips(task, outcome, task.station.plan().load.operation, 1);
  trips.ask([&] { return trips.await([&] { return trips.reap_one(); }); });
  trips.end();
}

void run_message_latency(Task& task, Receives& receives, Outcome& outcome) {
  const Load& load = task.station.plan().load;
  const Operation operation =
      load.operation == Operation::kWrite ? Operation::kWriteWithImmediate : load.operation;
  RoundTrips trips(task, outcome, operation, task.signal_every);
  const auto arrived = [&] {
    const auto take = [&](Station::Queue&, const ibv_wc& completion) {
      ++outcome.received;
      trips.heard(receives.place(completion));
    };
    return receives.take(outcome, take, 1);
  };
  // Completions are taken while the message is under way, not between its answer and the next one.
  const auto answer = [&] { return trips.reap() && trips.await(arrived); };
  trips.survive_losses();
  if (task.is_client) {
    trips.ask(answer);
  } else {
    trips.reply(answer);
  }
  trips.end();
}

void run_memory_latency(Task& task, Outcome& outcome) {
  Station& station = task.station;
  Station::Queue& queue = station.queues()[0];
  RoundTrips trips(task, outcome, Operation::kWrite, task.signal_every);
  const Layout& layout = station.layout();
  const auto last_byte = [&](std::uint64_t of, std::uint64_t message) {
    return reinterpret_cast<volatile std::uint8_t*>(of + layout.slot(message) + task.size - 1);
  };
  // The byte that marks round n; 0 lies there before the first.
  const auto mark = [](std::uint64_t round) { return static_cast<std::uint8_t>(round % 255 + 1); };
  std::uint64_t round = 0;
  // Completions are taken while the message is under way, not between its answer and the next one.
  const auto arrived = [&](std::uint8_t wanted) {
    const volatile std::uint8_t* byte = last_byte(queue.incoming, round);
    return trips.reap() && trips.await([&] { return *byte == wanted ? 1 : 0; });
  };
  *last_byte(queue.outgoing, 0) = mark(0);
  if (task.is_client) {
    trips.ask([&] {
      if (!arrived(mark(round))) return false;
      ++round;
      *last_byte(queue.outgoing, round) = mark(round);
      return true;
    });
  } else {
    // The answer to round n carries n's mark.
    trips.reply([&] {
      const std::uint8_t wanted = mark(round);
      if (!arrived(wanted)) return false;
      *last_byte(queue.outgoing, round) = wanted;
      outcome.received = ++round;
      return true;
    });
  }
  trips.end();
}

}  // namespace gdr::perf

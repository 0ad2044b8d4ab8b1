#include "perf/crew.h"

#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "perf/cases/checked.h"
#include "perf/cases/rest.h"
#include "perf/cases/round_trip.h"
#include "perf/cases/staged.h"
#include "perf/cases/stream.h"
#include "perf/caught.h"
#include "perf/contents.h"
#include "perf/memory_room.h"
#include "perf/shares.h"

namespace gdr::perf {
namespace {

// A client waits 30 s for the answer that needs this.
constexpr Nanoseconds kEnding = 25 * kSecond;
// On one queue pair: two days of 10^9 a second are fewer, and of all queue pairs the sum is still a
// number.
constexpr std::uint64_t kMostMessages = std::uint64_t{1} << 48;

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void run_latency(Task& task, Receives* receives, Outcome& outcome) {
  const Load& load = task.station.plan().load;
  if (load.operation == Operation::kRead || is_atomic(load.operation)) {
    return run_request_latency(task, outcome);
  }
  if (is_polled_in_memory(load)) return run_memory_latency(task, outcome);
  run_message_latency(task, *receives, outcome);
}

void run_checked(Task& task, Receives* receives, Outcome& outcome) {
  if (task.is_client) return run_checked_client(task, receives, outcome);
  if (task.receives || task.sends) run_checked_server(task, receives, outcome);
}

}  // namespace

Result<std::unique_ptr<Crew>> Crew::create(const Ports& ports, const StationPlan& plan,
                                           bool is_client, std::vector<int> processors,
                                           std::optional<std::uint64_t> available) {
  std::unique_ptr<Crew> crew(new Crew(is_client));
  crew->load_ = plan.load;
  crew->processors_ = std::move(processors);
  const std::vector<StationPlan> shares = shares_of(plan, is_client);
  if (!available) available = available_memory();
  Result<void> room = check_host_memory(host_memory_of(shares), available);
  if (!room) return room.error();
  for (std::uint32_t i = 0; i < shares.size(); ++i) {
    Result<std::unique_ptr<Station>> station =
        Station::create(*ports[i % plan.load.ports], shares[i]);
    if (!station) return station.error();
    auto post = std::make_unique<Post>();
    post->station = *std::move(station);
    if (needs_receives(plan.load)) post->receives = std::make_unique<Receives>(*post->station);
    crew->posts_.push_back(std::move(post));
  }
  return crew;
}

Crew::~Crew() {
  abort_.store(true);
  for (auto& post : posts_) {
    if (post->thread.joinable()) post->thread.join();
  }
}

SideAddress Crew::address() const {
  SideAddress address;
  for (const auto& post : posts_) address.stations.push_back(post->station->address());
  return address;
}

std::uint64_t Crew::registered_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& post : posts_) bytes += post->station->registered_bytes();
  return bytes;
}

std::uint64_t Crew::largest() const { return posts_.front()->station->plan().largest; }

Result<void> Crew::connect(const SideAddress& theirs, const GoOn& go_on) {
  if (theirs.stations.size() != posts_.size()) {
    return Error{EPROTO, "the other side has a different number of threads"};
  }
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    if (Result<void> done = posts_[i]->station->connect(theirs.stations[i], go_on); !done) {
      return done;
    }
    if (posts_[i]->receives == nullptr) continue;
    if (int code = posts_[i]->receives->post_all()) {
      return rdma::verbs_error("ibv_post_recv", code);
    }
  }
  return {};
}

Result<void> Crew::start(const Start& row, const TickClock& clock, Verifier* verifier) {
  return caught([&]() -> Result<void> {
    if (Result<void> prepared = prepare(row, clock, verifier); !prepared) return prepared;
    return start_threads();
  });
}

Result<void> Crew::prepare(const Start& row, const TickClock& clock, Verifier* verifier) {
  stop_.store(false);
  const bool both = load_.both_ways;
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    Post& post = *posts_[i];
    post.signals = std::make_unique<Signals>();
    post.told_wrong = 0;
    post.arrivals.emplace(*post.station);
    post.outcome = std::make_unique<Outcome>();
    post.task.reset(new Task{.station = *post.station,
                             .clock = clock,
                             .index = static_cast<std::uint32_t>(i),
                             .size = row.size,
                             .measure = row.measure,
                             .signal_every = row.signal_every,
                             .timing = row.timing,
                             .seed = row.seed,
                             .is_client = is_client_,
                             .sends = is_client_ || both,
                             .receives = needs_receives(load_) && (!is_client_ || both),
                             .verifier = verifier,
                             .stop = &stop_,
                             .abort = &abort_,
                             .signals = post.signals.get()});
    // What an earlier row has left must not be taken for this one's.
    if (load_.check || is_polled_in_memory(load_)) {
      Contents(*post.task).clear(*post.outcome);
      if (!post.outcome->done) return post.outcome->done;
    }
  }
  return {};
}

Result<void> Crew::start_threads() {
  started_ = now();
  processor_time_ = processor_seconds();
  for (std::size_t i = 0; i < posts_.size(); ++i) {
    Post* post = posts_[i].get();
    post->is_pinned.store(false);
    Result<void> begun = start_thread(post->thread, [this, post, i] {
      if (!processors_.empty()) {
        post->pinned = caught([&] { return pin_this_thread(i); });
        post->is_pinned.store(true);
        post->is_pinned.notify_one();
      }
      work(*post);
    });
    if (!begun) return begun;
    if (processors_.empty()) continue;
    post->is_pinned.wait(false);
    if (!post->pinned) return post->pinned;
  }
  return {};
}

// By the thread itself: one that has nothing to do may have ended before another could pin it, and
// glibc would then fail, or pin its caller.
Result<void> Crew::pin_this_thread(std::size_t index) const {
  const int processor = processors_[index % processors_.size()];
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  if (sched_setaffinity(0, sizeof set, &set) == 0) return {};
  const int code = errno;
  return Error{EINVAL, "--cpu " + std::to_string(processor) + ": this process may not use it (" +
                           strerror(code) + "); taskset -cp $$ lists the CPUs it may use"};
}

void Crew::work(Post& post) {
  Outcome& outcome = *post.outcome;
  Result<void> carried_out = caught([&] { return carry_out(post); });
  if (outcome.done) outcome.done = std::move(carried_out);
  outcome.has_sent.store(true);
  outcome.has_ended.store(true);
}

Result<void> Crew::carry_out(Post& post) {
  Task& task = *post.task;
  Outcome& outcome = *post.outcome;
  const Load& load = task.station.plan().load;
  if (Result<void> entered = task.station.enter(); !entered) return entered;
  if (is_staged(load)) {
    run_staged(task, *post.receives, outcome);
  } else if (task.measure == Measure::kLatency) {
    run_latency(task, post.receives.get(), outcome);
  } else if (load.check) {
    run_checked(task, post.receives.get(), outcome);
  } else if (task.sends || task.receives) {
    run_stream(task, post.receives.get(), outcome);
  }
  return {};
}

bool Crew::has_sent() const {
  return std::all_of(posts_.begin(), posts_.end(),
                     [](const auto& post) { return post->outcome->has_sent.load(); });
}

std::vector<std::uint64_t> Crew::sent() const {
  std::vector<std::uint64_t> all;
  for (const auto& post : posts_) {
    std::vector<std::uint64_t> sent = post->outcome->sent;
    sent.resize(post->station->queues().size());
    all.insert(all.end(), sent.begin(), sent.end());
  }
  return all;
}

Result<void> Crew::expect(const std::vector<std::uint64_t>& sent) {
  if (sent.size() != load_.queue_pairs) {
    return Error{EPROTO, "the other side used a different number of queue pairs"};
  }
  if (std::ranges::any_of(sent, [](std::uint64_t count) { return count > kMostMessages; })) {
    return Error{EPROTO, "the other side reports an impossible number of messages"};
  }
  std::size_t at = 0;
  for (const auto& post : posts_) {
    std::uint64_t expected = 0;
    for (std::size_t i = 0; i < post->station->queues().size(); ++i) expected += sent[at++];
    post->signals->expected.set(expected);
  }
  stop_.store(true);
  return {};
}

bool Crew::has_ended() const {
  return std::all_of(posts_.begin(), posts_.end(),
                     [](const auto& post) { return post->outcome->has_ended.load(); });
}

Result<void> Crew::await_end(const GoOn& go_on) {
  const Nanoseconds deadline = now() + kEnding;
  for (Rest rest; !has_ended(); rest.pause()) {
    const bool wanted = !go_on || go_on();
    if (wanted && now() < deadline) continue;
    abort();
    if (!wanted) return Error{EINTR, "interrupted"};
    return Error{ETIMEDOUT, "the last messages did not arrive within " +
                                std::to_string(kEnding / kSecond) + " s"};
  }
  return {};
}

CrewOutcome Crew::join(const GoOn& go_on) {
  CrewOutcome all;
  all.done = await_end(go_on);
  Ticks timed = 0, checking = 0;
  for (auto& post : posts_) {
    if (post->thread.joinable()) post->thread.join();
    Outcome& outcome = *post->outcome;
    if (all.done && !outcome.done) all.done = outcome.done;
    all.slices.push_back(outcome.slices);
    for (std::size_t i = 0; i < outcome.samples.size(); ++i) {
      if (i < all.samples.size()) {
        all.samples[i].append(outcome.samples[i]);
      } else {
        all.samples.push_back(std::move(outcome.samples[i]));
      }
    }
    for (const std::uint64_t sent : outcome.sent) all.sent += sent;
    all.received += outcome.received;
    all.lost += outcome.lost;
    all.checked += outcome.checked;
    all.wrong += outcome.wrong;
    if (all.first_wrong.empty()) all.first_wrong = outcome.first_wrong;
    timed += outcome.timed;
    checking += outcome.checking;
  }
  if (timed + checking > 0) {
    all.share_checking = static_cast<double>(checking) / static_cast<double>(timed + checking);
  }
  const double seconds = static_cast<double>(now() - started_) * 1e-9;
  if (seconds > 0) all.cores = (processor_seconds() - processor_time_) / seconds;
  return all;
}

}  // namespace gdr::perf

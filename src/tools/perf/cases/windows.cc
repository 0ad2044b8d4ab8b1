#include "perf/cases/windows.h"

#include "perf/cases/rest.h"
#include "perf/cases/verifier.h"

namespace gdr::perf {
namespace {

// Nothing has come for so long: of transports that may lose messages, and of those that lose none.
constexpr Nanoseconds kQuiet = 100 * kMillisecond;
constexpr Nanoseconds kGivenUp = 5 * kSecond;  // and of either, where nobody looks

// Nothing says that it has come: it lies there, or is still under way. It is lost when there was
// nothing new for a while. `since`: when there was. True: it is there, and right.
bool await_unannounced(Contents& contents, std::uint32_t queue, std::uint64_t message,
                       Nanoseconds& since, Outcome& outcome) {
  Rest rest;
  for (bool waited = false; outcome.done; waited = true) {
    const Nanoseconds looked_at = now();
    if (contents.has_arrived(queue, message, outcome)) {
      if (waited) since = looked_at;
      ++outcome.checked;
      return true;
    }
    if (looked_at > since + kQuiet) break;
    rest.pause();
  }
  return false;
}

}  // namespace

bool fill_window(Task& task, Contents& contents, const Window& window, Outcome& outcome,
                 const GoOn& go_on) {
  const Operation operation = task.station.plan().load.operation;
  if (is_atomic(operation)) return true;
  const bool is_read = operation == Operation::kRead;
  if (is_read ? !task.is_target() : !task.sends) return true;
  const auto fill = [&](std::uint32_t queue, std::uint64_t message) {
    return is_read ? contents.fill_incoming(queue, message, outcome)
                   : contents.fill_outgoing(queue, message, outcome);
  };
  return for_each_message(window, task.station, fill, go_on);
}

bool compare_window(Task& task, Contents& contents, const Window& window, Outcome& outcome,
                    const GoOn& go_on) {
  const Load& load = task.station.plan().load;
  const bool is_read = load.operation == Operation::kRead;
  const bool comes_back = is_read || is_atomic(load.operation);
  if (is_compared_on_arrival(load)) return true;
  if (comes_back ? !task.sends : !task.is_target()) return true;
  Nanoseconds since = now();
  const auto compare = [&](std::uint32_t queue, std::uint64_t message) {
    if (is_read) return contents.verify_outgoing(queue, message, outcome);
    if (comes_back) return contents.verify_fetched(queue, message, outcome);
    if (arrives_unannounced(load) && await_unannounced(contents, queue, message, since, outcome)) {
      return true;
    }
    return contents.verify_incoming(queue, message, outcome);
  };
  return for_each_message(window, task.station, compare, go_on);
}

Result<std::uint64_t> Arrivals::await(const Window& window,
                                      const std::function<std::optional<Arrived>()>& look) {
  const std::uint64_t queues = station_.queues().size();
  const std::uint64_t wanted = (window.first + window.count) * queues - lost_;
  const bool unreliable = may_lose(station_.plan().load.transport);
  std::uint64_t seen = 0;
  Rest rest;
  for (Nanoseconds since = now();;) {
    const std::optional<Arrived> found = look();
    if (!found || found->messages >= wanted) return 0;
    if (found->messages != seen) {
      since = now();
      rest = {};
    }
    seen = found->messages;
    if (unreliable && found->looked_at > since + kQuiet) break;
    if (now() > since + kGivenUp) break;
    rest.pause();
  }
  const std::uint64_t lost = wanted - seen;
  if (!unreliable) {
    return Error{ETIMEDOUT, std::to_string(lost) + " of " + std::to_string(window.count * queues) +
                                " messages have no completion here"};
  }
  lost_ += lost;
  return lost;
}

Windows::Windows(Task& task, Outcome& outcome, std::uint32_t count, const LatencySamples* samples)
    : task_(task),
      outcome_(outcome),
      load_(task.station.plan().load),
      count_(count),
      samples_(samples),
      contents_(task),
      start_(ticks()),
      slicer_(task.timing, task.clock, start_) {}

void Windows::run(const std::function<std::optional<Ticks>(const Window&)>& move) {
  while (!task_.aborted()) {
    const Window window{task_.index, first_, count_};
    Span span;
    if (!prepare(window) || !begin(window, span)) break;
    const std::optional<Ticks> ended = move(window);
    if (!ended) break;
    span.ended = *ended;
    if (!compare(window, span) || !go_on(span.ended - span.began)) break;
  }
  outcome_.timed = timed_;
  outcome_.checking = ticks() - start_ - timed_;
  for (const Station::Queue& queue : task_.station.queues()) outcome_.sent.push_back(queue.posted);
  outcome_.has_sent.store(true);
}

bool Windows::prepare(const Window& window) {
  const bool is_read = load_.operation == Operation::kRead;
  if (is_read || (load_.both_ways && !is_atomic(load_.operation))) {
    const Result<void> filled = task_.verifier->fill(window);
    if (!filled) outcome_.fail(filled.error());
    if (!filled) return false;
  }
  return fill_window(task_, contents_, window, outcome_);
}

bool Windows::begin(const Window& window, Span& span) {
  if (load_.both_ways) {
    const Result<Ticks> asked = task_.verifier->move(window);
    if (!asked) outcome_.fail(asked.error());
    if (!asked) return false;
    span.began = *asked;
  }
  span.far_began = ticks();
  if (!load_.both_ways) span.began = span.far_began;
  return true;
}

bool Windows::compare(const Window& window, Span& span) {
  const bool comes_back = load_.operation == Operation::kRead || is_atomic(load_.operation);
  if (!comes_back || load_.both_ways) {
    const Result<VerifyWindow::Reply> reply = task_.verifier->verify(window);
    if (!reply) outcome_.fail(reply.error());
    if (!reply) return false;
    outcome_.checked += std::uint64_t{window.count} * task_.station.queues().size() - reply->lost;
    outcome_.add_wrong(reply->first, reply->wrong);
    outcome_.lost += reply->lost;
    if (load_.both_ways) {
      span.ended = std::max(
          span.ended,
          span.far_began + task_.clock.ticks_in(static_cast<Nanoseconds>(reply->nanoseconds)));
    }
  }
  return compare_window(task_, contents_, window, outcome_);
}

// Repetitions are cut by all the time that passes, so that a row takes as long as was asked for;
// only what is timed counts in them.
bool Windows::go_on(Ticks took) {
  timed_ += took;
  first_ += count_;
  const std::uint64_t moved = first_ * task_.station.queues().size();
  const bool was_warm = slicer_.slice() != 0;
  const bool on =
      samples_ ? samples_->go_on(slicer_, moved, ticks()) : slicer_.go_on(moved, ticks());
  const bool has_slice = slicer_.slices().size() > outcome_.slices.size();
  if (has_slice) {
    outcome_.slices.push_back(
        {slicer_.slices().back().messages * (load_.both_ways ? 2 : 1),
         static_cast<std::uint64_t>(task_.clock.nanoseconds(timed_ - timed_before_))});
  }
  if (has_slice || !was_warm) timed_before_ = timed_;
  return on;
}

}  // namespace gdr::perf

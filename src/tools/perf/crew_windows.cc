// Crew: the server's part of the windows that --check moves, as the client asks for it.
#include "perf/cases/rest.h"
#include "perf/crew.h"

namespace gdr::perf {
namespace {

constexpr Nanoseconds kSendingGivenUp = 25 * kSecond;  // the client waits a little longer

constexpr std::uint64_t kLastFirst = std::uint64_t{1} << 48;  // no row gets there in a day

}  // namespace

Result<void> Crew::check_window(const Window& window) const {
  if (window.station >= posts_.size()) return Error{EPROTO, "no such thread"};
  if (window.first > kLastFirst || window.count > posts_[window.station]->station->layout().slots) {
    return Error{EPROTO, "a window has more messages than buffers"};
  }
  return {};
}

Result<void> Crew::fill(const Window& window, const GoOn& go_on) {
  if (Result<void> right = check_window(window); !right) return right;
  Post& post = *posts_[window.station];
  Outcome filled;
  Contents contents(*post.task);
  (void)fill_window(*post.task, contents, window, filled, go_on);
  return filled.done;
}

Result<void> Crew::move(const Window& window) {
  if (Result<void> right = check_window(window); !right) return right;
  if (!load_.check || !load_.both_ways) {
    return Error{EPROTO, "the server was asked to send, but the load goes one way"};
  }
  Post& post = *posts_[window.station];
  post.asked_at = ticks();
  post.signals->windows_asked.fetch_add(1);
  return {};
}

// All windows that it was asked for.
Result<void> Crew::await_sent(const Post& post, const GoOn& go_on) {
  const Nanoseconds deadline = now() + kSendingGivenUp;
  Rest rest;
  while (post.signals->windows_sent.load() < post.signals->windows_asked.load()) {
    if (post.outcome->has_sent.load()) break;  // it ended too early: its own error says why
    if (now() > deadline || !go_on())
      return Error{ETIMEDOUT, "the server did not send its window in time"};
    rest.pause();
  }
  return {};
}

Result<VerifyWindow::Reply> Crew::verify(const Window& window, const GoOn& go_on) {
  if (Result<void> right = check_window(window); !right) return right.error();
  Post& post = *posts_[window.station];
  VerifyWindow::Reply reply;
  if (load_.both_ways) {
    if (Result<void> sent = await_sent(post, go_on); !sent) return sent.error();
    const Ticks took = post.signals->sent_at.load() - post.asked_at;
    reply.nanoseconds = static_cast<std::uint64_t>(post.task->clock.nanoseconds(took));
  }
  Outcome seen;
  if (is_compared_on_arrival(load_)) {
    const Result<std::uint64_t> lost =
        post.arrivals->await(window, [&]() -> std::optional<Arrived> {
          if (post.outcome->has_sent.load() || !go_on()) return std::nullopt;
          // In this order: what was taken before that look counts.
          const Nanoseconds looked_at = post.signals->looked_at.load();
          return Arrived{post.signals->received.load(), looked_at};
        });
    if (!lost) return lost.error();
    seen.lost = *lost;
    const std::uint64_t wrong = post.outcome->wrong.load();
    reply.wrong = wrong - post.told_wrong;
    post.told_wrong = wrong;
    if (reply.wrong != 0) reply.first = post.outcome->first_wrong;
  }
  // Before its time.
  if (post.outcome->has_sent.load() && !post.outcome->done) return post.outcome->done.error();
  Contents contents(*post.task);
  (void)compare_window(*post.task, contents, window, seen, go_on);
  if (!seen.done) return seen.done.error();
  reply.lost = seen.lost;
  reply.wrong += seen.wrong;
  if (reply.first.empty()) reply.first = seen.first_wrong;
  return reply;
}

}  // namespace gdr::perf

// Crew: the server's part of the windows that --check moves, as the client asks for it.
#include "perf/cases/rest.h"
#include "perf/crew.h"

namespace gdr::perf {
namespace {

constexpr Nanoseconds kSendingGivenUp = 25 * kSecond;  // the client waits a little longer

Error no_such_thread() { return {EPROTO, "no such thread"}; }

}  // namespace

Result<void> Crew::fill(const Window& window) {
  if (window.station >= posts_.size()) return no_such_thread();
  Post& post = *posts_[window.station];
  Outcome filled;
  Contents contents(*post.task);
  (void)fill_window(*post.task, contents, window, filled);
  return filled.done;
}

Result<void> Crew::move(const Window& window) {
  if (window.station >= posts_.size()) return no_such_thread();
  if (!load_.check || !load_.both_ways) {
    return Error{EPROTO, "a window to be sent that goes one way"};
  }
  Post& post = *posts_[window.station];
  post.asked_at = ticks();
  post.signals->windows_asked.fetch_add(1);
  return {};
}

// All windows that it was asked for.
Result<void> Crew::await_sent(const Post& post) {
  const Nanoseconds deadline = now() + kSendingGivenUp;
  Rest rest;
  while (post.signals->windows_sent.load() < post.signals->windows_asked.load()) {
    if (post.outcome->has_sent.load()) break;  // it ended too early: its own error says why
    if (now() > deadline) return Error{ETIMEDOUT, "the server's window has not gone"};
    rest.pause();
  }
  return {};
}

Result<VerifyWindow::Reply> Crew::verify(const Window& window) {
  if (window.station >= posts_.size()) return no_such_thread();
  Post& post = *posts_[window.station];
  VerifyWindow::Reply reply;
  if (load_.both_ways) {
    if (Result<void> sent = await_sent(post); !sent) return sent.error();
    const Ticks took = post.signals->sent_at.load() - post.asked_at;
    reply.nanoseconds = static_cast<std::uint64_t>(post.task->clock.nanoseconds(took));
  }
  Outcome seen;
  if (is_compared_on_arrival(load_)) {
    const Result<std::uint64_t> lost =
        post.arrivals->await(window, [&]() -> std::optional<Arrived> {
          if (post.outcome->has_sent.load()) return std::nullopt;
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
  (void)compare_window(*post.task, contents, window, seen);
  if (!seen.done) return seen.done.error();
  reply.lost = seen.lost;
  reply.wrong += seen.wrong;
  if (reply.first.empty()) reply.first = seen.first_wrong;
  return reply;
}

}  // namespace gdr::perf

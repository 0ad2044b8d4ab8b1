// How a program waits for sockets: poll, select, epoll, and their forms with a signal mask.
//
// The mask is changed around the wait, not with it: a signal that comes in between is delivered,
// but does not end the wait. Where no rsocket is among them, the kernel does both at once.
#include <rdma/rsocket.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>

#include "rspreload/fork_handshake.h"
#include "rspreload/inside.h"
#include "rspreload/real.h"
#include "rspreload/repoll.h"
#include "rspreload/select_list.h"
#include "rspreload/settings.h"
#include "rspreload/table.h"
#include "rspreload/wait_list.h"
#include "rspreload/watches.h"

// The C library's: says that a buffer is too small, and ends the program.
extern "C" [[noreturn]] void __chk_fail() noexcept;

namespace gdr::rspreload {
namespace {

// A signal mask for as long as this lives.
class SignalMask {
 public:
  explicit SignalMask(const sigset_t* mask) : is_set_(mask != nullptr) {
    if (is_set_) pthread_sigmask(SIG_SETMASK, mask, &before_);
  }
  ~SignalMask() {
    if (is_set_) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  SignalMask(const SignalMask&) = delete;
  SignalMask& operator=(const SignalMask&) = delete;

 private:
  bool is_set_;
  sigset_t before_{};
};

// Rounded up, so that nobody wakes too early; -1: for ever, -2: not a time.
std::int64_t milliseconds(const timespec* limit) {
  if (limit == nullptr) return -1;
  if (limit->tv_sec < 0 || limit->tv_nsec < 0 || limit->tv_nsec >= 1'000'000'000) return -2;
  constexpr std::int64_t kLongest = INT_MAX / 1000;
  return std::min<std::int64_t>(limit->tv_sec, kLongest) * 1000 +
         (limit->tv_nsec + 999'999) / 1'000'000;
}

int refuse(int error) {
  errno = error;
  return -1;
}

int select_with(SelectList& list, const timespec* limit, const sigset_t* mask) {
  const std::int64_t longest = milliseconds(limit);
  if (longest == -2) return refuse(EINVAL);
  const SignalMask masked(mask);
  return list.wait(longest);
}

// What is left of it, as Linux writes it back.
void take_from(timeval* limit, const timespec& begin) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t passed =
      std::int64_t{now.tv_sec - begin.tv_sec} * 1'000'000 + (now.tv_nsec - begin.tv_nsec) / 1000;
  const std::int64_t left =
      std::max<std::int64_t>(std::int64_t{limit->tv_sec} * 1'000'000 + limit->tv_usec - passed, 0);
  limit->tv_sec = static_cast<time_t>(left / 1'000'000);
  limit->tv_usec = static_cast<suseconds_t>(left % 1'000'000);
}

// The instance behind a descriptor; nothing: an ordinary one.
int event_poll_of(const Held& held) {
  return held && held->stage.load() == Stage::kEventPoll ? held->rsocket.load() : -1;
}

// The program gets a duplicate of the epoll descriptor that rsockets have: so its number can be
// closed and duplicated as any other.
int make_event_poll(int flags) {
  if (Inside::is_here() || !settings().config.concerns(program_invocation_short_name)) {
    return real().epoll_create1(flags);
  }
  const int made = repoll_create(flags);
  if (made < 0) return -1;
  const bool to_exec = (flags & EPOLL_CLOEXEC) != 0;
  const int front = real().fcntl(made, to_exec ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  Held held = make_connection(Stage::kEventPoll, made, 0);
  if (front >= 0 && held && put(front, held.again())) return front;
  const int error = front < 0 ? errno : ENOMEM;
  if (front >= 0) real().close(front);
  if (held) held->rsocket.store(-1);
  rclose(made);
  return refuse(error);
}

// A handshake is waited for here: epoll_wait() drives none.
int control_event_poll(const Held& poll, int operation, int fd, epoll_event* event) {
  const Held held = find(fd);
  if (!held) return repoll_ctl(poll->rsocket.load(), operation, fd, event);
  if (operation != EPOLL_CTL_DEL && is_undecided(*held)) shake_hands(*held, fd, true);
  return control_watch(poll, operation, *held, fd, event);
}

int wait_for_events(int poll, epoll_event* events, int count, std::int64_t limit,
                    const sigset_t* mask) {
  const SignalMask masked(mask);
  const Inside inside;
  return repoll_wait(poll, events, count, static_cast<int>(std::min<std::int64_t>(limit, INT_MAX)));
}

}  // namespace
}  // namespace gdr::rspreload

using namespace gdr::rspreload;  // NOLINT: this file is the C interface of the namespace

GDR_SHOWN int poll(pollfd* fds, nfds_t count, int timeout) {
  if (Inside::is_here()) return real().poll(fds, count, timeout);
  WaitList list(fds, count);
  return list.is_ours() ? list.wait(timeout) : real().poll(fds, count, timeout);
}

GDR_SHOWN int ppoll(pollfd* fds, nfds_t count, const timespec* limit, const sigset_t* mask) {
  WaitList list(fds, count);
  if (!list.is_ours()) return real().ppoll(fds, count, limit, mask);
  const std::int64_t longest = milliseconds(limit);
  if (longest == -2) return refuse(EINVAL);
  const SignalMask masked(mask);
  return list.wait(longest);
}

GDR_SHOWN int __poll_chk(pollfd* fds, nfds_t count, int timeout, std::size_t room) {
  if (room / sizeof *fds < count) __chk_fail();
  return poll(fds, count, timeout);
}

GDR_SHOWN int __ppoll_chk(pollfd* fds, nfds_t count, const timespec* limit, const sigset_t* mask,
                          std::size_t room) {
  if (room / sizeof *fds < count) __chk_fail();
  return ppoll(fds, count, limit, mask);
}

GDR_SHOWN int select(int count, fd_set* read, fd_set* write, fd_set* except, timeval* limit) {
  SelectList list(count, read, write, except);
  if (!list.is_ours()) return real().select(count, read, write, except, limit);
  if (limit == nullptr) return select_with(list, nullptr, nullptr);
  if (limit->tv_sec < 0 || limit->tv_usec < 0) return refuse(EINVAL);
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const timespec precise{limit->tv_sec + limit->tv_usec / 1'000'000,
                         limit->tv_usec % 1'000'000 * 1000};
  const int result = select_with(list, &precise, nullptr);
  take_from(limit, begin);
  return result;
}

GDR_SHOWN int pselect(int count, fd_set* read, fd_set* write, fd_set* except, const timespec* limit,
                      const sigset_t* mask) {
  SelectList list(count, read, write, except);
  return list.is_ours() ? select_with(list, limit, mask)
                        : real().pselect(count, read, write, except, limit, mask);
}

GDR_SHOWN int epoll_create(int size) noexcept {
  return size > 0 ? make_event_poll(0) : refuse(EINVAL);
}

GDR_SHOWN int epoll_create1(int flags) noexcept { return make_event_poll(flags); }

GDR_SHOWN int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
  const Held held = find(epoll);
  const int poll = event_poll_of(held);
  if (poll < 0) return real().epoll_ctl(epoll, operation, fd, event);
  if (fd == epoll) return refuse(EINVAL);
  return control_event_poll(held, operation, fd, event);
}

GDR_SHOWN int epoll_wait(int epoll, epoll_event* events, int count, int timeout) {
  const Held held = find(epoll);
  const int poll = event_poll_of(held);
  return poll < 0 ? real().epoll_wait(epoll, events, count, timeout)
                  : wait_for_events(poll, events, count, timeout, nullptr);
}

GDR_SHOWN int epoll_pwait(int epoll, epoll_event* events, int count, int timeout,
                          const sigset_t* mask) {
  const Held held = find(epoll);
  const int poll = event_poll_of(held);
  return poll < 0 ? real().epoll_pwait(epoll, events, count, timeout, mask)
                  : wait_for_events(poll, events, count, timeout, mask);
}

GDR_SHOWN int epoll_pwait2(int epoll, epoll_event* events, int count, const timespec* limit,
                           const sigset_t* mask) {
  const Held held = find(epoll);
  const int poll = event_poll_of(held);
  if (poll < 0) {
    if (real().epoll_pwait2 == nullptr) return refuse(ENOSYS);
    return real().epoll_pwait2(epoll, events, count, limit, mask);
  }
  const std::int64_t longest = milliseconds(limit);
  if (longest == -2) return refuse(EINVAL);
  return wait_for_events(poll, events, count, longest, mask);
}

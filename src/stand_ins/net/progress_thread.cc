#include "net/progress_thread.h"

#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

#include <algorithm>

#include "base/quiet_thread.h"
#include "engine/transmit.h"
#include "net/packet_path.h"

namespace gdr::net {
namespace {

using engine::kNever;

// A program polls often whose polls and posts are no further apart than that.
constexpr Nanoseconds kOften = 100 * kMicrosecond;
// When to stand back once more from one that did not: ever later, but soon at first, since it may
// only have lost its core meanwhile.
constexpr Nanoseconds kTryAgain = kMillisecond;
constexpr Nanoseconds kTryAgainAtMost = 64 * kMillisecond;
constexpr Nanoseconds kLookAgain = kMillisecond;
constexpr Nanoseconds kTick = kMillisecond;  // of the timers, while something is outstanding

timespec as_timespec(Nanoseconds time) {
  return {static_cast<time_t>(time / kSecond), static_cast<long>(time % kSecond)};
}

// For another thread that takes what has arrived and may need this very core: to yield is not
// enough.
constexpr Nanoseconds kALittle = 5 * kMicrosecond;
constexpr std::uint32_t kMostFruitless =
    1000;  // looks in a row that were called for and gave nothing

void nap(Nanoseconds time) {
  const timespec wait = as_timespec(time);
  nanosleep(&wait, nullptr);
}

}  // namespace

Result<void> ProgressThread::start() {
  if (Result<void> opened = doorbell_.open(); !opened) return opened.error();
  watch(doorbell_.descriptor());
  wake_at_.store(kNever);
  return start_quiet_thread("gdr-net", [this] { run(); });
}

void ProgressThread::watch(int descriptor) {
  const std::size_t count = watched_count_.load();
  watched_[count] = {descriptor, POLLIN, 0};
  watched_count_.store(count + 1);
  wake();
}

Nanoseconds ProgressThread::move_forward(Nanoseconds time) {
  Nanoseconds before = wake_at_.load();
  while (time < before && !wake_at_.compare_exchange_weak(before, time)) {
  }
  return before;
}

std::uint64_t ProgressThread::polls_since_last() {
  const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
  return polls - std::exchange(counted_polls_, polls);
}

void ProgressThread::expect_packets_for(std::uint32_t looks) {
  std::uint32_t before = expected_.load();
  while (before < looks && !expected_.compare_exchange_weak(before, looks)) {
  }
  if (before == 0) wake();
}

bool ProgressThread::still_expects_packets() {
  std::uint32_t before = expected_.load();
  while (before != 0 && before != kAlways && !expected_.compare_exchange_weak(before, before - 1)) {
  }
  return before > 1;
}

// Polls at all, and does not sleep: whether it polls often is seen while this thread stands back.
bool ProgressThread::stand_back(Nanoseconds time) {
  if (time < try_at_ || polls_since_last() == 0 || awaits_event_.exchange(false)) return false;
  stands_back_.store(true);
  // Either this sees that the program awaits an event, or the program that the thread stands back.
  if (awaits_event_.load()) stands_back_.store(false);
  looked_at_ = time;
  return stands_back_.load();
}

// Whether it looks again at once: it has been rung for, something has just happened that the
// program leaves to it, or copies go on that nobody else looks at.
bool ProgressThread::stays_awake(Nanoseconds time) {
  const bool awake = path_.thread_moves() || path_.has_late() || time < awake_until_;
  return doorbell_.set_awake(awake) || awake;
}

// How many descriptors are ready. By poll and not by epoll, which would be told of each packet by
// whoever sends it, also while this thread does not wait.
int ProgressThread::look_at_ports(bool awake) {
  constexpr std::uint32_t kBetweenPolls = 16;  // the ports are read all the same
  if (awake && ++rounds_awake_ % kBetweenPolls != 0) {
    watched_[0].revents = 0;
    return 0;
  }
  const Nanoseconds at = wake_at_.load();
  const Nanoseconds before = now();
  // Packets that it expects for a while only are counted off also where the program does not poll:
  // each of its later polls would make a system call.
  const bool counts_off = !awake && expects_for_a_while();
  const Nanoseconds until = counts_off ? before + kLookAgain : std::max(at, before + kTick);
  const timespec patience = as_timespec(awake ? 0 : until - before);
  const bool for_ever = !awake && !counts_off && at == kNever;
  const int count =
      ppoll(watched_.data(), watched_count_.load(), for_ever ? nullptr : &patience, nullptr);
  if (counts_off && count == 0) still_expects_packets();
  return count;
}

void ProgressThread::watch_ports() {
  const bool awake = stays_awake(now());
  const int count = look_at_ports(awake);
  const bool at_doorbell = count > 0 && watched_[0].revents != 0;
  if (at_doorbell) doorbell_.empty();
  const bool rung = doorbell_.take_ring() || at_doorbell;
  const Nanoseconds time = now();
  if (!rung && !awake && stand_back(time)) return;
  if (count > (at_doorbell ? 1 : 0)) tell_of_readable();
  const bool found = serve();
  if ((found || rung) && path_.leaves_arrivals_to_thread()) awake_until_ = time + kStayAwake;
  if (awake && !found) sched_yield();
  fruitless_ = found || rung || count <= 0 ? 0 : fruitless_ + 1;
  // Whatever keeps a descriptor ready without giving anything, the core is not its. A program that
  // is quicker to take what arrives leaves it empty.
  if (fruitless_ < kMostFruitless) return;
  if (poll(watched_.data(), watched_count_.load(), 0) > 0) {
    nap(kTick);
  } else {
    fruitless_ = 0;
  }
}

// An error that nobody asks for, and a descriptor that is none, would be ready for ever.
void ProgressThread::tell_of_readable() {
  for (std::size_t i = 1; i < watched_count_.load(); ++i) {
    pollfd& watched = watched_[i];
    if (watched.revents == 0) continue;
    if ((watched.revents & POLLNVAL) != 0) {
      watched.fd = -1;  // ppoll passes over it
      continue;
    }
    if ((watched.revents & (POLLERR | POLLHUP)) != 0) {
      int error = 0;
      socklen_t length = sizeof error;
      (void)getsockopt(watched.fd, SOL_SOCKET, SO_ERROR, &error, &length);
      std::byte unread;
      while (recv(watched.fd, &unread, sizeof unread, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0) {
      }
    }
    path_.found_readable(watched.fd);
  }
}

// If another thread is at it, it may put off what it has to answer, and not come back: once more,
// soon.
bool ProgressThread::serve() {
  if (const auto arrivals = path_.serve()) return *arrivals > 0;
  nap(kALittle);
  move_forward(now() + kTick);
  return true;
}

void ProgressThread::look_at_program() {
  const timespec again = as_timespec(kLookAgain);
  if (ppoll(watched_.data(), 1, &again, nullptr) > 0) doorbell_.empty();
  const Nanoseconds time = now();
  const Nanoseconds passed = time - looked_at_;
  if (path_.thread_moves()) {  // somebody has left work to it
    stands_back_.store(false);
    serve();
    return;
  }
  const bool awaits_event = awaits_event_.load();
  if (!awaits_event) {
    if (passed < kLookAgain) return;
    looked_at_ = time;
    if (!still_expects_packets()) {
      stands_back_.store(false);
      serve();
      return;
    }
    if (polls_since_last() * kOften >= passed) {
      try_again_ = kTryAgain;
      return;
    }
    try_at_ = time + try_again_;
    try_again_ = std::min(2 * try_again_, kTryAgainAtMost);
  }
  stands_back_.store(false);
  serve();
}

void ProgressThread::run() {
  while (true) {
    if (stands_back_.load()) {
      look_at_program();
    } else {
      watch_ports();
    }
    const Nanoseconds time = now();
    if (time < wake_at_.load()) continue;
    wake_at_.store(kNever);
    move_forward(path_.run_timers(time));
  }
}

}  // namespace gdr::net

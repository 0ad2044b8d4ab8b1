#include "net/progress_thread.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/quiet_thread.h"
#include "engine/transmit.h"
#include "net/packet_path.h"

namespace gdr::net {
namespace {

using engine::kNever;

constexpr int kLostRaces = 8;  // in a row: the program polls
constexpr Nanoseconds kLookAgain = 500 * kMicrosecond;
constexpr Nanoseconds kTick = kMillisecond;  // of the timers, while something is outstanding

void sleep_for(Nanoseconds time) {
  const timespec duration{static_cast<time_t>(time / kSecond), static_cast<long>(time % kSecond)};
  nanosleep(&duration, nullptr);
}

}  // namespace

Result<void> ProgressThread::start() {
  epoll_.reset(epoll_create1(EPOLL_CLOEXEC));
  doorbell_.reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!epoll_ || !doorbell_) return from_errno("epoll");
  if (Result<void> watched = watch(doorbell_.get()); !watched) return watched.error();
  wake_at_.store(kNever);
  return start_quiet_thread("gdr-net", [this] { run(); });
}

Result<void> ProgressThread::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  if (epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) return from_errno("epoll");
  return {};
}

void ProgressThread::move_forward(Nanoseconds time) {
  Nanoseconds before = wake_at_.load();
  while (time < before && !wake_at_.compare_exchange_weak(before, time)) {
  }
  // While it has something to wait for it looks at the clock often enough by itself.
  if (before == kNever) wake();
}

void ProgressThread::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t wrote = write(doorbell_.get(), &one, sizeof one);
}

bool ProgressThread::program_polls() {
  const std::uint64_t polls = polls_.load(std::memory_order_relaxed);
  return std::exchange(seen_polls_, polls) != polls;
}

int ProgressThread::patience(Nanoseconds time) const {
  const Nanoseconds at = wake_at_.load();
  if (at == kNever) return -1;
  return static_cast<int>((std::max(at, time + kTick) - time) / kMillisecond);
}

void ProgressThread::run() {
  int lost_races = 0;
  while (true) {
    if (lost_races < kLostRaces) {
      epoll_event events[16];
      const int count = epoll_wait(epoll_.get(), events, 16, patience(now()));
      bool rung = false;
      for (int i = 0; i < count; ++i) {
        if (events[i].data.fd != doorbell_.get()) continue;
        std::uint64_t rings = 0;
        [[maybe_unused]] const ssize_t got = read(doorbell_.get(), &rings, sizeof rings);
        rung = true;
      }
      const bool woken_for_packets = count > (rung ? 1 : 0);
      if (path_.serve() > 0 || !program_polls()) {
        lost_races = 0;
      } else if (woken_for_packets) {
        ++lost_races;
      }
    } else {
      sleep_for(kLookAgain);
      if (!program_polls()) {
        lost_races = 0;
        path_.serve();
      }
    }
    const Nanoseconds time = now();
    if (time < wake_at_.load()) continue;
    wake_at_.store(kNever);
    const Nanoseconds next = path_.run_timers(time);
    for (Nanoseconds set = wake_at_.load(); next < set;) {
      if (wake_at_.compare_exchange_weak(set, next)) break;
    }
  }
}

void ProgressThread::close_in_child() {
  epoll_.reset();
  doorbell_.reset();
}

}  // namespace gdr::net

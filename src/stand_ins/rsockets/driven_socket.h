// DrivenSocket: what sockets of both kinds share. There is no thread: whoever calls drives the
// socket. It holds mutex_, which guards every member, and lets go of it only to sleep (wait()). One
// sleeper at a time, the leader, sleeps on the descriptors and takes their events; the other
// callers sleep on changed_, which it notifies.
//
//   const Lock lock(mutex_);
//   const int error = wait(lock, nonblocking(flags), [this] { return !arrived_.empty(); });
//
// A kind of socket says what progress(), look() and sleep() are.
#pragma once

#include <poll.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>

#include "rsockets/settings.h"
#include "rsockets/socket.h"

namespace gdr::rsockets {

class DrivenSocket : public Socket {
 public:
  int status_flags() const override;
  void set_status_flags(int flags) override;
  std::uint64_t edges() const override { return edges_.load(std::memory_order_relaxed); }

 protected:
  using Lock = std::unique_lock<std::mutex>;
  using Clock = std::chrono::steady_clock;

  // `flags`: O_NONBLOCK.
  explicit DrivenSocket(int flags) : flags_(flags) {}

  bool nonblocking(int flags) const;
  // Something has come that an edge-triggered wait reports.
  void count_edge() { edges_.fetch_add(1, std::memory_order_relaxed); }

  // Takes completions.
  virtual void progress() = 0;
  // Everything that may have happened. Costs system calls: only where there is nothing better to
  // do.
  virtual void look() = 0;
  // 0: something may have changed. The mutex is held before and behind, not in between.
  virtual int sleep(Lock& lock, std::optional<Clock::time_point> until) = 0;

  // Drives the socket until `done`. -EAGAIN: not done, and must not wait or waited until `until`;
  // -EINTR: a signal came.
  template <typename Done>
  int wait(Lock& lock, bool nonblocking, Done done,
           std::optional<Clock::time_point> until = std::nullopt);

  // False: whoever holds it does not let go of it.
  static bool try_until(Lock& lock, Clock::time_point until);

  // SO_RCVTIMEO and SO_SNDTIMEO; -ENOPROTOOPT: another option. The mutex is held.
  int set_timeout(int option, const void* value, socklen_t length);
  int timeout(int option, void* value, socklen_t* length) const;
  // When a call that receives or sends has to end.
  std::optional<Clock::time_point> receive_until() const { return behind(receive_timeout_); }
  std::optional<Clock::time_point> send_until() const { return behind(send_timeout_); }

  // The parts of a sleep(). A caller that may wait for ever looks again now and then.
  static std::chrono::milliseconds longest_sleep(std::optional<Clock::time_point> until);
  bool has_leader() const { return has_leader_; }
  void follow(Lock& lock, std::chrono::milliseconds longest) { changed_.wait_for(lock, longest); }
  // As poll(); a negated errno value.
  int lead(Lock& lock, std::span<pollfd> sleep_on, std::chrono::milliseconds longest);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int flags_;

 private:
  static std::optional<Clock::time_point> behind(std::optional<Clock::duration> timeout) {
    if (!timeout) return std::nullopt;
    return Clock::now() + *timeout;
  }

  bool has_leader_ = false;
  std::optional<Clock::duration> receive_timeout_, send_timeout_;
  std::atomic<std::uint64_t> edges_{0};
};

template <typename Done>
int DrivenSocket::wait(Lock& lock, bool nonblocking, Done done,
                       std::optional<Clock::time_point> until) {
  progress();
  if (done()) return 0;
  look();
  if (done()) return 0;
  if (nonblocking) return -EAGAIN;
  const auto spin_until = Clock::now() + std::chrono::microseconds(settings().polling_us);
  while (Clock::now() < spin_until) {
    progress();
    if (done()) return 0;
  }
  for (;;) {
    const int error = sleep(lock, until);
    if (done()) return 0;
    if (error != 0) return error;
    if (until && Clock::now() >= *until) return -EAGAIN;
  }
}

}  // namespace gdr::rsockets

// ProgressThread: takes what arrives while the program does not poll, and keeps the timers. It
// sleeps while nothing is there and nothing is outstanding.
//
// A program that polls its completion queues makes progress itself, and a thread that woke for each
// packet would only take its core. So the thread watches who wins: when it wakes for packets and
// finds them taken, over and over, it stops watching the ports and only looks, twice a
// millisecond, whether the program still polls. When that stops, it watches again.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::net {

class PacketPath;

class ProgressThread {
 public:
  explicit ProgressThread(PacketPath& path) : path_(path) {}
  Result<void> start();
  Result<void> watch(int descriptor);

  // Any thread: a timer may be due at that time. Hot: usually one comparison.
  void wake_at(Nanoseconds time) {
    if (time < wake_at_.load(std::memory_order_relaxed)) move_forward(time);
  }
  // A thread of the program polls. Hot.
  void polled() { polls_.fetch_add(1, std::memory_order_relaxed); }
  // Has it look at the ports now, as for packets.
  void wake();
  void close_in_child();

 private:
  void run();
  void move_forward(Nanoseconds time);
  bool program_polls();
  int patience(Nanoseconds time) const;

  PacketPath& path_;
  UniqueFd epoll_, doorbell_;
  std::atomic<Nanoseconds> wake_at_{0};
  std::atomic<std::uint64_t> polls_{0};
  std::uint64_t seen_polls_ = 0;
};

}  // namespace gdr::net

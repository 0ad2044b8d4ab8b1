// ProgressThread: takes what arrives while the program does not poll, and keeps the timers. It
// sleeps while nothing is there and nothing is outstanding.
//
// A program that polls its completion queues makes progress itself, and a thread that woke for each
// packet would only take its core, and at times while the program holds the receive lock. So it
// stands back from a program that polls often: it stops watching the ports and only looks, once a
// millisecond, whether the program still polls. It watches again when that stops, and at once when
// the program asks for a completion event, which a program does before it sleeps.
//
// If GPU memory is registered, the program's threads take nothing that arrives, since the GPU's
// driver may have to be called for it. The thread then stays awake for a moment after the last
// packet: to be woken takes longer than most answers, and with each message there would be several
// such waits. Copies and what is sent are another thread's: see copy_thread.h.
//
// A datagram queue pair opens the ports, and perhaps nobody beyond the host ever sends to it. So
// that its program does not make a system call for each empty queue, the thread watches alone while
// no packets are to be expected: there is no connection beyond the host, and for some time no
// datagram has come or gone.
#pragma once

#include <poll.h>

#include <array>
#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "net/doorbell.h"
#include "net/group_ports.h"
#include "rnic/adapter.h"

namespace gdr::net {

class PacketPath;

class ProgressThread {
 public:
  explicit ProgressThread(PacketPath& path) : path_(path) {}
  Result<void> start();
  // At most two for each address of each device, and one for each group. Cold, one caller at a
  // time.
  void watch(int descriptor);

  // Any thread: a timer may be due at that time. Hot: usually one comparison.
  void wake_at(Nanoseconds time) {
    if (time >= wake_at_.load()) return;
    // It may sleep as long as it was told to before.
    if (move_forward(time) - time > kMillisecond) wake();
  }
  // Whether a program that finds its queue empty has to look at the ports itself. Hot.
  bool expects_packets() const { return expected_.load(std::memory_order_relaxed) != 0; }
  // A datagram has come or gone, so that more may come. Hot.
  void expect_packets() {
    if (expected_.load(std::memory_order_relaxed) < kExpectedFor) expect_packets_for(kExpectedFor);
  }
  // There is a connection.
  void always_expect_packets() { expect_packets_for(kAlways); }
  // A thread of the program polls and finds nothing, or posts. Hot: one that is lost now and then
  // to another thread does no harm.
  void polled() {
    polls_.store(polls_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // The program may sleep until a completion is told. Hot.
  void awaits_event() {
    awaits_event_.store(true);
    if (stands_back_.load()) wake();
  }
  // Has it look at the ports now, as for packets. Hot.
  void wake() { doorbell_.ring(); }
  void close_in_child() { doorbell_.close(); }

 private:
  void run();
  void watch_ports();
  bool stays_awake(Nanoseconds time);
  int look_at_ports(bool awake);
  bool serve();  // whether anything had arrived, or another thread is at it
  void tell_of_readable();
  void look_at_program();
  bool stand_back(Nanoseconds time);
  Nanoseconds move_forward(Nanoseconds time);  // what it was before
  std::uint64_t polls_since_last();
  void expect_packets_for(std::uint32_t looks);
  bool still_expects_packets();
  bool expects_for_a_while() const {
    const std::uint32_t looks = expected_.load(std::memory_order_relaxed);
    return looks != 0 && looks != kAlways;
  }

  // How often it looks whether the program polls before it watches alone again.
  static constexpr std::uint32_t kExpectedFor = 64;
  static constexpr std::uint32_t kAlways = UINT32_MAX;

  PacketPath& path_;
  Doorbell doorbell_;
  // [0]: the doorbell.
  std::array<pollfd, 1 + 2 * rnic::kDevices * rnic::kAddresses + kMostGroups> watched_{};
  std::atomic<std::size_t> watched_count_{0};
  std::atomic<Nanoseconds> wake_at_{0};
  std::atomic<std::uint64_t> polls_{0};
  std::atomic<bool> awaits_event_{false};
  std::atomic<bool> stands_back_{false};
  std::atomic<std::uint32_t> expected_{0};  // looks that are left; kAlways stays
  // Only the thread uses these.
  Nanoseconds awake_until_ = 0;
  std::uint32_t rounds_awake_ = 0;
  std::uint64_t counted_polls_ = 0;
  Nanoseconds looked_at_ = 0;
  Nanoseconds try_at_ = 0;  // not to stand back before
  Nanoseconds try_again_ = kMillisecond;
  std::uint32_t fruitless_ = 0;
};

}  // namespace gdr::net

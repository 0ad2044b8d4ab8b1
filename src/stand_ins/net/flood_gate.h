// FloodGate: keeps a flood of strangers' packets from a port, so that it costs connections little.
//
//   FloodGate gate(port.descriptor(), counters, [&] { return rules_now(); });
//   gate.refused(time);          // for each wrong packet
//   gate.flows_changed();        // a queue pair is about to receive, a process has joined
//   wake_at(gate.run(time));
//
// As long as wrong packets are few, each is read and counted by its cause. When more than a hundred
// come within ten milliseconds the gate shuts: the kernel then drops what is for no queue pair here
// or not from its peer, before it takes room in the socket's buffer. They are counted together
// (dropped_by_filter). After a second the gate opens to see whether the flood goes on; if it does,
// for twice as long each time, at most 16 seconds.
//
// Threads: refused() one at a time, the rest any. Takes no lock of the path but while it asks for
// rules.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>

#include "base/clock.h"
#include "net/counters.h"
#include "net/port_filter.h"

namespace gdr::net {

class FloodGate {
 public:
  using Rules = std::function<PortRules()>;
  FloodGate(int socket, bool ipv4, Counters& counters, Rules rules)
      : socket_(socket), ipv4_(ipv4), counters_(counters), rules_(std::move(rules)) {}

  // True: the gate has just shut, and run() is to be called. Hot in a flood.
  bool refused(Nanoseconds time);
  void flows_changed();
  // Opens the gate when it is time. When to come again.
  Nanoseconds run(Nanoseconds time);
  bool is_shut() const { return shut_.load(std::memory_order_relaxed); }

 private:
  bool shut(Nanoseconds time);
  bool install();
  void count_drops();

  const int socket_;
  const bool ipv4_;
  Counters& counters_;
  const Rules rules_;
  Nanoseconds window_begin_ = 0;
  std::uint32_t in_window_ = 0;
  std::atomic<bool> shut_{false};

  std::mutex mutex_;  // the rest: cold
  Nanoseconds until_ = 0, opened_at_ = 0;
  Nanoseconds span_ = 0;
  std::uint32_t drops_ = 0;  // of the socket, counted already
};

}  // namespace gdr::net

// TakenArrivals: whether everything that had arrived when the progress thread asked has been taken.
//
//   TakenArrivals taken;
//   taken.ask();                                // the progress thread
//   const std::uint64_t asked = taken.asked();  // who takes arrivals, before it looks for them
//   taken.count(3, true, asked);                // three, and nothing was left
//   taken.is_over();                            // true
#pragma once

#include <atomic>
#include <cstdint>

namespace gdr::net {

class TakenArrivals {
 public:
  // More than sockets hold. Whoever waits goes on after so many: a flood does not hold it up.
  static constexpr std::uint64_t kMostBacklog = 1u << 14;

  // --- Progress thread.
  // Asks about what has arrived until now; while an earlier question is open, that one stays.
  void ask() {
    if (asks_) return;
    asks_ = true;
    taken_before_ = taken_.load(std::memory_order_relaxed);
    asked_.store(asked_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  bool is_over() const {
    return seen_.load(std::memory_order_acquire) == asked_.load(std::memory_order_relaxed) ||
           taken_.load(std::memory_order_relaxed) - taken_before_ >= kMostBacklog;
  }
  // The next ask() is about what has arrived until then.
  void close() { asks_ = false; }

  // --- Under the receive lock. Hot: mostly nothing has arrived, and nobody asks.
  std::uint64_t asked() const { return asked_.load(std::memory_order_acquire); }
  // `asked` is asked()'s, from before arrivals were looked for; `is_all`: none was left.
  void count(std::uint32_t arrivals, bool is_all, std::uint64_t asked) {
    if (arrivals > 0) {
      taken_.store(taken_.load(std::memory_order_relaxed) + arrivals, std::memory_order_relaxed);
    }
    if (is_all && seen_.load(std::memory_order_relaxed) != asked) {
      seen_.store(asked, std::memory_order_release);
    }
  }

 private:
  std::atomic<std::uint64_t> asked_{0};  // the number of the last question
  std::atomic<std::uint64_t> seen_{0};   // of the last one after which nothing was left
  std::atomic<std::uint64_t> taken_{0};
  bool asks_ = false;               // the progress thread's, as the next
  std::uint64_t taken_before_ = 0;  // when it asked
};

}  // namespace gdr::net

// BareEvents: what completion events are compared with: two eventfds, by which two processes wake
// each other in turn and do nothing else.
//
//   BareEvents events;            // before the other process is started: it inherits them
//   events.ping(20);              // here
//   BareEvents(numbers).pong(20); // there
#pragma once

#include <array>

namespace gdr::bench {

class BareEvents {
 public:
  using Numbers = std::array<int, 2>;  // of the descriptors, alike in both processes

  BareEvents();
  explicit BareEvents(const Numbers& numbers) : numbers_(numbers) {}

  const Numbers& numbers() const { return numbers_; }
  // `count` wake-ups to and fro. Hot.
  void ping(int count) const;
  void pong(int count) const;

 private:
  Numbers numbers_{};
};

}  // namespace gdr::bench

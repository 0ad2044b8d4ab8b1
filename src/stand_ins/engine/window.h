// Window: how many bytes a requester may have in flight. It grows while it is what holds the
// requester back, shrinks when packets are lost or a switch says that it is congested (annex A17
// leaves the rule to the implementation), and shares a bottleneck fairly with others of its kind.
// Multiplicative decrease, one for each window of data; then half of the way back with each window
// (as BIC-TCP), and a few packets more with each once it is there again: a stray loss costs little,
// and of two flows the larger one gives way.
#pragma once

#include <algorithm>
#include <cstdint>

namespace gdr::engine {

class Window {
 public:
  Window() = default;
  // `packet`: what a full packet costs.
  Window(std::uint64_t most, std::uint32_t packet);

  std::uint64_t size() const { return size_; }
  // It kept a packet back: only then does an acknowledgement make it grow.
  void held_back() { limiting_ = true; }
  void acknowledged(std::uint64_t bytes);

  // Positions as the requester counts packets: `oldest` unacknowledged, `end` behind the last sent.
  void lost(std::uint64_t oldest, std::uint64_t end);
  void congested(std::uint64_t oldest, std::uint64_t end);
  void timed_out(std::uint64_t end);  // nothing was heard for a whole local ACK timeout

 private:
  bool shrink(std::uint64_t numerator, std::uint64_t oldest, std::uint64_t end);

  std::uint64_t size_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t least_ = 0;
  std::uint64_t threshold_ = 0;  // below it: slow start
  std::uint64_t target_ = 0;     // where it was before the last loss
  std::uint64_t recovered_ = 0;  // a loss before this position belongs to the last decrease
  std::uint64_t credit_ = 0;     // acknowledged bytes that have not yet made it grow
  std::uint32_t packet_ = 1;
  bool limiting_ = false;
};

}  // namespace gdr::engine

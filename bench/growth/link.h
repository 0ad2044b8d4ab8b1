// Link: this process's side and a target process's, with as many connected queue pairs between the
// two as are asked for, and the transfers over them that are timed.
//
//   Link link(4096);
//   link.grow(256);
//   link.ping(1000, {.spread = 256});   // seconds of one of 1000 messages and its answer
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "child.h"
#include "facts.h"
#include "side.h"

namespace gdr::bench {

// A region of kSliceBytes.
constexpr std::uint32_t kSliceBytes = 64;
struct Slice {
  std::uint64_t address;
  std::uint32_t key;
};
enum class SliceMemory : std::uint32_t { kHost, kGpu };

enum class Order : std::uint32_t { kAdd, kRemove, kPong, kRegister, kFacts };

struct OrderMessage {
  Order order = Order::kFacts;
  std::uint32_t count = 0;
  std::uint32_t batch = 1;
  Wait wait = Wait::kPolling;
  SliceMemory memory = SliceMemory::kHost;
};

// How a series of transfers goes.
struct Manner {
  std::uint32_t spread = 1;  // over so many queue pairs, one after the other
  std::uint32_t batch = 1;   // so many under way at once
  Wait wait = Wait::kPolling;
};

class Link {
 public:
  explicit Link(std::uint32_t most);

  Side& side() { return *side_; }
  const Place& there() const { return there_; }

  // Up to so many queue pairs, connected.
  void grow(std::uint32_t count);
  // Seconds of each step of one more, the medians of `times` that come on top and go again.
  struct Steps {
    double create, connect, destroy;
  };
  Steps time_steps(std::uint32_t times);

  // Seconds of one; `count` of them, a multiple of the batch. A write is of 8 B, a message of
  // kMessageBytes.
  double write(std::uint32_t count, Manner manner);
  double ping(std::uint32_t count, Manner manner);

  // The target registers up to so many slices, all calls of one kind of memory. In order.
  std::vector<Slice> register_there(std::uint32_t count, SliceMemory memory);
  Facts facts_there();

 private:
  std::vector<std::uint32_t> add(std::uint32_t count);  // the target's numbers
  void order(const OrderMessage& message) { target_.socket().put(message); }

  Child target_;
  std::optional<Side> side_;
  Place there_;
};

// A program that was started as the target carries out its orders, until the other end closes the
// socket.
int run_target(const Socket& socket);

}  // namespace gdr::bench

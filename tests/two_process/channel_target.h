// ChannelTarget: a process that receives and sleeps on completion channels, with queue pairs that
// each have a receive queue of their own; Sender: the one that sends to it.
//
//   Child child([](Wire& wire) {
//     ChannelTarget target(wire);
//     target.arm();
//     wire.meet();
//     target.take_message();
//   });
//   Sender sender(child.wire());
//   child.wire().meet();
//   sender.send();
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "connection.h"

namespace gdr::test {

class ChannelTarget {
 public:
  enum class Channels { kOne, kOneEach };
  explicit ChannelTarget(Wire& wire, std::size_t queues = 1, Channels channels = Channels::kOne);
  ~ChannelTarget();
  ChannelTarget(const ChannelTarget&) = delete;
  ChannelTarget& operator=(const ChannelTarget&) = delete;

  // Arms every queue.
  void arm();
  // Waits in ibv_get_cq_event and acknowledges; which queue it was.
  std::size_t wait(std::size_t channel = 0);
  // 0, or errno of ibv_get_cq_event.
  int try_wait();
  // Polls and posts again: until nothing is there, or for one completion within 5 seconds.
  void empty();
  void take_completion();
  // Sleeps until one has come: waits, takes it, arms.
  void take_message();

  int descriptor() const { return channels_[0]->fd; }
  bool is_readable(int milliseconds) const;
  void make_non_blocking() const;
  std::uint64_t inode() const;  // of its pipe

 private:
  int poll_one(std::size_t queue);
  std::size_t number_of(const ibv_cq* queue) const;

  Side side_;
  Memory* memory_;
  std::vector<ibv_comp_channel*> channels_;
  std::vector<ibv_cq*> queues_;
  std::vector<ibv_qp*> pairs_;
};

class Sender {
 public:
  explicit Sender(Wire& wire, std::size_t queues = 1);
  void send(std::size_t queue = 0);  // and waits for its completion

 private:
  Side side_;
  Memory* memory_;
  std::vector<ibv_qp*> pairs_;
};

// For a test between two children: what they say to each other to connect one queue pair.
void relay(Wire& sender, Wire& target);

}  // namespace gdr::test

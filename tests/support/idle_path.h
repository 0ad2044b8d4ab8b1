// Carriers and neighbours of an adapter under test. IdlePath carries nothing out by itself:
// requests stay in the send ring until a test completes them, and what the device tells it is
// counted.
#pragma once

#include <functional>
#include <vector>

#include "rnic/adapter.h"

namespace gdr::test {

class IdlePath : public rnic::LocalCarrier, public rnic::Neighbours {
 public:
  void send(rnic::QueuePair&) override { ++sends; }
  void send_later(rnic::QueuePair&) override { ++sends; }
  int connect(rnic::QueuePair&) override { return 0; }
  void cancel(rnic::QueuePair&) override { ++cancels; }
  void receive_posted(std::uint32_t slot) override { woken.push_back(slot); }
  void settle(rnic::QueuePair&) override {}
  bool is_settled(rnic::QueuePair&) override { return true; }
  void settle() override { ++settles; }
  bool any_segment(const std::function<bool(rnic::Segment&)>&) override { return false; }
  bool knows_everyone() override { return true; }
  void exports_changed() override {}
  void wake_service() override { ++services; }
  std::uint64_t copies_for_others() override { return copies; }

  int sends = 0, cancels = 0, settles = 0, services = 0;
  std::uint64_t copies = 0;          // that its service thread has begun or ended
  std::vector<std::uint32_t> woken;  // slots
};

class EveryoneLives : public rnic::Liveness {
 public:
  bool alive(rnic::Token) override { return true; }
};

}  // namespace gdr::test

// Lane: the pair of queue pairs and the buffers that transfers run over, from the initiator's
// worker to the target's. What modes need besides is here once: preparing memory, connecting,
// looking.
//
//   Lane lane(near, far, settings);
//   lane.connect(QueueKind::kRc);
//   lane.prepare(far_end, range);
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "host/registration/loaded_module.h"
#include "proof/client.h"
#include "proof/plan.h"

namespace gdr::proof {

// Guards are as wide as two GPU pages: data that lands a page off is seen in them.
constexpr std::uint64_t kGuard = 128 * 1024;

struct RegisteredBuffer {
  std::uint32_t id = 0;
  std::uint64_t address = 0;
  std::uint32_t rkey = 0;
};

// One worker with its opened devices and a buffer for each kind of memory.
struct End {
  Client* client = nullptr;
  std::string nic, gpu;                                 // in the report
  std::string host;                                     // empty: both ends are on this host
  std::vector<host::LoadedModule> peer_memory_modules;  // of its kernel
  // How each kind of device memory is registered.
  std::map<MemoryKind, Registration> works;
  Open::Reply opened;
  std::map<MemoryKind, RegisteredBuffer> buffers;
  std::uint32_t queue = 0;
  CreateQueue::Reply queue_info;
};

class Lane {
 public:
  Lane(End& near, End& far, Nanoseconds step_timeout)
      : near_(&near), far_(&far), timeout_(step_timeout) {}

  End& near() { return *near_; }
  End& far() { return *far_; }

  // Queue pairs on both ends, brought to work; any earlier ones are destroyed.
  Result<void> connect(QueueKind kind);
  void disconnect();

  // Where the data of a case lies in the end's buffer of this kind.
  Range source(End& end, const Case& c) const;
  Range target(End& end, const Case& c) const;

  // The owner writes the pattern that the window holds before, or the data that is to be sent.
  Result<void> prepare(End& end, const Range& data);
  Result<void> fill(End& end, const Range& data);
  // The owner looks. `literal`: instead of the pattern of the last fill().
  Result<Damage> look(End& end, const Range& data, Bytes literal = {});

  // Posts on the near end and waits there.
  Result<Completion> execute(Execute request);
  Result<Completion> await_receive();

  std::uint32_t milliseconds() const { return static_cast<std::uint32_t>(timeout_ / kMillisecond); }
  // Later waits are no longer than this.
  void set_timeout(Nanoseconds timeout) { timeout_ = timeout; }
  // Called after each step of a transfer: preparing, filling, executing, looking.
  void on_step(std::function<void()> told) { told_ = std::move(told); }
  static constexpr unsigned kSteps = 4;
  // A new case: new seeds.
  void next_case();
  std::uint64_t data_seed() const { return serial_ * 4 + 1; }
  std::uint64_t before_seed() const { return serial_ * 4 + 2; }
  std::uint64_t previous_seed() const { return serial_ * 4 + 3; }

 private:
  Nanoseconds budget() const { return timeout_ + kLongTimeout; }
  Result<void> connect_end(End& end, const End& other);
  // A call that is a step.
  template <typename Request>
  Result<typename Request::Reply> step(End& end, const Request& request) {
    auto reply = end.client->call(request, budget());
    if (told_) told_();
    return reply;
  }

  End* near_;
  End* far_;
  Nanoseconds timeout_;
  std::uint64_t serial_ = 1;
  std::function<void()> told_;
};

}  // namespace gdr::proof

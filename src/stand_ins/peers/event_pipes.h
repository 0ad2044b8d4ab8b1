// EventPipes: pipes of another process's completion channels that are open here, so that whoever
// raises an event there wakes the program itself (rnic/event_pipe.h).
//
//   if (!pipes.with(name, [&](int pipe) { return put_event(pipe, name.inode, queue) == 0; })) {
//     // Somebody else has to wake it.
//   }
//
// Each is opened when it is first needed, by /proc, as the handshake reads the other's secret
// there: the kernel checks the same right. A few dozen stay open; a channel's descriptor decides
// which one another takes the place of. Any thread. Hot.
#pragma once

#include <array>
#include <mutex>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "rnic/event_pipe.h"

namespace gdr::peers {

class EventPipes {
 public:
  // `proc_pid`: see identity.h.
  explicit EventPipes(int proc_pid) : proc_pid_(proc_pid) {}

  // Whether `use` says so of the open pipe. False without it if it cannot be opened.
  template <typename Use>
  bool with(const rnic::EventPipeName& name, const Use& use) {
    if (name.inode == 0) return false;
    const std::lock_guard guard(mutex_);
    Place& place = places_[static_cast<std::uint32_t>(name.descriptor) % kPlaces];
    if (!is_open(place, name) && !open(place, name)) return false;
    return use(place.pipe.get());
  }
  void close_in_child();  // after fork: no lock, one thread

 private:
  struct Place {
    rnic::EventPipeName name;
    UniqueFd pipe;
    Nanoseconds tried_at = 0;
  };
  static constexpr std::uint32_t kPlaces = 64;

  static bool is_open(const Place& place, const rnic::EventPipeName& name) {
    return place.pipe && place.name.inode == name.inode;
  }
  bool open(Place& place, const rnic::EventPipeName& name) const;

  const int proc_pid_;
  std::mutex mutex_;
  std::array<Place, kPlaces> places_;  // under mutex_
};

}  // namespace gdr::peers

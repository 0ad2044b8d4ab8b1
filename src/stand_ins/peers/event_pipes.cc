#include "peers/event_pipes.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <cstdio>

namespace gdr::peers {
namespace {

// One that could not be opened is tried again after that long: descriptors may have been short.
constexpr Nanoseconds kBetweenTries = kSecond;

// The other process may have closed its channel and have anything else under the number by now, so
// it is looked at before it is opened: opening a device or a named pipe may do something.
UniqueFd open_pipe(int proc_pid, const rnic::EventPipeName& name) {
  char path[48];
  std::snprintf(path, sizeof path, "/proc/%d/fd/%d", proc_pid, name.descriptor);
  const UniqueFd found(::open(path, O_PATH | O_CLOEXEC));
  struct statfs system {};
  if (!found || !rnic::is_event_pipe(found.get(), name.inode) ||
      fstatfs(found.get(), &system) != 0 || system.f_type != PIPEFS_MAGIC) {
    return {};
  }
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", found.get());
  // For reading, too: writing to a pipe that nobody reads any more would be a SIGPIPE.
  return UniqueFd(::open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace

bool EventPipes::open(Place& place, const rnic::EventPipeName& name) const {
  const Nanoseconds time = coarse_now();
  const bool is_same = place.name.inode == name.inode;
  if (is_same && place.tried_at != 0 && time - place.tried_at < kBetweenTries) return false;
  place.name = name;
  place.pipe = open_pipe(proc_pid_, name);
  place.tried_at = time;
  return static_cast<bool>(place.pipe);
}

// Whoever held the lock is not there.
void EventPipes::close_in_child() {
  for (Place& place : places_) place.pipe.reset();
}

}  // namespace gdr::peers

// A thread of a library's own, in a program that knows nothing of it: the program's signals are
// blocked on it, so that neither its handlers run there nor its sigwait misses one. Cold.
//
//   if (gdr::Result<void> started = gdr::start_quiet_thread("gdr-work", [this] { run(); });
//       !started) {
//     return started.error();
//   }
#pragma once

#include <functional>

#include "base/result.h"

namespace gdr {

// Detached. `name` has at most 15 characters; `work` must not throw. EAGAIN when the process may
// have no further thread.
Result<void> start_quiet_thread(const char* name, std::function<void()> work);

// Whether the calling thread is such a one: nobody else's state is on it.
bool is_quiet_thread();

}  // namespace gdr

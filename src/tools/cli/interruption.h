// Ctrl-C and SIGTERM as something that a long run asks for, so that it can end with a report of
// what it has done. The second signal ends the program at once.
//
//   run(options, watch_interruption());
#pragma once

#include <atomic>

namespace gdr::cli {

// True once a signal has come. It lives as long as the program.
const std::atomic<bool>& watch_interruption();

}  // namespace gdr::cli

#include "give_up.h"

#include <errno.h>
#include <unistd.h>

#include <cstdio>

namespace gdr::bench {

void give_up_with(const std::string& message) {
  std::fflush(stdout);
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, message);
  // No destructors: the other process may be what failed, and none of them may wait for it.
  _exit(1);
}

}  // namespace gdr::bench

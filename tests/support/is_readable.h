// Whether something can be read from a descriptor now.
#pragma once

#include <poll.h>

namespace gdr::test {

inline bool is_readable(int descriptor) {
  pollfd wait{descriptor, POLLIN, 0};
  return poll(&wait, 1, 0) != 0;
}

}  // namespace gdr::test

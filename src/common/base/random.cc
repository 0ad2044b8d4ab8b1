#include "base/random.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

namespace gdr {

std::uint64_t random_u64() {
  std::uint64_t value = 0;
  // Blocks only in the first moments of a boot; never returns short for eight bytes after that.
  while (getrandom(&value, sizeof value, 0) != sizeof value) {
  }
  return value;
}

}  // namespace gdr

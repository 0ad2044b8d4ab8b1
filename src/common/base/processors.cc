#include "base/processors.h"

#include <sched.h>

namespace gdr {

unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 0;
}

}  // namespace gdr

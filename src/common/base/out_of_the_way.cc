#include "base/out_of_the_way.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <climits>

namespace gdr {
namespace {

// The limit is raised by no more, since some programs go through all numbers that it permits.
constexpr rlim_t kMostOfOurs = 1 << 16;

// The first number that is not the program's; -1: there is none.
int raise_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max ||
      limit.rlim_cur > INT_MAX - kMostOfOurs) {
    return -1;
  }
  const auto first = static_cast<int>(limit.rlim_cur);
  limit.rlim_cur = std::min(limit.rlim_max, limit.rlim_cur + kMostOfOurs);
  return setrlimit(RLIMIT_NOFILE, &limit) == 0 ? first : -1;
}

}  // namespace

UniqueFd out_of_the_way(UniqueFd descriptor) {
  static const int first = raise_limit();
  if (first < 0 || !descriptor) return descriptor;
  UniqueFd moved(fcntl(descriptor.get(), F_DUPFD_CLOEXEC, first));
  return moved ? std::move(moved) : std::move(descriptor);
}

}  // namespace gdr

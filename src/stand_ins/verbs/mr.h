// What the files that make and change memory regions share.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace gdr::verbs {

constexpr unsigned kRights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                             IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

// The flags that the device needs; the others change nothing.
constexpr unsigned kKept =
    kRights | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_MW_BIND;

// The address that users of a key give to the region's first byte.
constexpr std::uint64_t first_byte(unsigned access, std::uint64_t iova) {
  return (access & IBV_ACCESS_ZERO_BASED) != 0 ? 0 : iova;
}

int advise_mr(ibv_pd* pd, ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge* ranges,
              std::uint32_t count);

// 0 or errno. Huge pages are used where there are any, asked for or not; bits of the optional range
// may be ignored by definition.
int check_access(unsigned access);

}  // namespace gdr::verbs

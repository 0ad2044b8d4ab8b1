#include "perf/layout.h"

#include <algorithm>
#include <bit>

namespace gdr::perf {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr std::uint32_t kRouteHeader = 64;  // 40 bytes, and the message begins on a line of its own
constexpr std::uint64_t kMostChecked = 64 << 20;  // bytes of all places of one direction

constexpr std::uint32_t kMostStaged = 8;  // buffers that programs rotate

constexpr std::uint32_t kReceives = 512;       // as perftest posts
constexpr std::uint32_t kMostReceives = 4096;  // of all queue pairs of a station together

}  // namespace

bool has_shared_queue(const Load& load) {
  return load.shared_receives || load.transport == Transport::kXrc;
}

std::uint32_t receives_of(const Load& load, const Layout& layout) {
  const std::uint32_t each =
      !needs_receives(load) ? 1
      : load.check          ? layout.slots
                            : std::max(2u, std::min(kReceives, kMostReceives / layout.queue_pairs));
  if (!has_shared_queue(load)) return each;
  return std::max(each, layout.queue_pairs * (load.check ? layout.slots : 1));
}

Layout make_layout(const Load& load, std::uint64_t largest, std::uint32_t queue_pairs) {
  Layout layout;
  layout.queue_pairs = queue_pairs;
  layout.head = load.transport == Transport::kUd ? kRouteHeader : 0;
  layout.stride = (std::max<std::uint64_t>(largest, 8) + kLine - 1) / kLine * kLine + layout.head;
  if (!load.check && !is_staged(load)) return layout;
  const std::uint64_t room = kMostChecked / (layout.stride * queue_pairs);
  const std::uint32_t depth = std::max(load.depth, 2u);
  const std::uint32_t most = is_staged(load) ? std::min(kMostStaged, depth) : depth;
  const std::uint64_t wanted = std::clamp<std::uint64_t>(room, 2, most);
  layout.slots = static_cast<std::uint32_t>(std::bit_floor(wanted));
  return layout;
}

}  // namespace gdr::perf

// The segments of a request or receive of this process, as one stretch of bytes: what part of it
// lies in which, looked up by key each time. The caller holds what keeps regions alive: see
// registered_bytes.h. Hot.
//
//   visit_segments(regions, segments, domain, rights, offset, bytes, [&](place, length) { ... });
#pragma once

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "rnic/delivery/registered_bytes.h"

namespace gdr::rnic {

using Segments = std::span<const ibv_sge>;

constexpr std::uint32_t kWriteHere = IBV_ACCESS_LOCAL_WRITE | kUseAsLocalKey;
constexpr std::uint32_t kReadHere = kUseAsLocalKey;

// Calls `take(place, length)` for each segment. False: a key does not cover its segment.
template <typename Take>
bool find_segments(RegionTable& regions, Segments segments, std::uint32_t domain,
                   std::uint32_t rights, const Take& take) {
  for (const ibv_sge& segment : segments) {
    if (segment.length == 0) continue;
    Place place;
    if (regions.find(segment.lkey, segment.addr, segment.length, domain, rights, &place) !=
        RegionError::kNone) {
      return false;
    }
    take(place, segment.length);
  }
  return true;
}

inline bool keys_are_right(RegionTable& regions, Segments segments, std::uint32_t domain,
                           std::uint32_t rights) {
  return find_segments(regions, segments, domain, rights, [](const Place&, std::uint32_t) {});
}

// Calls `take(place, length)` for each part of the `bytes` from `offset` on, in order. False: the
// segments end before, a key does not cover its part, or `take` said so.
template <typename Take>
bool visit_segments(RegionTable& regions, Segments segments, std::uint32_t domain,
                    std::uint32_t rights, std::uint64_t offset, std::size_t bytes,
                    const Take& take) {
  for (const ibv_sge& segment : segments) {
    if (bytes == 0) break;
    if (offset >= segment.length) {
      offset -= segment.length;
      continue;
    }
    const std::size_t here = std::min<std::uint64_t>(bytes, segment.length - offset);
    Place place;
    if (regions.find(segment.lkey, segment.addr + offset, here, domain, rights, &place) !=
            RegionError::kNone ||
        !take(place, here)) {
      return false;
    }
    bytes -= here;
    offset = 0;
  }
  return bytes == 0;
}

// Calls `store(place, bytes)` for each part that the bytes have in the segments. False: as
// visit_segments.
template <typename Store>
bool store_segments(RegionTable& regions, Segments segments, std::uint32_t domain,
                    std::uint64_t offset, std::span<const std::byte> bytes, const Store& store) {
  return visit_segments(regions, segments, domain, kWriteHere, offset, bytes.size(),
                        [&](const Place& place, std::size_t length) {
                          const bool stored = store(place, bytes.first(length));
                          bytes = bytes.subspan(length);
                          return stored;
                        });
}

}  // namespace gdr::rnic

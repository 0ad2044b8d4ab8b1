// Reading and writing this process's registered memory, whatever it is made of: ordinary memory,
// memory whose pages may be missing, a GPU's, none. The caller holds what keeps the region alive:
// the queue pair's send lock or its responder lock. Hot.
#pragma once

#include <cstddef>
#include <span>

#include "rnic/region_table.h"

namespace gdr::rnic {

// The CPU may touch it where place.address says.
inline bool is_plain(const Place& place) {
  return place.reach == Reach::kHost && place.cpu_reachable();
}

// Only its peer-memory client can copy it: a GPU's.
inline bool is_served(const Place& place) { return !place.cpu_reachable(); }

// By a peer-memory client, until it has ended: 0 or an errno value. On one of the library's own
// threads (see PeerMemoryClient).
using Side = memory::PeerMemoryClient::Side;
int copy_by_client(memory::PeerMemoryClient& client, Side to, Side from, std::uint64_t length);

// False: the memory is gone, or its owner refuses the copy. A GPU's is copied by its client.
bool read_registered(const Place& from, std::span<std::byte> to);
bool write_registered(const Place& to, std::span<const std::byte> from);

}  // namespace gdr::rnic

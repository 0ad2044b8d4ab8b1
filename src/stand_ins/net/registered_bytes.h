// Reading and writing this process's registered memory, whatever it is made of: ordinary memory,
// memory whose pages may be missing, a GPU's, none. The caller holds what keeps the region alive:
// the queue pair's send lock or its responder lock. Hot.
#pragma once

#include <cstddef>
#include <span>

#include "rnic/region_table.h"

namespace gdr::net {

// The CPU may touch it where place.address says.
inline bool is_plain(const rnic::Place& place) {
  return place.reach == rnic::Reach::kHost && place.cpu_reachable();
}

// False: the memory is gone, or its owner refuses the copy. A GPU's is copied by its client, on the
// calling thread, which must be one of the library's own (see PeerMemoryClient).
bool read_registered(const rnic::Place& from, std::span<std::byte> to);
bool write_registered(const rnic::Place& to, std::span<const std::byte> from);

}  // namespace gdr::net

// Watched: the functions that this library stands in front of, and the library's own behind each.
//
//   auto* open = real<decltype(ibv_open_device)>(kOpenDevice);
//   return open != nullptr ? open(device) : nullptr;
#pragma once

#include <atomic>

namespace gdr::watch {

enum Watched {
#define GDR_WATCH(id, name, library, version) id,
#include "watch/watched.inc"
#undef GDR_WATCH
  kWatchedCount  // none of them
};

// By name alone: versions differ by how a function is looked up.
Watched which(const char* name);
void* wrapper(Watched one);

// The function that the program gets for a watched name: this library's, which calls `found`; or
// `found` itself if it is not of the library that is watched, or of another copy of it.
void* in_place_of(Watched one, void* found);

// The function behind this library's; null without one. What was found stays loaded.
void* behind(Watched one);

template <typename Function>
Function* real(Watched one) {
  return reinterpret_cast<Function*>(behind(one));
}

}  // namespace gdr::watch

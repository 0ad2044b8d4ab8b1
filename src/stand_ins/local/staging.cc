#include "local/staging.h"

#include <mutex>

namespace gdr::local {

std::optional<std::uint64_t> Staging::take() {
  const std::lock_guard guard(mutex_);
  if (!free_.empty()) {
    const std::uint64_t chunk = free_.back();
    free_.pop_back();
    return chunk;
  }
  return make();
}

// Under mutex_.
std::optional<std::uint64_t> Staging::make() {
  if (made_ == kChunks) return std::nullopt;
  Result<std::uint64_t> chunk = segment_.allocate(kChunk);
  if (!chunk) return std::nullopt;
  ++made_;
  return *chunk;
}

// Without the mutex while the driver works: what is being locked is not free meanwhile.
void Staging::lock_pages(memory::PeerMemoryClient& client) {
  std::vector<std::uint64_t> chunks;
  {
    const std::lock_guard guard(mutex_);
    chunks.swap(free_);
    while (const std::optional<std::uint64_t> chunk = make()) chunks.push_back(*chunk);
  }
  for (const std::uint64_t chunk : chunks) {
    const bool is_locked = client.lock_pages(segment_.arena(chunk, kChunk), kChunk);
    const std::lock_guard guard(mutex_);
    if (is_locked) locked_.insert(chunk);
    free_.push_back(chunk);
  }
  const std::lock_guard guard(mutex_);
  is_locked_.store(!locked_.empty(), std::memory_order_release);
}

void Staging::lose(std::uint64_t) {
  const std::lock_guard guard(mutex_);
  --made_;
}

void Staging::give_back(std::uint64_t chunk) {
  const std::lock_guard guard(mutex_);
  // What was in use when the others were locked is the last to be taken again.
  const bool last = !locked_.empty() && !locked_.contains(chunk);
  free_.insert(last ? free_.begin() : free_.end(), chunk);
}

}  // namespace gdr::local

#include "local/staging.h"

#include <mutex>

namespace gdr::local {

std::optional<std::uint64_t> Staging::take() {
  const std::lock_guard guard(mutex_);
  if (!free_.empty()) {
    const std::uint64_t block = free_.back();
    free_.pop_back();
    return block;
  }
  return make();
}

// Under mutex_.
std::optional<std::uint64_t> Staging::make() {
  if (made_ == kBlocks) return std::nullopt;
  Result<std::uint64_t> block = segment_.allocate(kBlock);
  if (!block) return std::nullopt;
  ++made_;
  return *block;
}

// Without the mutex while the driver works: what is being locked is not free meanwhile.
void Staging::lock_pages(memory::PeerMemoryClient& client) {
  std::vector<std::uint64_t> blocks;
  {
    const std::lock_guard guard(mutex_);
    blocks.swap(free_);
    while (const std::optional<std::uint64_t> block = make()) blocks.push_back(*block);
  }
  for (const std::uint64_t block : blocks) {
    const bool is_locked = client.lock_pages(segment_.arena(block, kBlock), kBlock);
    const std::lock_guard guard(mutex_);
    if (is_locked) locked_.insert(block);
    free_.push_back(block);
  }
}

void Staging::lose(std::uint64_t) {
  const std::lock_guard guard(mutex_);
  --made_;
}

void Staging::give_back(std::uint64_t block) {
  const std::lock_guard guard(mutex_);
  // What was in use when the others were locked is the last to be taken again.
  const bool last = !locked_.empty() && !locked_.contains(block);
  free_.insert(last ? free_.begin() : free_.end(), block);
}

}  // namespace gdr::local

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
  if (made_ == kBlocks) return std::nullopt;
  Result<std::uint64_t> block = segment_.allocate(kBlock);
  if (!block) return std::nullopt;
  ++made_;
  return *block;
}

void Staging::lose(std::uint64_t) {
  const std::lock_guard guard(mutex_);
  --made_;
}

void Staging::give_back(std::uint64_t block) {
  const std::lock_guard guard(mutex_);
  free_.push_back(block);
}

}  // namespace gdr::local

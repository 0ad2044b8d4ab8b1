#include "softgpu/ranges.h"

#include <algorithm>

#include "softgpu/context.h"

namespace gdr::softgpu {

bool Ranges::is_opened(const Range& range) {
  return range.kind == Range::Kind::kImported && range.pool == nullptr && range.context != nullptr;
}

Ranges::Origin Ranges::origin_of(const Range& range) {
  return {range.exporter, range.device, range.context->device()};
}

void Ranges::put(std::shared_ptr<Range> range) {
  if (is_opened(*range)) {
    opened_.emplace(range->identity, range);
    ++contexts_[origin_of(*range)][range->context];
  }
  const std::uint64_t base = range->base;
  by_base_[base] = std::move(range);
}

Ranges::Map::iterator Ranges::erase(Map::iterator at) {
  const std::shared_ptr<Range> range = at->second;
  if (is_opened(*range)) {
    const auto [first, last] = opened_.equal_range(range->identity);
    const auto own = std::find_if(first, last, [&](auto& entry) { return entry.second == range; });
    if (own != last) opened_.erase(own);
    const auto origin = contexts_.find(origin_of(*range));
    if (--origin->second[range->context] == 0) origin->second.erase(range->context);
    if (origin->second.empty()) contexts_.erase(origin);
  }
  return by_base_.erase(at);
}

std::shared_ptr<Range> Ranges::opened(std::uint64_t identity, std::uint64_t inode,
                                      const Context& context) const {
  const auto [first, last] = opened_.equal_range(identity);
  const auto found = std::find_if(first, last, [&](const auto& entry) {
    return entry.second->context == &context && entry.second->backing->inode() == inode;
  });
  return found == last ? nullptr : found->second;
}

bool Ranges::another_context_opened(const Range& range) const {
  const auto origin = contexts_.find(origin_of(range));
  if (origin == contexts_.end()) return false;
  return std::ranges::any_of(origin->second,
                             [&](const auto& entry) { return entry.first != range.context; });
}

}  // namespace gdr::softgpu

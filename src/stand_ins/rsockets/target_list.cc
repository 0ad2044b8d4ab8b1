#include "rsockets/target_list.h"

#include <algorithm>
#include <atomic>

namespace gdr::rsockets {
namespace {

// The peer's NIC may write meanwhile, and writes upwards: who sees the length, which is last, sees
// the rest.
template <typename Integer>
Integer load(const std::uint8_t* from) {
  auto* place = reinterpret_cast<Integer*>(const_cast<std::uint8_t*>(from));
  return std::atomic_ref<Integer>(*place).load(std::memory_order_acquire);
}

template <typename Integer>
void clear(std::uint8_t* at) {
  std::atomic_ref<Integer>(*reinterpret_cast<Integer*>(at)).store(0, std::memory_order_release);
}

RemoteRange load_range(const std::uint8_t* from) {
  RemoteRange range;
  range.length = load<std::uint32_t>(from + 12);
  range.address = load<std::uint64_t>(from);
  range.key = load<std::uint32_t>(from + 8);
  return range;
}

}  // namespace

std::uint32_t TargetList::room() {
  if (current_.length > 0) return current_.length;
  if (memory_.size() < kBytes) return 0;
  std::uint8_t* entry = &memory_[next_entry_ * kTargetBytes];
  const RemoteRange range = load_range(entry);
  if (range.length == 0) return 0;
  // The peer writes an entry again only after all that it stood for has been sent.
  clear<std::uint32_t>(entry + 12);
  next_entry_ = (next_entry_ + 1) % kTargetEntries;
  current_ = range;
  return current_.length;
}

RemoteRange TargetList::take(std::uint32_t length) {
  RemoteRange taken = current_;
  taken.length = std::min(length, current_.length);
  current_.address += taken.length;
  current_.length -= taken.length;
  return taken;
}

std::optional<RemoteRange> TargetList::mapped_at(std::uint64_t offset) const {
  for (std::size_t at = kBytes; at + kMappingBytes <= memory_.size(); at += kMappingBytes) {
    RemoteRange range = load_range(&memory_[at + 8]);
    const auto begin = load<std::uint64_t>(&memory_[at]);
    if (offset < begin || offset - begin >= range.length) continue;
    const auto skipped = static_cast<std::uint32_t>(offset - begin);
    range.address += skipped;
    range.length -= skipped;
    return range;
  }
  return std::nullopt;
}

}  // namespace gdr::rsockets

#include "rnic/free_space.h"

#include <iterator>

namespace gdr::rnic {

FreeSpace::FreeSpace(std::uint64_t begin, std::uint64_t end) { add_gap(begin, end - begin); }

void FreeSpace::add_gap(std::uint64_t offset, std::uint64_t length) {
  if (length == 0) return;
  gaps_[offset] = length;
  by_length_.emplace(length, offset);
}

void FreeSpace::remove_gap(std::map<std::uint64_t, std::uint64_t>::iterator gap) {
  by_length_.erase({gap->second, gap->first});
  gaps_.erase(gap);
}

std::optional<std::uint64_t> FreeSpace::take(std::uint64_t length) {
  const auto fitting = by_length_.lower_bound({length, 0});
  if (length == 0 || fitting == by_length_.end()) return std::nullopt;
  const auto [available, offset] = *fitting;
  remove_gap(gaps_.find(offset));
  add_gap(offset + length, available - length);
  taken_[offset] = length;
  return offset;
}

std::uint64_t FreeSpace::length_at(std::uint64_t offset) const {
  const auto entry = taken_.find(offset);
  return entry == taken_.end() ? 0 : entry->second;
}

// Joins what is free on both sides.
std::uint64_t FreeSpace::give_back(std::uint64_t offset) {
  const auto entry = taken_.find(offset);
  if (entry == taken_.end()) return 0;
  const std::uint64_t length = entry->second;
  taken_.erase(entry);
  std::uint64_t begin = offset, end = offset + length;
  auto next = gaps_.lower_bound(offset);
  if (next != gaps_.begin()) {
    if (const auto before = std::prev(next); before->first + before->second == begin) {
      begin = before->first;
      remove_gap(before);
    }
  }
  if (next != gaps_.end() && next->first == end) {
    end += next->second;
    remove_gap(next);
  }
  add_gap(begin, end - begin);
  return length;
}

}  // namespace gdr::rnic

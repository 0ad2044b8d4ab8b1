#include "softgpu/address_space.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>

#include "softgpu/backing.h"

namespace gdr::softgpu {
namespace {

constexpr std::uint64_t kLeast = 64ull << 20;

// What is behind device addresses, and what else the program maps, needs room as well.
std::uint64_t fair_share(std::uint64_t bytes) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return bytes;
  return std::min<std::uint64_t>(bytes, limit.rlim_cur / 4 / kBlock * kBlock);
}

}  // namespace

bool AddressSpace::reserve(std::uint64_t bytes) {
  for (bytes = fair_share(bytes); bytes >= kLeast; bytes = bytes / 2 / kBlock * kBlock) {
    void* at = mmap(nullptr, bytes + kBlock, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                    -1, 0);
    if (at == MAP_FAILED) continue;
    madvise(at, bytes + kBlock, MADV_DONTDUMP);
    base_ = round_up(reinterpret_cast<std::uint64_t>(at), kBlock);
    bytes_ = bytes;
    free_ = {{base_, bytes_}};
    return true;
  }
  return false;
}

std::optional<std::uint64_t> AddressSpace::take(std::uint64_t bytes, std::uint64_t alignment,
                                                std::uint64_t wanted) {
  if (bytes == 0 || bytes > bytes_) return std::nullopt;
  auto carve = [&](std::map<std::uint64_t, std::uint64_t>::iterator from, std::uint64_t start) {
    const std::uint64_t begin = from->first;
    const std::uint64_t end = begin + from->second;
    free_.erase(from);
    if (start > begin) free_[begin] = start - begin;
    if (start + bytes < end) free_[start + bytes] = end - start - bytes;
    return start;
  };
  if (wanted != 0 && wanted % alignment == 0 && contains(wanted)) {
    auto next = free_.upper_bound(wanted);
    if (next != free_.begin()) {
      auto holder = std::prev(next);
      if (wanted - holder->first < holder->second &&
          holder->second - (wanted - holder->first) >= bytes) {
        return carve(holder, wanted);
      }
    }
  }
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const std::uint64_t start = round_up(it->first, alignment);
    const std::uint64_t skipped = start - it->first;
    if (skipped < it->second && it->second - skipped >= bytes) return carve(it, start);
  }
  return std::nullopt;
}

void AddressSpace::give_back(std::uint64_t address, std::uint64_t bytes) {
  auto [it, inserted] = free_.emplace(address, bytes);
  if (!inserted) return;
  if (auto next = std::next(it); next != free_.end() && it->first + it->second == next->first) {
    it->second += next->second;
    free_.erase(next);
  }
  if (it != free_.begin()) {
    auto before = std::prev(it);
    if (before->first + before->second == it->first) {
      before->second += it->second;
      free_.erase(it);
    }
  }
}

}  // namespace gdr::softgpu

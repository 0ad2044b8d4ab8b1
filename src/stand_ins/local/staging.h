// Staging: blocks in this process's own segment through which bytes pass that no single copy can
// move: between GPU memory here and another process, or to and from memory that only its owner can
// reach. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "base/spin_lock.h"
#include "memory/peer_memory_client.h"
#include "rnic/segment.h"

namespace gdr::local {

class Staging {
 public:
  static constexpr std::uint64_t kHalf = rnic::kMostServed;  // one half fills, the other drains
  static constexpr std::uint64_t kBlock = 2 * kHalf;
  static constexpr std::size_t kBlocks = 16;

  explicit Staging(rnic::Segment& segment) : segment_(segment) {}

  // A block's offset in the segment; nothing when all are in use or there is no memory.
  std::optional<std::uint64_t> take();
  // Makes what is missing and locks the pages of all that are free, once, for a client's copies: a
  // GPU's are three times as quick then. May wait behind running kernels.
  void lock_pages(memory::PeerMemoryClient& client);
  void give_back(std::uint64_t block);
  // Never to be used again: another process may still write there. Another may be made instead.
  void lose(std::uint64_t block);
  void* at(std::uint64_t offset) { return segment_.arena(offset, kHalf); }

 private:
  rnic::Segment& segment_;
  std::optional<std::uint64_t> make();

  SpinLock mutex_;
  std::vector<std::uint64_t> free_;  // the last is taken first
  std::set<std::uint64_t> locked_;
  std::size_t made_ = 0;
};

}  // namespace gdr::local

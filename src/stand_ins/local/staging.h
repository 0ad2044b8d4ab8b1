// Staging: chunks in this process's own segment through which bytes pass that no single copy can
// move, or not as quickly: between GPU memory here and another process, or ordinary memory of this
// one, or memory that only its owner can reach. Any thread.
#pragma once

#include <atomic>
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
  static constexpr std::uint64_t kChunk = rnic::kMostServed;
  static constexpr std::size_t kChunks = 32;

  explicit Staging(rnic::Segment& segment) : segment_(segment) {}

  // A chunk's offset in the segment; nothing when all are in use or there is no memory.
  std::optional<std::uint64_t> take();
  // Makes what is missing and locks the pages of all that are free, once, for a client's copies: a
  // GPU's are three times as quick then. May wait behind running kernels.
  void lock_pages(memory::PeerMemoryClient& client);
  // Whether that is done, and has succeeded.
  bool is_locked() const { return is_locked_.load(std::memory_order_acquire); }
  void give_back(std::uint64_t chunk);
  // Never to be used again: another process may still write there. Another may be made instead.
  void lose(std::uint64_t chunk);
  void* at(std::uint64_t offset) { return segment_.arena(offset, kChunk); }

 private:
  rnic::Segment& segment_;
  std::optional<std::uint64_t> make();

  SpinLock mutex_;
  std::vector<std::uint64_t> free_;  // the last is taken first
  std::set<std::uint64_t> locked_;
  std::size_t made_ = 0;
  std::atomic<bool> is_locked_{false};
};

}  // namespace gdr::local

// PinnedPool: blocks of host memory of the library's own, locked for a GPU's copies, through which
// the bytes of packets go to GPU memory and come from it. As many as there are, however many peers
// ask. Any thread.
//
//   std::byte* block = pool.take(client);  // null: use none, copy directly
//   pool.give_back(block);
#pragma once

#include <atomic>
#include <cstddef>
#include <vector>

#include "base/spin_lock.h"
#include "memory/peer_memory_client.h"

namespace gdr::net {

class PinnedPool {
 public:
  static constexpr std::size_t kBlock = 256 << 10;
  static constexpr std::size_t kBlocks = 128;

  // Has the blocks made and locked, once, on a thread of its own, because the driver may have that
  // wait for the program's kernels.
  void prepare(memory::PeerMemoryClient& client);
  // Null: all are in use, or not ready yet.
  std::byte* take(memory::PeerMemoryClient& client);
  void give_back(std::byte* block);

 private:
  void make(memory::PeerMemoryClient& client);

  std::atomic<bool> is_asked_for_{false};
  SpinLock lock_;
  std::vector<std::byte*> free_;  // the last is taken first
};

}  // namespace gdr::net

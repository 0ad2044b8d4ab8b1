#include "net/pinned_pool.h"

#include <sys/mman.h>

#include <mutex>

#include "base/quiet_thread.h"

namespace gdr::net {

std::byte* PinnedPool::take(memory::PeerMemoryClient& client) {
  {
    const std::lock_guard guard(lock_);
    if (!free_.empty()) {
      std::byte* block = free_.back();
      free_.pop_back();
      return block;
    }
  }
  prepare(client);
  return nullptr;
}

void PinnedPool::prepare(memory::PeerMemoryClient& client) {
  if (is_asked_for_.load(std::memory_order_relaxed) || is_asked_for_.exchange(true)) return;
  // Without that thread every packet is a copy of its own.
  (void)start_quiet_thread("gdr-pin", [this, &client] { make(client); });
}

void PinnedPool::give_back(std::byte* block) {
  const std::lock_guard guard(lock_);
  free_.push_back(block);
}

// For the life of the process, as is the path that has the pool. What the driver does not lock
// serves, too: its copies take longer.
void PinnedPool::make(memory::PeerMemoryClient& client) {
  void* memory =
      mmap(nullptr, kBlocks * kBlock, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return;
  (void)client.lock_pages(memory, kBlocks * kBlock);
  const std::lock_guard guard(lock_);
  for (std::size_t i = kBlocks; i-- > 0;) {
    free_.push_back(static_cast<std::byte*>(memory) + i * kBlock);
  }
}

}  // namespace gdr::net

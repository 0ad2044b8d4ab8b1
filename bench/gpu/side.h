// Side: what the two processes at the ends of the queue pair have: memory, registered, each with
// its twin in the other process, and a link.
//
//   Side side(options, /*is_peer=*/false, socket, flags);
//   side.link().post(IBV_WR_RDMA_WRITE, side.own(kGpu), side.peers(kGpu), 0, bytes);
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "link.h"
#include "memories.h"
#include "options.h"

namespace gdr::bench {

// Shared by both processes: how far a staged transfer is, in chunks since it was ordered.
struct Flags {
  alignas(64) std::atomic<std::uint64_t> arrived = 0;   // in the peer's pinned memory
  alignas(64) std::atomic<std::uint64_t> consumed = 0;  // in the peer's GPU memory
};

class Side {
 public:
  // Both processes make theirs at the same time, and are connected then.
  Side(const Options& options, bool is_peer, int socket, Flags& flags);

  Memories& memories() { return memories_; }
  Gpu& gpu() { return memories_.gpu(); }
  Link& link() { return link_; }
  Flags& flags() { return flags_; }
  const Place& own(Memory memory) const { return own_[static_cast<std::size_t>(memory)]; }
  const Place& peers(Memory memory) const { return peers_[static_cast<std::size_t>(memory)]; }
  const std::string& peers_gpu() const { return peers_gpu_; }
  // The peer's GPU memory, for others to open; of VMM memory with a descriptor, else -1.
  const ExportedMemory& exported() const { return exported_; }
  int descriptor() const { return descriptor_; }

 private:
  void introduce(int socket, bool vmm);

  Flags& flags_;
  Memories memories_;
  Link link_;
  std::array<Place, kMemories> own_{};
  std::array<Place, kMemories> peers_{};
  ExportedMemory exported_;
  int descriptor_ = -1;
  std::string peers_gpu_;
};

}  // namespace gdr::bench

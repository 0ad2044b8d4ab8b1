// PinnedMemory: a range registered with the peer-memory client that owns it, until destroyed.
//
//   Result<std::unique_ptr<PinnedMemory>> memory =
//       PinnedMemory::pin(address, length, /*writable=*/true);
//   if ((*memory)->cpu_reachable()) std::memcpy(to, pointer_at((*memory)->address()), length);
//
// Clients are asked in a fixed order: CUDA (only if the process has loaded it), then host memory,
// which takes what no other wants.
#pragma once

#include "memory/peer_memory_client.h"

namespace gdr::memory {

class PinnedMemory {
 public:
  // EFAULT when no client can pin the range; another errno when its owner refuses, with the reason.
  static Result<std::unique_ptr<PinnedMemory>> pin(std::uint64_t address, std::uint64_t length,
                                                   bool writable);
  // EBADF for a descriptor that is none; EOPNOTSUPP when no client can reach the buffer's memory.
  static Result<std::unique_ptr<PinnedMemory>> pin_dmabuf(DmaBuf buffer, std::uint64_t length,
                                                          std::uint64_t iova, bool writable);
  // By this client, without asking the others. EFAULT when the memory is not its.
  static Result<std::unique_ptr<PinnedMemory>> pin_with(PeerMemoryClient& client,
                                                        std::uint64_t address, std::uint64_t length,
                                                        bool writable);
  // Another process's, as its exported() tells. `descriptor`: see PeerMemoryClient::open.
  static Result<std::unique_ptr<PinnedMemory>> open(const Exported& exported, UniqueFd descriptor);
  ~PinnedMemory();
  PinnedMemory(const PinnedMemory&) = delete;
  PinnedMemory& operator=(const PinnedMemory&) = delete;

  PeerMemoryClient& client() const { return client_; }
  std::uint64_t address() const { return address_; }  // of the first byte, for copies
  bool cpu_reachable() const { return client_.cpu_reachable(); }
  bool still_valid() const { return client_.still_valid(*context_); }
  PeerMemoryClient::Side side_at(std::uint64_t address) const { return {address, context_.get()}; }
  // How another process may open it.
  Exported exported() const { return client_.exported(*context_); }

 private:
  PinnedMemory(PeerMemoryClient& client, std::unique_ptr<PeerMemoryClient::Context> context)
      : client_(client), context_(std::move(context)) {}
  static Result<std::unique_ptr<PinnedMemory>> map(
      PeerMemoryClient& client, std::unique_ptr<PeerMemoryClient::Context> context, bool writable);

  PeerMemoryClient& client_;
  std::unique_ptr<PeerMemoryClient::Context> context_;
  std::uint64_t address_ = 0;
  bool has_pages_ = false;
  bool is_mapped_ = false;
};

}  // namespace gdr::memory

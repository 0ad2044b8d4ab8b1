// TargetList: where in the peer's memory our data go, as the peer tells us by writing into a list
// in our memory, at any time. Nothing in it is trusted: addresses and keys are only ever used as
// remote ones, which the peer's NIC checks, and lengths bound what is sent there. No I/O.
//
//   TargetList targets(memory);               // zeroed, kBytes + mappings * kMappingBytes long
//   targets.begin(peer.first_buffer);
//   if (targets.room() > 0) RemoteRange to = targets.take(n);   // n <= room()
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "rsockets/protocol.h"

namespace gdr::rsockets {

class TargetList {
 public:
  static constexpr std::size_t kBytes = kTargetEntries * kTargetBytes;

  TargetList() = default;
  explicit TargetList(std::span<std::uint8_t> memory) : memory_(memory) {}

  void begin(const RemoteRange& first) { current_ = first; }

  // Bytes that the current target still takes; looks for the next one when it is full.
  std::uint32_t room();
  // Its next `length` bytes, at most room().
  RemoteRange take(std::uint32_t length);

  // Where the peer has mapped `offset` (riomap), up to the mapping's end.
  std::optional<RemoteRange> mapped_at(std::uint64_t offset) const;

 private:
  std::span<std::uint8_t> memory_;
  RemoteRange current_;
  std::uint32_t next_entry_ = 1;  // the first target came with the connection
};

}  // namespace gdr::rsockets

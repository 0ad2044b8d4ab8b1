// ForeignMemory: what this process has opened of a peer's GPU memory, so that its own engine copies
// there and the peer's threads need not.
//
//   foreign.update(peer.segment(), peer.pidfd(), opener);                // its opener's thread
//   if (auto opened = foreign.find(segment, region, address, length)) {  // any thread
//     copy to opened->address ...                     // opened->memory keeps it open
//   }
//
// Whoever lets go of it last, the memory is closed by the opener's thread and no other: the driver
// may wait behind kernels, which may wait for the network.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "memory/pinned_memory.h"
#include "rnic/region_table.h"

namespace gdr::peers {

// Takes memory that nobody uses any more to the thread that may close it. Any thread.
class MemoryCloser {
 public:
  virtual void close(std::unique_ptr<memory::PinnedMemory> memory) = 0;

 protected:
  ~MemoryCloser() = default;
};

class ForeignMemory {
 public:
  struct Opened {
    std::shared_ptr<memory::PinnedMemory> memory;
    std::uint64_t address;  // here
  };
  // [address, address + length) as the owner has it, of that region. Nothing: it is not open here.
  std::optional<Opened> find(rnic::Segment& segment, std::uint32_t region, std::uint64_t address,
                             std::uint64_t length);

  // Whether the owner shows other memory than when update() last looked. Cheap.
  bool is_outdated(rnic::Segment& segment) const;
  // Opens what has come and lets go of what is gone. May wait long: opening can wait for kernels.
  // One thread at a time. `closer` outlives everybody.
  void update(rnic::Segment& segment, int pidfd, MemoryCloser& closer);
  // The owner is dead: lets go of everything, and nothing is opened any more.
  void let_go();
  // What could not be opened is tried again by the next update: this process may use a GPU now.
  void forget_failures(rnic::Segment& segment);

 private:
  struct Entry {
    std::shared_ptr<memory::PinnedMemory> memory;  // null: it cannot be opened from here
    std::uint64_t address, length;                 // as the owner has it
  };
  struct Changes {
    std::vector<std::uint32_t> shown;  // regions
    std::vector<std::shared_ptr<memory::PinnedMemory>> withdrawn;
  };
  Changes take_changes(rnic::Segment& segment);
  void keep(const memory::Exported& exported, std::shared_ptr<memory::PinnedMemory> opened);

  std::atomic<std::uint32_t> seen_changes_{0};
  std::mutex mutex_;
  std::map<std::uint64_t, Entry> by_identity_;  // under mutex_
  bool owner_is_dead_ = false;                  // under mutex_
};

}  // namespace gdr::peers

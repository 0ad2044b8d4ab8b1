// RegionTable: the memory regions of this process by key, privately for its own work requests and
// in the shared segment for initiators in other processes.
//
//   Result<Registration> mr = table.add(std::move(memory), {.iova = va, .length = n, ...});
//   Access access = table.find(sge.lkey, sge.addr, sge.length, pd, IBV_ACCESS_LOCAL_WRITE);
//
// lkey and rkey are one number: 17 bits of index, 15 bits unpredictable. Never 0.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/spin_lock.h"
#include "memory/pinned_memory.h"
#include "rnic/segment.h"

namespace gdr::rnic {

constexpr std::uint32_t index_of(std::uint32_t key) { return key >> (32 - kRegionBits); }

struct RegionAttributes {
  std::uint64_t iova;
  std::uint64_t length;
  std::uint32_t access;  // ibv_access_flags
  std::uint32_t protection_domain;
};

// Beside ibv_access_flags: the owner may name the key in its own requests, as an lkey. Every region
// grants it, a memory window does not.
constexpr std::uint32_t kUseAsLocalKey = 1u << 31;

// Where a region's bytes are.
struct Backing {
  Backing() = default;
  explicit Backing(std::unique_ptr<memory::PinnedMemory> pinned);
  static Backing on_demand(std::uint64_t address);
  static Backing nothing();

  std::unique_ptr<memory::PinnedMemory> memory;  // null: nothing is pinned
  std::uint64_t address = 0;
  Reach reach = Reach::kHost;
};

// Where checked bytes lie. `memory` is kept alive by the caller's quiescence mark (see
// SharedQueuePair::responder and QueuePair's send lock), which removal waits for.
struct Place {
  std::uint64_t address = 0;               // as PinnedMemory::address counts
  memory::PinnedMemory* memory = nullptr;  // null: host bytes, or none
  Reach reach = Reach::kHost;
  std::uint32_t queue_pair = 0;  // the only one that a window of type 2 serves; 0: any
  bool cpu_reachable() const { return memory == nullptr || memory->cpu_reachable(); }
};

// What a request to bind a memory window says.
struct WindowBind {
  std::uint32_t window;  // as add_window named it
  std::uint32_t region;  // its key, or 0 to unbind a window of type 1
  std::uint32_t key;     // the window's from now on
  std::uint32_t access;  // ibv_access_flags for those who use that key
  std::uint64_t address;
  std::uint64_t length;
};

// A region of ordinary memory that was looked up once for several accesses: while its removal waits
// for the caller (see Place), all that its key, domain and rights permit.
struct KnownRange {
  std::uint32_t key = 0;  // 0: none
  std::uint64_t iova = 0, length = 0, address = 0;

  bool covers(std::uint32_t by_key, std::uint64_t from, std::uint64_t bytes) const {
    return key == by_key && key != 0 && from >= iova && bytes <= length &&
           from - iova <= length - bytes;
  }
};

enum class RegionError { kNone, kUnknownKey, kWrongDomain, kOutOfRange, kNoRight, kFreed };

class RegionTable {
 public:
  explicit RegionTable(Segment& segment);
  ~RegionTable();

  // The new key. ENOMEM when all are taken; EINVAL when iova + length wraps.
  Result<std::uint32_t> add(Backing backing, const RegionAttributes& attributes);

  // Makes the key unusable for whatever starts after this returns; `take` then hands out the memory
  // once the caller has waited for what had started before. EINVAL for a key never issued.
  Result<void> invalidate(std::uint32_t key);
  Backing take(std::uint32_t key);
  // In place of `take`: the same region again, changed, under its old key or, when its bytes are
  // others, a new one. `backing` is exchanged for what the region had; nothing: it keeps its own.
  std::uint32_t reissue(std::uint32_t key, bool under_new_key, std::optional<Backing>& backing,
                        const RegionAttributes& attributes);

  // Checks a range of this process's own memory against key, domain and rights (any of
  // ibv_access_flags and kUseAsLocalKey; 0 asks for read by the owner). Hot.
  RegionError find(std::uint32_t key, std::uint64_t address, std::uint64_t length,
                   std::uint32_t protection_domain, std::uint32_t rights, Place* place);

  // Nothing where each access needs a look of its own (`find`): a window, memory that not just any
  // instruction may touch, no such region. Hot.
  KnownRange know(std::uint32_t key, std::uint32_t protection_domain, std::uint32_t rights);

  // Puts bytes that a completion carried where its receive request says. Nothing where that is no
  // (longer) this process's host memory with the right to write. The caller's mark is the
  // completion queue's consumer lock, which removal waits for (CompletionQueue::place_carried).
  // Hot.
  void place(std::uint32_t key, std::uint64_t address, std::span<const std::byte> bytes);

  struct Description {
    RegionAttributes attributes;
    std::uint64_t address;
    Reach reach;
  };
  // What is known of a region by its key; nothing for a key that is none's. Cold.
  std::optional<Description> describe(std::uint32_t key);

  // --- Memory windows (memory_windows.cc): keys to part of a region, made and taken back by work
  // requests. A window of type 2 is tied to the queue pair that bound it. Cold.
  Result<std::uint32_t> add_window(bool tied, std::uint32_t protection_domain);
  // Whether the queue pair may bind so; the specification's rules C10-72 to C10-75.
  bool may_bind(const WindowBind& bind, std::uint32_t protection_domain);
  // Takes the window's key out of use. Whatever uses its place next first waits for copies.
  void unbind(std::uint32_t window);
  // After unbind and that wait. False when it may not (any more).
  bool bind(const WindowBind& bind, std::uint32_t protection_domain, std::uint32_t queue_pair);
  // Unbinds a window of type 2 by its key; false if that is none of the queue pair's.
  bool invalidate_window(std::uint32_t key, std::uint32_t protection_domain,
                         std::uint32_t queue_pair);
  void unbind_windows_of_queue_pair(std::uint32_t queue_pair);
  void unbind_windows_of_region(std::uint32_t key);
  void remove_window(std::uint32_t window);  // unbound, and no copy goes on

  // How often what others may open has changed.
  std::uint32_t export_changes() const { return segment_.header().export_changes.load(); }

  // Whether some region lies in memory that only its peer-memory client can copy. Hot.
  bool has_served() const { return served_.load(std::memory_order_relaxed) != 0; }

  SpinLock& mutex() { return mutex_; }  // around a fork

 private:
  struct Entry {
    std::atomic<std::uint32_t> key{0};
    RegionAttributes attributes{};
    Backing backing;
    memory::PinnedMemory* memory = nullptr;  // its own, or that of the region behind a window
    std::atomic<std::uint32_t> invalidated_key{0};  // between invalidate and take or reissue
    std::uint32_t last_key = 0;
    bool is_exported = false;  // others may open its memory
    // For a window. Its key in the segment counts, too: other processes invalidate it there.
    bool is_window = false, tied = false;
    std::uint32_t window = 0, window_domain = 0, region = 0, queue_pair = 0;
  };
  // Made when the first of its entries is needed: most programs register little.
  static constexpr std::uint32_t kBlock = 256;
  using Block = std::array<Entry, kBlock>;
  // One whose block is not there is like an entry that was never used. Hot.
  Entry& entry_at(std::uint32_t index) {
    Block* block = blocks_[index / kBlock].load(std::memory_order_acquire);
    return block != nullptr ? (*block)[index % kBlock] : unused_;
  }
  Result<std::uint32_t> take_index();
  Entry* window_entry(std::uint32_t window);
  bool is_bound(const Entry& entry);
  bool check_bind(const WindowBind& bind, std::uint32_t protection_domain);
  void share(std::uint32_t key);
  void show_export(std::uint32_t key);
  void hide_export(std::uint32_t key);
  void publish(std::uint32_t key, const RegionAttributes& attributes);

  Segment& segment_;
  std::array<std::atomic<Block*>, kRegions / kBlock> blocks_{};
  Entry unused_;
  std::atomic<std::uint32_t> served_{0};  // regions whose reach is kServed
  SpinLock mutex_;                        // add, invalidate and take: cold
  std::deque<std::uint32_t> free_;
  std::vector<std::uint32_t> windows_;  // indices
  std::uint32_t next_ = 0;
};

// The same check on another process's table; the copy it returns is what the caller uses.
struct RemoteRange {
  std::uint64_t address = 0;  // in the owner's address space
  Reach reach = Reach::kHost;
  std::uint32_t queue_pair = 0;  // as in Place
};
RegionError find_remote(Segment& segment, std::uint32_t key, std::uint64_t address,
                        std::uint64_t length, std::uint32_t protection_domain, std::uint32_t rights,
                        RemoteRange* range);
KnownRange know_remote(Segment& segment, std::uint32_t key, std::uint32_t protection_domain,
                       std::uint32_t rights);
// How the memory of another process's region can be opened, if it can.
memory::Exported exported_by(Segment& segment, std::uint32_t region);
// For a send with invalidate: whether the key is a window of type 2 of that queue pair, in any
// process's table; and its invalidation, under that queue pair's responder lock.
bool is_window_of(Segment& segment, std::uint32_t key, std::uint32_t protection_domain,
                  std::uint32_t queue_pair);
void invalidate_window_of(Segment& segment, std::uint32_t key);

}  // namespace gdr::rnic

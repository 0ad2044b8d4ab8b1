// Segment: one process's shared device state in a sealed memfd, mapped.
//
//   std::unique_ptr<Segment> mine = *Segment::create(token, devices);
//   std::uint64_t ring = *mine->allocate(4096);                         // owner only
//   std::unique_ptr<Segment> theirs = *Segment::map(std::move(memfd));
//   SharedQueuePair& qp = theirs->queue_pair(index);                    // any index is safe
//
// The descriptor is sealed against shrinking and growing, so nothing can be truncated under a
// reader, and lives in no file system, so nothing is left behind. A peer's mapping is checked for
// size, seals and layout before it is used.
//
// Of the arena only the first part is mapped at once: batch systems limit the address space of a
// process (RLIMIT_AS), and most programs need no more. The rest is mapped when it is asked for.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"
#include "rnic/device_table.h"
#include "rnic/free_space.h"
#include "rnic/shared.h"

namespace gdr::rnic {

// Part of the name of a segment, which /proc shows to a process that may debug its owner, and to no
// other: see peers/handshake.h.
using Secret = std::array<std::uint8_t, 16>;
// The secret in the name of a segment, as the link of its descriptor in /proc/PID/fd shows it.
std::optional<Secret> secret_in(std::string_view link);

class Segment {
 public:
  static Result<std::unique_ptr<Segment>> create(Token token,
                                                 std::span<const DeviceConfiguration> devices);
  static Result<std::unique_ptr<Segment>> map(UniqueFd descriptor);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  int descriptor() const { return descriptor_.get(); }
  const Secret& secret() const { return secret_; }  // of one that was created here

  SegmentHeader& header() { return *reinterpret_cast<SegmentHeader*>(base_); }
  // Each masks the index to its table.
  SharedQueuePair& queue_pair(std::uint32_t index) {
    return reinterpret_cast<SharedQueuePair*>(base_ + kQueuePairsAt)[index & (kQueuePairs - 1)];
  }
  SharedCompletionQueue& completion_queue(std::uint32_t index) {
    return reinterpret_cast<SharedCompletionQueue*>(
        base_ + kCompletionQueuesAt)[index & (kCompletionQueues - 1)];
  }
  SharedRegion& region(std::uint32_t index) {
    return reinterpret_cast<SharedRegion*>(base_ + kRegionsAt)[index & (kRegions - 1)];
  }
  SharedExport& exported(std::uint32_t region) {
    return reinterpret_cast<SharedExport*>(base_ + kExportsAt)[region & (kRegions - 1)];
  }
  SharedFlow& flow(std::uint32_t index);
  SharedMember& member(std::uint32_t index);
  SharedListener& listener(std::uint32_t index);
  SharedSrq& srq(std::uint32_t index);
  ServiceRequest& service_request(std::uint32_t index);

  static constexpr bool is_in_arena(std::uint64_t offset, std::uint64_t length) {
    return offset >= kArenaAt && offset <= kSegmentBytes && length <= kSegmentBytes - offset &&
           offset % 64 == 0;
  }
  // The bytes [offset, offset + length) of the arena, always at the same address, or nullptr when
  // they leave it or can no longer be mapped. Hot.
  void* arena(std::uint64_t offset, std::uint64_t length);

  // Owner only; whole pages, zeroed, and mapped. ENOMEM when the arena is full, or the process may
  // map no more.
  Result<std::uint64_t> allocate(std::uint64_t bytes);
  void free(std::uint64_t offset);

  // Around a fork. No mapping is inherited (see map_all); in the child, every one of this process's
  // segments, its own and its peers', becomes private zeros at the same place, for what still
  // points there, and its descriptor is closed.
  static void prepare_fork();
  static void parent_of_fork();
  static void child_of_fork();

 private:
  // View i shows the first `view_bytes(i)` of the arena. A view stays where it is, and larger ones
  // show the same pages again, so no pointer into the arena ever goes stale.
  static constexpr std::uint64_t kNearArena = std::uint64_t{32} << 20;
  static constexpr std::uint64_t kFirstBytes = kArenaAt + kNearArena;  // mapped at once
  static constexpr std::size_t kViews = std::countr_zero(kArenaBytes / kNearArena);
  static constexpr std::uint64_t view_bytes(std::size_t view) { return kNearArena << (view + 1); }

  Segment(UniqueFd descriptor, std::byte* base);
  std::byte* view_up_to(std::uint64_t end);

  UniqueFd descriptor_;
  std::byte* base_;  // the tables, and the near part of the arena behind them
  Secret secret_{};

  std::mutex mutex_;
  FreeSpace arena_{kArenaAt, kSegmentBytes};             // offsets; under mutex_
  std::array<std::atomic<std::byte*>, kViews> views_{};  // set under mutex_
};

}  // namespace gdr::rnic

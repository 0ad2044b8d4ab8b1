#include "staged.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gdr::bench {
namespace {

// Chunks of one transfer after another; their numbers go on.
class Chunks {
 public:
  Chunks(std::size_t bytes, std::size_t chunk)
      : bytes_(bytes), chunk_(chunk), each_((bytes + chunk - 1) / chunk) {}
  std::uint64_t each() const { return each_; }
  // A single chunk may be as large as the buffers are.
  std::uint64_t slots() const { return each_ == 1 ? 1 : kStagedSlots; }
  std::size_t slot(std::uint64_t number) const { return number % slots() * chunk_; }
  std::size_t offset(std::uint64_t number) const { return number % each_ * chunk_; }
  std::size_t length(std::uint64_t number) const {
    return std::min(chunk_, bytes_ - offset(number));
  }
  static int mark(std::uint64_t number) { return static_cast<int>(number % kStagedSlots); }

 private:
  const std::size_t bytes_, chunk_;
  const std::uint64_t each_;
};

template <typename Condition>
void spin_until(Condition&& condition) {
  for (int turn = 1; !condition(); ++turn) {
    if (turn % 1024 == 0) sched_yield();  // where both processes share a core
  }
}

}  // namespace

void give_staged(Side& side, std::size_t bytes, std::size_t chunk, int count) {
  const Chunks chunks(bytes, chunk);
  const std::uint64_t gpu = side.own(Memory::kGpu).address;
  const Place& pinned = side.own(Memory::kPinned);
  Flags& flags = side.flags();
  std::uint64_t fetched = 0;
  std::uint64_t sent = 0;
  for (int transfer = 1; transfer <= count; ++transfer) {
    const std::uint64_t end = chunks.each() * static_cast<std::uint64_t>(transfer);
    while (sent < end) {
      for (; fetched < end && fetched < sent + chunks.slots(); ++fetched) {
        side.gpu().copy(pinned.address + chunks.slot(fetched), gpu + chunks.offset(fetched),
                        chunks.length(fetched), Gpu::Kind::kToHost);
        side.gpu().mark(Chunks::mark(fetched));
      }
      side.gpu().await(Chunks::mark(sent));
      spin_until([&] { return flags.consumed.load() + chunks.slots() > sent; });
      side.link().post(IBV_WR_RDMA_WRITE, pinned, side.peers(Memory::kPinned), chunks.slot(sent),
                       chunks.length(sent));
      side.link().take();
      flags.arrived.store(++sent);
    }
    spin_until([&] { return flags.consumed.load() == end; });
  }
}

void take_staged(Side& side, std::size_t bytes, std::size_t chunk, int count) {
  const Chunks chunks(bytes, chunk);
  const std::uint64_t gpu = side.own(Memory::kGpu).address;
  const std::uint64_t pinned = side.own(Memory::kPinned).address;
  Flags& flags = side.flags();
  const std::uint64_t end = chunks.each() * static_cast<std::uint64_t>(count);
  std::uint64_t started = 0;
  std::uint64_t consumed = 0;
  spin_until([&] {
    if (started < flags.arrived.load()) {
      side.gpu().copy(gpu + chunks.offset(started), pinned + chunks.slot(started),
                      chunks.length(started), Gpu::Kind::kFromHost);
      side.gpu().mark(Chunks::mark(started));
      ++started;
    }
    if (consumed < started && side.gpu().passed(Chunks::mark(consumed))) {
      flags.consumed.store(++consumed);
    }
    return consumed == end;
  });
}

}  // namespace gdr::bench

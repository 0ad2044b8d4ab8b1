#include "observe/exports.h"

namespace gdr::observe {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

}  // namespace

void Exports::record(const Export& made) {
  Slot& slot = slots_[count_.fetch_add(1, kRelaxed) % kMost];
  std::uint64_t sequence = slot.sequence.load(kRelaxed);
  // Taken by a writer that is a whole round late: its record goes unseen rather than two mixed.
  if (sequence % 2 != 0 || !slot.sequence.compare_exchange_strong(sequence, sequence + 1)) return;
  std::atomic_thread_fence(std::memory_order_release);
  slot.device.store(made.device, kRelaxed);
  slot.inode.store(made.inode, kRelaxed);
  slot.process.store(static_cast<std::uint64_t>(made.process), kRelaxed);
  slot.address.store(made.memory.address, kRelaxed);
  slot.bytes.store(made.memory.bytes, kRelaxed);
  slot.identity.store(made.memory.identity, kRelaxed);
  slot.sequence.store(sequence + 2, std::memory_order_release);
}

bool Exports::read(const Slot& slot, Export* made) {
  const std::uint64_t before = slot.sequence.load(std::memory_order_acquire);
  if (before % 2 != 0) return false;
  made->device = slot.device.load(kRelaxed);
  made->inode = slot.inode.load(kRelaxed);
  made->process = static_cast<pid_t>(slot.process.load(kRelaxed));
  made->memory = {slot.address.load(kRelaxed), slot.bytes.load(kRelaxed),
                  slot.identity.load(kRelaxed)};
  std::atomic_thread_fence(std::memory_order_acquire);
  return slot.sequence.load(kRelaxed) == before;
}

bool Exports::find(std::uint64_t device, std::uint64_t inode, pid_t process,
                   cuda::ObservedDmaBuf* found) const {
  const std::uint64_t count = count_.load(std::memory_order_acquire);
  const std::uint64_t oldest = count > kMost ? count - kMost : 0;
  // Newest first: a number may have been given again.
  for (std::uint64_t at = count; at > oldest; --at) {
    Export made;
    if (read(slots_[(at - 1) % kMost], &made) && made.device == device && made.inode == inode &&
        made.process == process) {
      *found = made.memory;
      return true;
    }
  }
  return false;
}

}  // namespace gdr::observe

// Exports: the dma-bufs that this process exported last, by the number of their file.
//
//   exports.record({status.st_dev, status.st_ino, getpid(), {address, bytes, identity}});
//   if (exports.find(status.st_dev, status.st_ino, getpid(), &found)) ...
//
// Any thread, at any time, without a lock: a child of fork() must not inherit one that nobody
// releases. Nothing tells when a dma-buf is closed, so the oldest record makes room for the newest;
// what is zero-initialised and never used costs no memory.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda/observed_dma_buf.h"

namespace gdr::observe {

struct Export {
  std::uint64_t device = 0, inode = 0;
  pid_t process = 0;  // a child has its parent's records, and none of its memory
  cuda::ObservedDmaBuf memory;
};

class Exports {
 public:
  static constexpr std::size_t kMost = 16384;

  void record(const Export& made);
  bool find(std::uint64_t device, std::uint64_t inode, pid_t process,
            cuda::ObservedDmaBuf* found) const;

 private:
  // `sequence` is odd while a record is written.
  struct Slot {
    std::atomic<std::uint64_t> sequence;
    std::atomic<std::uint64_t> device, inode, process, address, bytes, identity;
  };
  static bool read(const Slot& slot, Export* made);

  std::atomic<std::uint64_t> count_;
  std::array<Slot, kMost> slots_;
};

}  // namespace gdr::observe

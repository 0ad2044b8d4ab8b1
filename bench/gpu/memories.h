// Memories: a process's GPU and its memory of three kinds, with a pattern in it or compared with
// one.
//
//   Memories memories(options, /*ordinal=*/0);
//   memories.fill(Memory::kGpu, bytes, seed);
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "gpu.h"
#include "options.h"

namespace gdr::bench {

enum class Memory : std::uint32_t { kGpu, kPinned, kOrdinary };
constexpr std::size_t kMemories = 3;

class Memories {
 public:
  Memories(const Options& options, int ordinal);

  Gpu& gpu() { return gpu_; }
  std::uint64_t address(Memory memory) const { return at_[static_cast<std::size_t>(memory)]; }
  std::size_t bytes(Memory memory) const { return memory == Memory::kGpu ? gpu_bytes_ : bytes_; }

  void fill(Memory memory, std::size_t bytes, std::uint64_t seed);
  // As find_wrong() of pattern.h.
  std::uint64_t find_wrong(Memory memory, std::size_t bytes, std::uint64_t seed);

 private:
  const std::size_t bytes_, gpu_bytes_;
  Gpu gpu_;
  std::array<std::uint64_t, kMemories> at_{};
  std::uint64_t scratch_ = 0;
};

}  // namespace gdr::bench

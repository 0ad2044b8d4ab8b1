#include "memories.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fail.h"
#include "pattern.h"
#include "staged.h"

namespace gdr::bench {
namespace {

constexpr std::size_t kScratch = 8 << 20;

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
}

std::uint64_t allocate_ordinary(std::size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) fail("mmap of %zu bytes: %s", bytes, std::strerror(errno));
  return reinterpret_cast<std::uintptr_t>(memory);
}

}  // namespace

// A place in GPU memory for each transfer in flight: requests that overlap would have to wait for
// each other.
Memories::Memories(const Options& options, int ordinal)
    : bytes_(std::max(options.largest(), kStagedSlots * kStagedChunk)),
      gpu_bytes_(options.largest() * static_cast<std::size_t>(options.in_flight)),
      gpu_(ordinal) {
  at_ = {gpu_.allocate(gpu_bytes_, options.vmm), gpu_.allocate_pinned(bytes_),
         allocate_ordinary(bytes_)};
  scratch_ = gpu_.allocate_pinned(kScratch);
}

void Memories::fill(Memory memory, std::size_t bytes, std::uint64_t seed) {
  const std::uint64_t to = address(memory);
  if (memory != Memory::kGpu) return write_pattern(pointer(to), bytes, 0, seed);
  for (std::size_t at = 0; at < bytes; at += kScratch) {
    const std::size_t part = std::min(bytes - at, kScratch);
    write_pattern(pointer(scratch_), part, at / 8, seed);
    gpu_.copy(to + at, scratch_, part, Gpu::Kind::kFromHost);
    gpu_.finish();
  }
}

std::uint64_t Memories::find_wrong(Memory memory, std::size_t bytes, std::uint64_t seed) {
  const std::uint64_t from = address(memory);
  if (memory != Memory::kGpu) return bench::find_wrong(pointer(from), bytes, 0, seed);
  for (std::size_t at = 0; at < bytes; at += kScratch) {
    const std::size_t part = std::min(bytes - at, kScratch);
    gpu_.copy(scratch_, from + at, part, Gpu::Kind::kToHost);
    gpu_.finish();
    const std::uint64_t wrong = bench::find_wrong(pointer(scratch_), part, at / 8, seed);
    if (wrong != kAllRight) return wrong;
  }
  return kAllRight;
}

}  // namespace gdr::bench

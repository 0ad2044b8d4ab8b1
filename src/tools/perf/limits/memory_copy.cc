#include "perf/limits/memory_copy.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace gdr::perf {
namespace {

constexpr std::uint64_t kPiece = 1 << 20;
constexpr std::uint64_t kLeast = 64 << 20, kMost = 256 << 20;  // of each buffer
constexpr std::uint64_t kLargestMessage = 64 << 20;
constexpr int kSlices = 5;

struct Unmap {
  std::uint64_t size = 0;
  void operator()(char* at) const { munmap(at, size); }
};
using Buffer = std::unique_ptr<char, Unmap>;

// In large pages where the kernel has them: their lookup is not what is measured.
Buffer make_buffer(std::uint64_t size) {
  void* at = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) return {};
  (void)madvise(at, size, MADV_HUGEPAGE);
  return Buffer(static_cast<char*>(at), Unmap{size});
}

// More than the last-level cache holds, in both buffers together.
std::uint64_t streaming_size() {
  const long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return std::clamp(cache > 0 ? static_cast<std::uint64_t>(cache) : kLeast, kLeast, kMost) /
         kPiece * kPiece;
}

// The copy must happen, although nobody looks at what it made.
void copy(char* to, const char* from, std::uint64_t size) {
  memcpy(to, from, size);
  asm volatile("" : : "r"(to) : "memory");
}

}  // namespace

double measure_memory_copy(std::uint64_t message, Nanoseconds time) {
  const Nanoseconds begin = now();
  const std::uint64_t region = message == 0 ? streaming_size() : std::min(message, kLargestMessage);
  const std::uint64_t piece = message == 0 ? kPiece : region;
  const Buffer from = make_buffer(region), to = make_buffer(region);
  if (!from || !to) return 0;
  // First touches take time as well, so a slow machine measures on a part.
  std::uint64_t touched = 0;
  for (; touched < region && (touched == 0 || now() - begin < time / 2);
       touched += std::min(piece, region - touched)) {
    memset(from.get() + touched, 1, std::min(piece, region - touched));
    memset(to.get() + touched, 1, std::min(piece, region - touched));
  }
  // Small messages: so many copies between two looks at the clock that these cost nothing.
  const std::uint64_t copies = std::max<std::uint64_t>(1, (std::uint64_t{64} << 10) / piece);
  const Nanoseconds start = now();
  const Nanoseconds rest = start - begin < time ? time - (start - begin) : 0;
  double best = 0;
  std::uint64_t at = 0;
  for (int slice = 0; slice < kSlices; ++slice) {
    const Nanoseconds first = now();
    Nanoseconds elapsed = 0;
    std::uint64_t bytes = 0;
    do {
      for (std::uint64_t i = 0; i < copies; ++i) copy(to.get() + at, from.get() + at, piece);
      bytes += copies * piece;
      at = at + 2 * piece <= touched ? at + piece : 0;
      elapsed = now() - first;
    } while (elapsed == 0 || elapsed < rest / kSlices);
    best = std::max(best, static_cast<double>(bytes) * 1e9 / static_cast<double>(elapsed));
  }
  return best;
}

}  // namespace gdr::perf

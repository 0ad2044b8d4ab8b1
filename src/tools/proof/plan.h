// What is transferred: modes, directions, sizes, offsets. One list of modes, one of sizes.
//
//   Result<std::vector<std::uint64_t>> sizes = parse_sizes("1,4K,1M+13");
//   std::vector<Case> cases = plan_cases(mode, directions, sizes, limits);
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "proof/messages.h"

namespace gdr::proof {

constexpr std::uint64_t kLargestSize = std::uint64_t{1} << 30;

struct Direction {
  MemoryKind from = MemoryKind::kHost;
  MemoryKind to = MemoryKind::kDevice;
};

// One transfer. Offsets are from where the first byte of data could lie at the earliest.
struct Case {
  Direction direction;
  std::uint64_t size = 0;
  std::uint64_t source_offset = 0;
  std::uint64_t target_offset = 0;
};

// The least and the most bytes that a mode moves in one go.
struct Limits {
  std::uint64_t least = 1;
  std::uint64_t most = kLargestSize;
};

// What fills the space around offsets: no offset is larger.
constexpr std::uint64_t kLargestOffset = 4096;

std::span<const std::uint64_t> default_sizes();

// "1,64K,1M-1,1M+13": K, M and G are powers of 1024. EINVAL names what was wrong.
Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text);

// "4097 B", "64 KiB", "1 MiB + 13 B"
std::string size_text(std::uint64_t bytes);
// "1 B to 64 MiB", or one size.
std::string sizes_text(std::uint64_t least, std::uint64_t most);

// "host", "GPU", "GPU VMM"
std::string_view memory_text(MemoryKind kind);
// "cuMemAlloc": the driver's call for such memory
std::string_view allocation_text(MemoryKind kind);
std::string direction_text(const Direction& direction);

// Every size within the limits, at odd offsets that differ between source and target. A size beyond
// the limits becomes the limit, once, so that the largest message is always tried.
std::vector<Case> plan_cases(const Direction& direction, std::span<const std::uint64_t> sizes,
                             const Limits& limits);

}  // namespace gdr::proof

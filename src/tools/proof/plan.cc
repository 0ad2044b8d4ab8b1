#include "proof/plan.h"

#include <algorithm>

#include "base/environment.h"

namespace gdr::proof {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;
constexpr std::uint64_t kGiB = 1024 * kMiB;

constexpr std::uint64_t kDefaultSizes[] = {
    1,    2,    3,     7,     8,     63,       64,        65,       511,      4095,
    4096, 4097, 65535, 65536, 65537, kMiB - 1, kMiB + 13, 8 * kMiB, 64 * kMiB};

// Offsets that are odd, cross a word, a cache line, a page.
constexpr std::uint64_t kSourceOffsets[] = {0, 1, 3, 8, 61, 64, 127, 4095};
constexpr std::uint64_t kTargetOffsets[] = {5, 0, 1, 4093, 2, 67, 64};

Error bad_size(std::string_view text) {
  return {EINVAL, "unknown size '" + std::string(text) +
                      "'; allowed: 1 to 1G bytes, such as 1, 4097, 64K, 1M-1, 1M+13"};
}

std::uint64_t unit_of(char letter) {
  switch (letter) {
    case 'K':
    case 'k':
      return kKiB;
    case 'M':
    case 'm':
      return kMiB;
    case 'G':
    case 'g':
      return kGiB;
    default:
      return 1;
  }
}

// "64K" or "4097"
Result<std::uint64_t> parse_plain(std::string_view text) {
  std::uint64_t unit = 1;
  if (!text.empty()) unit = unit_of(text.back());
  if (unit > 1) text.remove_suffix(1);
  Result<std::uint64_t> number = parse_number(text, 0, kLargestSize);
  if (!number) return number.error();
  return *number > kLargestSize / unit ? Result<std::uint64_t>(Error{ERANGE, ""})
                                       : Result<std::uint64_t>(*number * unit);
}

Result<std::uint64_t> parse_size(std::string_view text) {
  const auto sign = text.find_first_of("+-");
  Result<std::uint64_t> size = parse_plain(text.substr(0, sign));
  if (!size) return bad_size(text);
  std::uint64_t value = *size;
  if (sign != std::string_view::npos) {
    Result<std::uint64_t> change = parse_plain(text.substr(sign + 1));
    if (!change || (text[sign] == '-' && *change > value)) return bad_size(text);
    value = text[sign] == '-' ? value - *change : value + *change;
  }
  if (value < 1 || value > kLargestSize) return bad_size(text);
  return value;
}

}  // namespace

std::span<const std::uint64_t> default_sizes() { return kDefaultSizes; }

Result<std::vector<std::uint64_t>> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (std::string_view part : split(text, ',')) {
    Result<std::uint64_t> size = parse_size(part);
    if (!size) return size.error();
    sizes.push_back(*size);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= kGiB && bytes % kGiB == 0) return std::to_string(bytes / kGiB) + " GiB";
  if (bytes >= kMiB && bytes % kMiB <= 64) {
    const std::uint64_t rest = bytes % kMiB;
    return std::to_string(bytes / kMiB) + " MiB" +
           (rest ? " + " + std::to_string(rest) + " B" : std::string());
  }
  if (bytes >= 16 * kKiB && bytes < kMiB && bytes % kKiB == 0) {
    return std::to_string(bytes / kKiB) + " KiB";
  }
  return std::to_string(bytes) + " B";
}

std::string sizes_text(std::uint64_t least, std::uint64_t most) {
  return least == most ? size_text(least) : size_text(least) + " to " + size_text(most);
}

std::string_view memory_text(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDevice:
      return "GPU";
    case MemoryKind::kDeviceVmm:
      return "GPU VMM";
    default:
      return "host";
  }
}

std::string_view allocation_text(MemoryKind kind) {
  return kind == MemoryKind::kDeviceVmm ? "cuMemCreate" : "cuMemAlloc";
}

std::string direction_text(const Direction& direction) {
  return std::string(memory_text(direction.from)) + " → " + std::string(memory_text(direction.to));
}

std::vector<Case> plan_cases(const Direction& direction, std::span<const std::uint64_t> sizes,
                             const Limits& limits) {
  std::vector<std::uint64_t> fitting;
  for (std::uint64_t size : sizes) fitting.push_back(std::clamp(size, limits.least, limits.most));
  std::sort(fitting.begin(), fitting.end());
  fitting.erase(std::unique(fitting.begin(), fitting.end()), fitting.end());
  std::vector<Case> cases;
  for (std::size_t i = 0; i < fitting.size(); ++i) {
    cases.push_back({direction, fitting[i], kSourceOffsets[i % std::size(kSourceOffsets)],
                     kTargetOffsets[i % std::size(kTargetOffsets)]});
  }
  return cases;
}

}  // namespace gdr::proof

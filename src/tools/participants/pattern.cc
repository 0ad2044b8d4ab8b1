#include "participants/pattern.h"

#include <string.h>

#include <algorithm>
#include <bit>
#include <vector>

namespace gdr::participants {
namespace {

// The finalizer of SplitMix64: every output bit depends on every input bit.
constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

constexpr std::uint64_t word(std::uint64_t seed, std::uint64_t index) {
  return mix(seed * 0x9e3779b97f4a7c15ull + index);
}

// Enough bytes that a chance match elsewhere is out of the question.
constexpr std::size_t kNeedle = 16;

struct Changes {
  std::size_t count = 0;
  std::size_t first = 0;
  std::size_t last = 0;
};

template <typename Same>
Changes changes(std::size_t size, Same same) {
  Changes found;
  for (std::size_t i = 0; i < size; ++i) {
    if (same(i)) continue;
    if (found.count++ == 0) found.first = i;
    found.last = i;
  }
  return found;
}

Changes differences(std::span<const std::byte> a, std::span<const std::byte> b) {
  if (memcmp(a.data(), b.data(), a.size()) == 0) return {};
  return changes(a.size(), [&](std::size_t i) { return a[i] == b[i]; });
}

class Examination {
 public:
  explicit Examination(const Window& window)
      : window_(window),
        data_(window.bytes.subspan(window.guard, window.expected.size())),
        before_(window.bytes.size()) {
    fill_pattern(window.before_seed, window.position, before_);
  }

  Finding run() {
    Finding finding;
    finding.length = data_.size();
    examine_guards(finding);
    const Changes wrong = differences(data_, window_.expected);
    if (wrong.count == 0) {
      if (finding.guard_before + finding.guard_behind > 0)
        finding.kind = Finding::Kind::kGuardOverwritten;
      return finding;
    }
    finding.offset = wrong.first;
    finding.count = wrong.count;
    finding.kind = classify(wrong, finding);
    return finding;
  }

 private:
  using Kind = Finding::Kind;

  void examine_guards(Finding& finding) const {
    const std::size_t behind = window_.guard + data_.size();
    const auto bytes = window_.bytes;
    const std::span<const std::byte> before(before_);
    finding.guard_before =
        differences(bytes.first(window_.guard), before.first(window_.guard)).count;
    finding.guard_behind = differences(bytes.subspan(behind), before.subspan(behind)).count;
  }

  Kind classify(const Changes& wrong, Finding& finding) const {
    if (find_displaced(finding)) return Kind::kDisplaced;
    const std::span<const std::byte> before =
        std::span<const std::byte>(before_).subspan(window_.guard, data_.size());
    const Changes arrived = differences(data_, before);
    if (arrived.count == 0) return Kind::kUnchanged;
    if (is_stale()) return Kind::kStale;
    if (wrong.count == 1) {
      const auto flipped =
          static_cast<unsigned>(data_[wrong.first] ^ window_.expected[wrong.first]);
      if (std::popcount(flipped) == 1) {
        finding.bit = static_cast<std::uint8_t>(std::countr_zero(flipped));
        return Kind::kBitFlipped;
      }
    }
    const std::size_t span = wrong.last - wrong.first + 1;
    if (memcmp(data_.data() + wrong.first, before.data() + wrong.first, span) == 0) {
      finding.count = span;
      return wrong.last + 1 == data_.size() ? Kind::kTailMissing : Kind::kPartMissing;
    }
    return Kind::kCorrupted;
  }

  // The data's beginning at another place than its own, where that place changed. Short data must
  // be found whole.
  bool find_displaced(Finding& finding) const {
    const auto bytes = window_.bytes;
    const auto needle = window_.expected.first(std::min(kNeedle, window_.expected.size()));
    for (std::size_t from = 0; from + needle.size() <= bytes.size();) {
      const void* hit =
          memmem(bytes.data() + from, bytes.size() - from, needle.data(), needle.size());
      if (!hit) return false;
      const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(hit) - bytes.data());
      from = at + 1;
      if (at == window_.guard) continue;
      // One or two bytes occur by chance: count only memory that changed.
      if (memcmp(bytes.data() + at, before_.data() + at, needle.size()) == 0) continue;
      if (!changed_only_at(at, needle.size())) continue;
      finding.displacement =
          static_cast<std::int64_t>(at) - static_cast<std::int64_t>(window_.guard);
      return true;
    }
    return false;
  }

  // For short data: nothing in the window changed but the place where it was found.
  bool changed_only_at(std::size_t at, std::size_t size) const {
    if (size >= kNeedle / 2) return true;
    const Changes all = differences(window_.bytes, before_);
    return all.count > 0 && all.first >= at && all.last < at + size;
  }

  bool is_stale() const {
    if (window_.previous_seed == 0) return false;
    std::vector<std::byte> previous(data_.size());
    fill_pattern(window_.previous_seed, 0, previous);
    return differences(data_, previous).count == 0;
  }

  const Window& window_;
  std::span<const std::byte> data_;
  std::vector<std::byte> before_;
};

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string guard_text(const Finding& finding) {
  std::string text;
  if (finding.guard_before) text = bytes_text(finding.guard_before) + " before the data";
  if (finding.guard_behind) {
    if (!text.empty()) text += " and ";
    text += bytes_text(finding.guard_behind) + " behind the data";
  }
  return text;
}

std::string describe_data(const Finding& f) {
  using Kind = Finding::Kind;
  switch (f.kind) {
    case Kind::kIntact:
      return "every byte right, guards untouched";
    case Kind::kUnchanged:
      return "the memory is unchanged: none of " + bytes_text(f.length) + " arrived";
    case Kind::kDisplaced:
      return "the data is displaced by " + std::string(f.displacement < 0 ? "" : "+") +
             std::to_string(f.displacement) + " bytes";
    case Kind::kStale:
      return "stale data: what the source held before this transfer arrived";
    case Kind::kBitFlipped:
      return "one bit flipped: bit " + std::to_string(f.bit) + " of byte " +
             std::to_string(f.offset) + " of " + std::to_string(f.length);
    case Kind::kTailMissing:
      return "the tail is missing: the last " + bytes_text(f.count) + " of " +
             std::to_string(f.length) + " did not arrive";
    case Kind::kPartMissing:
      return "a part is missing: " + bytes_text(f.count) + " from offset " +
             std::to_string(f.offset) + " of " + std::to_string(f.length) + " did not arrive";
    case Kind::kCorrupted:
      return bytes_text(f.count) + " of " + std::to_string(f.length) +
             " wrong, the first at offset " + std::to_string(f.offset);
    case Kind::kGuardOverwritten:
      return "guard overwritten: " + guard_text(f);
  }
  return "unknown finding";
}

}  // namespace

std::byte pattern_byte(std::uint64_t seed, std::uint64_t position) {
  return static_cast<std::byte>(word(seed, position / 8) >> (8 * (position % 8)));
}

void fill_pattern(std::uint64_t seed, std::uint64_t position, std::span<std::byte> bytes) {
  std::size_t i = 0;
  for (; i < bytes.size() && (position + i) % 8 != 0; ++i)
    bytes[i] = pattern_byte(seed, position + i);
  for (; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t eight = word(seed, (position + i) / 8);
    memcpy(bytes.data() + i, &eight, sizeof eight);
  }
  for (; i < bytes.size(); ++i) bytes[i] = pattern_byte(seed, position + i);
}

Finding examine(const Window& window) { return Examination(window).run(); }

std::string describe(const Finding& finding) {
  std::string text = describe_data(finding);
  // A displaced block explains the guard it landed in.
  const bool guards = finding.guard_before + finding.guard_behind > 0;
  if (guards && finding.kind != Finding::Kind::kGuardOverwritten &&
      finding.kind != Finding::Kind::kDisplaced) {
    text += "; guard overwritten: " + guard_text(finding);
  }
  return text;
}

}  // namespace gdr::participants

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
  explicit Examination(const GuardedRange& range)
      : range_(range),
        data_(range.bytes.subspan(range.guard, range.expected.size())),
        before_(range.bytes.size()) {
    fill_pattern(range.before_seed, range.position, before_);
  }

  Damage run() {
    Damage damage;
    damage.length = data_.size();
    examine_guards(damage);
    const Changes wrong = differences(data_, range_.expected);
    if (wrong.count == 0) {
      if (damage.guard_before + damage.guard_behind > 0)
        damage.kind = Damage::Kind::kGuardOverwritten;
      return damage;
    }
    damage.offset = wrong.first;
    damage.count = wrong.count;
    damage.kind = classify(wrong, damage);
    return damage;
  }

 private:
  using Kind = Damage::Kind;

  void examine_guards(Damage& damage) const {
    const std::size_t behind = range_.guard + data_.size();
    const auto bytes = range_.bytes;
    const std::span<const std::byte> before(before_);
    damage.guard_before = differences(bytes.first(range_.guard), before.first(range_.guard)).count;
    damage.guard_behind = differences(bytes.subspan(behind), before.subspan(behind)).count;
  }

  Kind classify(const Changes& wrong, Damage& damage) const {
    if (find_displaced(damage)) return Kind::kDisplaced;
    const std::span<const std::byte> before =
        std::span<const std::byte>(before_).subspan(range_.guard, data_.size());
    const Changes arrived = differences(data_, before);
    if (arrived.count == 0) return Kind::kUnchanged;
    if (is_stale()) return Kind::kStale;
    if (wrong.count == 1) {
      const auto flipped = static_cast<unsigned>(data_[wrong.first] ^ range_.expected[wrong.first]);
      if (std::popcount(flipped) == 1) {
        damage.bit = static_cast<std::uint8_t>(std::countr_zero(flipped));
        return Kind::kBitFlipped;
      }
    }
    const std::size_t span = wrong.last - wrong.first + 1;
    if (memcmp(data_.data() + wrong.first, before.data() + wrong.first, span) == 0) {
      damage.count = span;
      return wrong.last + 1 == data_.size() ? Kind::kTailMissing : Kind::kPartMissing;
    }
    return Kind::kCorrupted;
  }

  // The data's beginning at another place than its own, where that place changed. Short data must
  // be found whole.
  bool find_displaced(Damage& damage) const {
    const auto bytes = range_.bytes;
    const auto needle = range_.expected.first(std::min(kNeedle, range_.expected.size()));
    for (std::size_t from = 0; from + needle.size() <= bytes.size();) {
      const void* hit =
          memmem(bytes.data() + from, bytes.size() - from, needle.data(), needle.size());
      if (!hit) return false;
      const auto at = static_cast<std::size_t>(static_cast<const std::byte*>(hit) - bytes.data());
      from = at + 1;
      if (at == range_.guard) continue;
      // One or two bytes occur by chance: count only memory that changed.
      if (memcmp(bytes.data() + at, before_.data() + at, needle.size()) == 0) continue;
      if (!changed_only_at(at, needle.size())) continue;
      damage.displacement = static_cast<std::int64_t>(at) - static_cast<std::int64_t>(range_.guard);
      return true;
    }
    return false;
  }

  // For short data: nothing in the range changed but the place where it was found.
  bool changed_only_at(std::size_t at, std::size_t size) const {
    if (size >= kNeedle / 2) return true;
    const Changes all = differences(range_.bytes, before_);
    return all.count > 0 && all.first >= at && all.last < at + size;
  }

  bool is_stale() const {
    if (range_.previous_seed == 0) return false;
    std::vector<std::byte> previous(data_.size());
    fill_pattern(range_.previous_seed, 0, previous);
    return differences(data_, previous).count == 0;
  }

  const GuardedRange& range_;
  std::span<const std::byte> data_;
  std::vector<std::byte> before_;
};

std::string bytes_text(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " byte" : " bytes");
}

std::string guard_text(const Damage& damage) {
  std::string text;
  if (damage.guard_before) text = bytes_text(damage.guard_before) + " before the data";
  if (damage.guard_behind) {
    if (!text.empty()) text += " and ";
    text += bytes_text(damage.guard_behind) + " behind the data";
  }
  return text;
}

std::string describe_data(const Damage& f) {
  using Kind = Damage::Kind;
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
  return "unknown damage";
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

Damage examine(const GuardedRange& range) { return Examination(range).run(); }

std::string describe(const Damage& damage) {
  std::string text = describe_data(damage);
  // A displaced block explains the guard it landed in.
  const bool guards = damage.guard_before + damage.guard_behind > 0;
  if (guards && damage.kind != Damage::Kind::kGuardOverwritten &&
      damage.kind != Damage::Kind::kDisplaced) {
    text += "; guard overwritten: " + guard_text(damage);
  }
  return text;
}

}  // namespace gdr::participants

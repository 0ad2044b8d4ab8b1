// Reading words and numbers out of a message, each step of which may find something else there.
//
//   Words words("Channel 00/1 : 0[0] -> 1[1]");
//   if (words.skip("Channel ")) {
//     const std::optional<std::int64_t> channel = words.number();  // 0
//   }
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>

namespace gdr::nccl {

// The whole text as a decimal number that is not negative.
inline std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') {
    return std::nullopt;
  }
  return value;
}

class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool at_end() const { return rest_.empty(); }

  // Past `text`, if that is what comes next.
  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  // Past the first `text` in what is left, if it has one.
  bool skip_to(std::string_view text) {
    const std::size_t at = rest_.find(text);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + text.size());
    return true;
  }

  // Decimal, not negative.
  std::optional<std::int64_t> number() {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || rest_.front() == '-') return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  // Up to the first of `stops`, which stays; everything if none is there.
  std::string_view until(std::string_view stops) {
    const std::string_view found = rest_.substr(0, rest_.find_first_of(stops));
    rest_.remove_prefix(found.size());
    return found;
  }

 private:
  std::string_view rest_;
};

}  // namespace gdr::nccl

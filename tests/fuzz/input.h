// What a fuzzer's bytes are read with, one after the other and 0 behind their end; and what it
// claims.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

namespace gdr::test {

inline void require(bool claim) {
  if (!claim) std::abort();
}

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}
  bool empty() const { return bytes_.empty(); }
  std::span<const std::uint8_t> rest() const { return bytes_; }

  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t first = bytes_[0];
    bytes_ = bytes_.subspan(1);
    return first;
  }
  std::int8_t delta() { return static_cast<std::int8_t>(byte()); }
  // A number of 16 bits.
  std::uint32_t number() {
    const std::uint32_t low = byte();
    return low | static_cast<std::uint32_t>(byte()) << 8;
  }
  // Fewer at the end.
  template <typename Byte = std::byte>
  std::vector<Byte> bytes(std::size_t count) {
    std::vector<Byte> taken(std::min(count, bytes_.size()));
    if (!taken.empty()) std::memcpy(taken.data(), bytes_.data(), taken.size());
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace gdr::test

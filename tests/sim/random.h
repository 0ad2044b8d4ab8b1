// The same numbers from the same seed on every machine (splitmix64).
#pragma once

#include <cstdint>

namespace gdr::sim {

constexpr std::uint32_t kMillion = 1'000'000;

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15 + 1) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  // 0 to n - 1.
  std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(next() % n); }
  bool chance(std::uint32_t per_million) { return below(kMillion) < per_million; }

 private:
  std::uint64_t state_;
};

}  // namespace gdr::sim

// Random numbers that are the same everywhere for the same seed: what std::shuffle does is each
// library's own affair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gdr::fabric {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // SplitMix64.
  std::uint64_t next() {
    std::uint64_t value = state_ += 0x9E3779B97F4A7C15;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EB;
    return value ^ (value >> 31);
  }
  // Below `limit`, which is not 0. The bias is of the order of limit / 2^64.
  std::uint64_t below(std::uint64_t limit) { return next() % limit; }

  template <typename T>
  void shuffle(std::vector<T>* values) {
    for (std::size_t left = values->size(); left > 1; --left) {
      std::swap((*values)[left - 1], (*values)[below(left)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace gdr::fabric

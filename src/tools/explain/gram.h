// Grams: four bytes of a text as one number. A word that is searched for is found by its rarest
// gram, so that ordinary text seldom has something to compare; which are rare is counted in prose.
//
//   GramCounts prose;
//   prose.add("the memory of the device cannot be registered");
//   prose.rarest("memory_peers");  // {3, 0}: "ory_", which the prose does not have
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace gdr::explain {

constexpr std::size_t kGram = 4;

inline std::uint32_t gram_at(const char* text) {
  std::uint32_t gram = 0;
  std::memcpy(&gram, text, kGram);
  return gram;
}

constexpr unsigned kGramPlaceBits = 16;

// Fibonacci hashing (Knuth, volume 3, 6.4): below 1 << kGramPlaceBits.
inline std::uint32_t place_of(std::uint32_t gram) {
  return gram * 0x9e3779b1u >> (32 - kGramPlaceBits);
}

class GramCounts {
 public:
  GramCounts() : times_(std::size_t{1} << kGramPlaceBits, 0) {}

  void add(std::string_view text);

  struct Rarest {
    std::size_t at = 0;  // in the word
    std::uint32_t times = 0;
  };
  // `word` has at least kGram bytes.
  [[nodiscard]] Rarest rarest(std::string_view word) const;

 private:
  std::vector<std::uint32_t> times_;  // by place
};

}  // namespace gdr::explain

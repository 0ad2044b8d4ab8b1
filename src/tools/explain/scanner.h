// Scanner: which of many words a line has, in one pass over it whatever their number. Each four
// bytes of the line are looked up among the words' rarest four; only where they are one's is that
// word compared. (As Rabin and Karp's search for many words, with a rare part of each word in place
// of its beginning.)
//
//   const Scanner scanner({"memory_peers", "Bad address"}, prose);
//   scanner.scan(line, [](std::size_t word) { ... });  // 0, 1, ...: their places in the list
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "explain/gram.h"

namespace gdr::explain {

class Scanner {
 public:
  // `prose` says which parts of a word are rare in what will be scanned; it decides about time
  // only.
  Scanner(std::vector<std::string> words, const GramCounts& prose);

  // A word may be told more than once.
  template <typename Sink>
  void scan(std::string_view line, const Sink& sink) const {
    for (const std::uint32_t word : short_) {
      if (line.find(words_[word]) != std::string_view::npos) sink(word);
    }
    for (std::size_t at = 0; at + kGram <= line.size(); ++at) {
      const std::uint32_t gram = gram_at(line.data() + at);
      const std::uint32_t place = place_of(gram);
      if ((used_[place / 64] >> place % 64 & 1) == 0) continue;
      for (std::uint32_t i = begin_[place]; i < begin_[place + 1]; ++i) {
        const Part& part = parts_[i];
        if (part.gram == gram && is_at(line, at, part)) sink(part.word);
      }
    }
  }

 private:
  // The rarest gram of a word, and where in the word it is.
  struct Part {
    std::uint32_t gram;
    std::uint32_t offset;
    std::uint32_t word;
  };

  [[nodiscard]] bool is_at(std::string_view line, std::size_t gram, const Part& part) const {
    return gram >= part.offset && line.substr(gram - part.offset).starts_with(words_[part.word]);
  }

  std::vector<std::string> words_;
  std::vector<std::uint32_t> short_;  // words that have no gram
  std::vector<Part> parts_;           // sorted by the place of their grams
  std::vector<std::uint32_t> begin_;  // by place: where its parts begin in parts_
  std::vector<std::uint64_t> used_;   // a bit a place: whether it has any, small enough for a cache
};

}  // namespace gdr::explain

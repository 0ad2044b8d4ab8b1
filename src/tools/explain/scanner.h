// Scanner: which of many words a line has, in one pass over it whatever their number (the automaton
// of Aho and Corasick, 1975), so that a log of 100 MB takes a second.
//
//   const Scanner scanner({"memory_peers", "Bad address"});
//   scanner.scan(line, [](std::size_t word) { ... });  // 0, 1, ...: their places in the list
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::explain {

class Scanner {
 public:
  explicit Scanner(const std::vector<std::string>& words);

  // Tells each occurrence: a word may be told more than once.
  template <typename Sink>
  void scan(std::string_view line, const Sink& sink) const {
    std::uint32_t state = 0;
    for (const char c : line) {
      state = next_[state * classes_ + class_of_[static_cast<unsigned char>(c)]];
      if (begin_[state] == begin_[state + 1]) continue;
      for (std::uint32_t at = begin_[state]; at < begin_[state + 1]; ++at) sink(ends_[at]);
    }
  }

 private:
  std::array<std::uint8_t, 256> class_of_{};  // bytes that no word has are one class
  std::uint32_t classes_ = 1;
  std::vector<std::uint32_t> next_;   // by state and class
  std::vector<std::uint32_t> begin_;  // by state: where its words begin in ends_
  std::vector<std::uint32_t> ends_;
};

}  // namespace gdr::explain

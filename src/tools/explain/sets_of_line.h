// SetsOfLine: which word sets a line has, found in one pass for all patterns that ask: hundreds of
// them want {fails} and no more of a line.
//
//   SetsOfLine sets;
//   sets.begin("ibv_reg_mr failed");
//   sets.has(*find_word_set("fails"));  // true
#pragma once

#include <string_view>
#include <vector>

#include "explain/word_set.h"

namespace gdr::explain {

class SetsOfLine {
 public:
  // `line`, as folded() gives it, must outlive what is asked about it.
  void begin(std::string_view line);
  bool has(const WordSet& set);

 private:
  void scan();

  std::string_view line_;
  bool scanned_ = false;
  std::vector<const WordSet*> present_;
  std::vector<const WordSet*> absent_;  // of those that were asked for
  std::vector<std::size_t> numbers_;    // where one of an error may begin
};

}  // namespace gdr::explain

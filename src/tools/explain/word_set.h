// WordSet: what many programs say in words of their own, under one name: that memory is registered,
// that something fails, error number 14. A pattern names a set in place of one program's wording,
// so that it also knows texts that nobody has posted yet.
//
//   const WordSet* fault = find_word_set("EFAULT");
//   fault->past("ret=14", 4);         // 6: the number, where an error number may stand
//   fault->past("bad address", 0);    // 11
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gdr::explain {

class WordSet {
 public:
  // Where its words may begin: anywhere, or not behind a letter, so that "deregister memory" is not
  // "register memory".
  enum class Begin { kAnywhere, kWord };

  // `number`: of an errno value, 0 for none. `words` are folded and of two bytes at
  // least; the first is shown to people.
  WordSet(const char* name, int number, Begin begin, std::vector<std::string> words);

  const char* name() const { return name_; }
  const std::vector<std::string>& words() const { return words_; }
  // Numbers stand everywhere, so that a line cannot be searched for those of errors.
  bool has_number() const { return number_ != 0; }
  // The end of the longest word that begins at `at`; npos if none does.
  std::size_t past(std::string_view line, std::size_t at) const;
  // Whether one begins anywhere.
  bool is_in(std::string_view line) const;

 private:
  static constexpr std::size_t kStarts = 4096;
  static std::size_t start_of(char first, char second);

  const char* name_;
  int number_;
  bool is_status_;  // of a completion, in place of an errno value
  Begin begin_;
  std::vector<std::string> words_;
  std::array<std::vector<std::uint16_t>, 256> by_first_;  // by first byte: places in words_
  // By start_of() two bytes: whether a word may begin with them.
  std::bitset<kStarts> starts_;
};

// Null: there is none of this name.
const WordSet* find_word_set(std::string_view name);

}  // namespace gdr::explain

// Pattern: the text of a symptom with its variable parts left open. No regular expressions, whose
// time and stack depend on what a hostile log holds: matching is a few searches over one line.
//
//   const Pattern pattern("GPU Direct RDMA Disabled for HCA {number} '{word}'");
//   std::string buffer;
//   pattern.matches(folded("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'", buffer));
//
// {}           anything, also nothing, of the same line
// {number}     a decimal number
// {above-zero} a decimal number other than 0
// {word}       something without white space
// {end}        the line ends here
// {fails}      a word of a set, see word_set.h: one idea in the words of many programs
// {EFAULT}     an error number, by its name, its message or as a number
//
// "A && B" wants both in the line, in either order. Capitals, the kind of quotes and the width of
// white space make no difference, since programs change them from release to release.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/word_set.h"

namespace gdr::explain {

// Which word sets a line has, looked up once for all patterns that ask: hundreds of them want
// {fails} and no more of a line.
class SetsOfLine {
 public:
  // `line`, as folded() gives it, must outlive what is asked about it.
  void begin(std::string_view line);
  bool has(const WordSet& set);

 private:
  std::string_view line_;
  std::vector<std::pair<const WordSet*, bool>> known_;
};

class Pattern {
 public:
  // `whole_words`: what stands as it is begins no later than a word does, so that "UAR" is not in
  // "guard" and "rds:" not in "afterwards:".
  explicit Pattern(std::string_view text, bool whole_words = false);

  // `line` as folded() gives it; `sets` begun with it.
  bool matches(std::string_view line, SetsOfLine& sets) const;
  bool matches(std::string_view line) const;
  // What to search a log for: lists of folded words. A line that matches has one of each list. The
  // lists live as long as the pattern, also where that is moved.
  std::vector<std::span<const std::string>> needs() const;
  // Whether it is one literal and nothing else, so that a line that has it matches.
  bool is_literal() const;
  // How many characters of it stand as they are.
  std::size_t letters() const;
  // For a person: "GPU Direct RDMA Disabled for HCA … '…'".
  std::string shown() const;

 private:
  enum class Hole { kNone, kNumber, kAboveZero, kWord, kEnd, kSet };
  // A hole and the literal that follows it at once.
  struct Step {
    Hole hole = Hole::kNone;
    const WordSet* set = nullptr;
    std::string literal;
  };
  // Parts between "{}".
  using Unit = std::vector<Step>;
  // Units in their order; "&&" parts two of them.
  using Phrase = std::vector<Unit>;

  static Phrase parse(std::string_view text);
  static bool is_a_set(const Phrase& phrase);
  bool matches(const Phrase& phrase, std::string_view line, SetsOfLine& sets) const;
  // The end of the first match of `unit` at or after `from`; npos if there is none.
  std::size_t find(const Unit& unit, std::string_view line, std::size_t from) const;
  static std::size_t match_at(const Unit& unit, std::string_view line, std::size_t at);

  std::string text_;
  bool whole_words_;
  std::vector<Phrase> phrases_;
};

// `line` without runs of spaces, and none at either end. `buffer` holds the result where it
// differs.
std::string_view one_spaced(std::string_view line, std::string& buffer);
// Besides in small letters, every kind of quote as ', and no backslash before a quote (programs
// that write JSON put one there).
std::string_view folded(std::string_view line, std::string& buffer);

}  // namespace gdr::explain

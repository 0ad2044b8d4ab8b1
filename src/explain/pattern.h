// Pattern: the text of a symptom with its variable parts left open. No regular expressions, whose
// time and stack depend on what a hostile log holds: matching is a few searches over one line.
//
//   const Pattern pattern("GPU Direct RDMA Disabled for HCA {number} '{word}'");
//   pattern.matches("NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'");  // true
//
// {}        anything, also nothing, of the same line
// {number}  a decimal number
// {word}    something without white space
// {end}     the line ends here
//
// The line must have its white space collapsed (one_spaced), since tools pad their columns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gdr::explain {

class Pattern {
 public:
  explicit Pattern(std::string_view text);

  bool matches(std::string_view line) const;
  // The longest literal: no line without it can match.
  const std::string& anchor() const { return anchor_; }
  // For a person: "GPU Direct RDMA Disabled for HCA … '…'".
  std::string shown() const;

 private:
  enum class Hole { kNone, kNumber, kWord, kEnd };
  // A hole and the literal that follows it at once.
  struct Step {
    Hole hole;
    std::string literal;
  };
  // What stands together; "{}" parts two of them.
  using Unit = std::vector<Step>;

  // Where the first match of `unit` at or behind `from` ends; npos: there is none.
  static std::size_t find(const Unit& unit, std::string_view line, std::size_t from);
  static std::size_t match_at(const Unit& unit, std::string_view line, std::size_t at);

  std::vector<Unit> units_;
  std::string anchor_;
};

// Runs of spaces as one, none at either end. `buffer` holds the result where it differs.
std::string_view one_spaced(std::string_view line, std::string& buffer);

}  // namespace gdr::explain

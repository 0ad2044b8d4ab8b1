#include "explain/sets_of_line.h"

#include <algorithm>

#include "explain/scanner.h"

namespace gdr::explain {
namespace {

// The words of all sets that a scanner finds in one pass.
struct SetWords {
  std::vector<const WordSet*> sets;  // by word
  Scanner scanner;
};

const SetWords& set_words() {
  static const SetWords all = [] {
    std::vector<const WordSet*> sets;
    std::vector<std::string> words;
    GramCounts common;
    for (const WordSet* set : all_word_sets()) {
      for (const std::string& word : set->words()) {
        if (word.size() < kGram) continue;
        sets.push_back(set);
        words.push_back(word);
        common.add(word);
      }
    }
    return SetWords{std::move(sets), Scanner(std::move(words), common)};
  }();
  return all;
}

bool contains(const std::vector<const WordSet*>& sets, const WordSet* set) {
  return std::find(sets.begin(), sets.end(), set) != sets.end();
}

}  // namespace

void SetsOfLine::begin(std::string_view line) {
  line_ = line;
  scanned_ = false;
}

void SetsOfLine::scan() {
  scanned_ = true;
  present_.clear();
  absent_.clear();
  numbers_.clear();
  const SetWords& all = set_words();
  all.scanner.scan(line_, [&](std::size_t word, std::size_t at) {
    const WordSet* set = all.sets[word];
    if (set->begins(line_, at) && !contains(present_, set)) present_.push_back(set);
  });
  for (std::size_t at = 0; at < line_.size(); ++at) {
    if (may_be_error_number(line_, at)) numbers_.push_back(at);
  }
}

bool SetsOfLine::has(const WordSet& set) {
  if (!scanned_) scan();
  if (contains(present_, &set)) return true;
  if (contains(absent_, &set)) return false;
  const bool by_number =
      set.has_number() && std::any_of(numbers_.begin(), numbers_.end(),
                                      [&](std::size_t at) { return set.begins(line_, at); });
  const bool found = by_number || (set.has_short_word() && set.is_in(line_));
  (found ? present_ : absent_).push_back(&set);
  return found;
}

}  // namespace gdr::explain

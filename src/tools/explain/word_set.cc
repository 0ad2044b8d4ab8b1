#include "explain/word_set.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>

#include "explain/word_tables.h"

namespace gdr::explain {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Whether a number that begins at `at` is said to be that of an error: "errno 14", "error=14",
// "ret = -14", "[14]", "(14)", " -14".
bool stands_for_error(std::string_view line, std::size_t at, int number) {
  constexpr std::size_t kMostBetween = 5;
  constexpr int kLeastInBrackets = 10;
  std::size_t begin = at;
  while (begin > 0 && at - begin < kMostBetween &&
         std::string_view(" =:#-[(<").find(line[begin - 1]) != kNone) {
    --begin;
  }
  if (begin == at) return false;
  const char before = line[at - 1];
  // A small number in brackets is a rank, a GPU or a count.
  if (before == '[' || before == '(') return number >= kLeastInBrackets;
  // Too many programs return -1 or 1 for anything.
  if (number == 1) return line.substr(0, begin).ends_with("errno");
  // A minus that is no hyphen: "RC: -22", but not "ConnectX-5".
  if (before == '-' && (begin < at - 1 || begin == 0)) return true;
  const std::string_view text = line.substr(0, begin);
  constexpr std::array<std::string_view, 12> kIntroductions = {
      "errno",  "error",  "err",      "ret",    "rc",     "code",
      "status", "errnum", "returned", "result", "retval", "failed"};
  return std::any_of(kIntroductions.begin(), kIntroductions.end(),
                     [&](std::string_view word) { return text.ends_with(word); });
}

// Statuses of completions are printed in hexadecimal as well ("status: 0xc").
std::size_t past_number(std::string_view line, std::size_t at, int number, bool may_be_hex) {
  if (at >= line.size() || !is_digit(line[at])) return kNone;
  if (at > 0 && (is_digit(line[at - 1]) || is_letter(line[at - 1]) || line[at - 1] == '.')) {
    return kNone;
  }
  int value = 0;
  const bool hex = may_be_hex && line.substr(at).starts_with("0x");
  const auto [end, error] = std::from_chars(line.data() + at + (hex ? 2 : 0),
                                            line.data() + line.size(), value, hex ? 16 : 10);
  if (error != std::errc() || value != number) return kNone;
  const auto stop = static_cast<std::size_t>(end - line.data());
  if (stop < line.size() && (is_letter(line[stop]) || line[stop] == '_')) return kNone;
  return stands_for_error(line, at, number) ? stop : kNone;
}

}  // namespace

WordSet::WordSet(const char* name, int number, Begin begin, std::vector<std::string> words)
    : name_(name),
      number_(number),
      is_status_(std::string_view(name).starts_with("WC")),
      begin_(begin),
      words_(std::move(words)) {
  for (std::size_t i = 0; i < words_.size(); ++i) {
    const std::string& word = words_[i];
    by_first_[static_cast<unsigned char>(word.front())].push_back(static_cast<std::uint16_t>(i));
    starts_.set(start_of(word[0], word[1]));
  }
}

// Letters and signs are told apart by their low six bits; others are compared in vain.
std::size_t WordSet::start_of(char first, char second) {
  return (static_cast<std::size_t>(first) & 63) << 6 | (static_cast<std::size_t>(second) & 63);
}

bool WordSet::is_in(std::string_view line) const {
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char second = at + 1 < line.size() ? line[at + 1] : '\0';
    const bool may_begin =
        starts_[start_of(line[at], second)] || (has_number() && is_digit(line[at]));
    if (may_begin && past(line, at) != kNone) return true;
  }
  return false;
}

std::size_t WordSet::past(std::string_view line, std::size_t at) const {
  std::size_t end = number_ == 0 ? kNone : past_number(line, at, number_, is_status_);
  if (at >= line.size()) return end;
  if (begin_ == Begin::kWord && at > 0 && is_letter(line[at - 1])) return end;
  for (const std::uint16_t place : by_first_[static_cast<unsigned char>(line[at])]) {
    const std::string& word = words_[place];
    if (line.substr(at, word.size()) != word) continue;
    if (end == kNone || end < at + word.size()) end = at + word.size();
  }
  return end;
}

const WordSet* find_word_set(std::string_view name) {
  static const std::unordered_map<std::string_view, const WordSet*> sets = [] {
    std::unordered_map<std::string_view, const WordSet*> by_name;
    for (const auto* table : {&error_words(), &rdma_words(), &name_words()}) {
      for (const WordSet& set : *table) by_name.emplace(set.name(), &set);
    }
    return by_name;
  }();
  const auto found = sets.find(name);
  return found == sets.end() ? nullptr : found->second;
}

}  // namespace gdr::explain

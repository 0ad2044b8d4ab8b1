#include "explain/pattern.h"

#include <algorithm>
#include <array>

namespace gdr::explain {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// The most that a hole matches. This bound keeps the time proportional to the line's length.
constexpr std::size_t kLongestHole = 128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t past_number(std::string_view line, std::size_t at, bool may_be_zero) {
  const std::size_t stop = std::min(line.size(), at + kLongestHole);
  const std::size_t begin = at;
  bool zero = true;
  for (; at < stop && is_digit(line[at]); ++at) zero = zero && line[at] == '0';
  return at == begin || (zero && !may_be_zero) ? kNone : at;
}

// Up to `literal`, or to the end of the word where that is empty.
std::size_t past_word(std::string_view line, std::size_t at, std::string_view literal) {
  const std::string_view rest = line.substr(at, kLongestHole + literal.size());
  const std::size_t stop = std::min(rest.find(' '), rest.size());
  const std::size_t end = literal.empty() ? stop : rest.find(literal, 1);
  return end == kNone || end == 0 || end > stop ? kNone : at + end;
}

// The first byte of U+2018 to U+201D in UTF-8, which forums and word processors put in place of
// quotes.
constexpr char kWideQuote = '\xe2';

bool is_wide_quote(std::string_view text, std::size_t at) {
  if (at + 2 >= text.size() || text[at + 1] != '\x80') return false;
  const auto last = static_cast<unsigned char>(text[at + 2]);
  return last >= 0x98 && last <= 0x9d;
}

// By byte: itself in small letters, and every kind of quote as '.
constexpr std::array<char, 256> kFolded = [] {
  std::array<char, 256> folded{};
  for (std::size_t byte = 0; byte < folded.size(); ++byte) {
    const auto c = static_cast<char>(byte);
    folded[byte] = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  folded['"'] = folded['`'] = '\'';
  return folded;
}();

enum class Spaces { kAll, kOne };

// Into `out`. kOne: as one_spaced(). One pass with few branches, since most lines need no more.
void fold(std::string_view text, Spaces spaces, std::string& out) {
  out.resize(text.size());
  const bool one = spaces == Spaces::kOne;
  std::size_t size = 0;
  char before = one ? ' ' : '\0';
  for (std::size_t at = 0; at < text.size(); ++at) {
    char c = kFolded[static_cast<unsigned char>(text[at])];
    if (c == kWideQuote && is_wide_quote(text, at)) {
      c = '\'';
      at += 2;
    }
    size -= static_cast<std::size_t>(c == '\'' && before == '\\');
    out[size] = c;
    size += static_cast<std::size_t>(!one || c != ' ' || before != ' ');
    before = c;
  }
  if (one && size > 0 && out[size - 1] == ' ') --size;
  out.resize(size);
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

}  // namespace

void SetsOfLine::begin(std::string_view line) {
  line_ = line;
  known_.clear();
}

bool SetsOfLine::has(const WordSet& set) {
  const auto place = std::find_if(known_.begin(), known_.end(),
                                  [&](const auto& each) { return each.first == &set; });
  if (place != known_.end()) return place->second;
  return known_.emplace_back(&set, set.is_in(line_)).second;
}

Pattern::Pattern(std::string_view text, bool whole_words) : text_(text), whole_words_(whole_words) {
  constexpr std::string_view kAnd = " && ";
  for (std::size_t at = 0; at != kNone;) {
    const std::size_t next = text.find(kAnd, at);
    phrases_.push_back(parse(text.substr(at, next == kNone ? kNone : next - at)));
    at = next == kNone ? kNone : next + kAnd.size();
  }
}

Pattern::Phrase Pattern::parse(std::string_view text) {
  Phrase phrase{{Step{}}};
  while (!text.empty()) {
    Unit& unit = phrase.back();
    const std::size_t close = text.front() == '{' ? text.find('}') : kNone;
    const std::string_view name = close == kNone ? "" : text.substr(1, close - 1);
    const WordSet* set = name.empty() ? nullptr : find_word_set(name);
    if (close == 1) {
      phrase.push_back({Step{}});
    } else if (name == "number") {
      unit.push_back({Hole::kNumber, nullptr, ""});
    } else if (name == "above-zero") {
      unit.push_back({Hole::kAboveZero, nullptr, ""});
    } else if (name == "word") {
      unit.push_back({Hole::kWord, nullptr, ""});
    } else if (name == "end") {
      unit.push_back({Hole::kEnd, nullptr, ""});
    } else if (set != nullptr) {
      unit.push_back({Hole::kSet, set, ""});
    } else {
      std::size_t stop = std::min(text.find('{', 1), text.size());
      std::string literal;
      fold(text.substr(0, stop), Spaces::kAll, literal);
      unit.back().literal += literal;
      text.remove_prefix(stop);
      continue;
    }
    text.remove_prefix(close + 1);
  }
  return phrase;
}

std::vector<std::span<const std::string>> Pattern::needs() const {
  std::vector<std::span<const std::string>> needs;
  for (const Phrase& phrase : phrases_) {
    for (const Unit& unit : phrase) {
      for (const Step& step : unit) {
        if (!step.literal.empty()) needs.emplace_back(&step.literal, 1);
        if (step.set != nullptr && !step.set->has_number()) needs.emplace_back(step.set->words());
      }
    }
  }
  return needs;
}

std::size_t Pattern::match_at(const Unit& unit, std::string_view line, std::size_t at) {
  for (const Step& step : unit) {
    switch (step.hole) {
      case Hole::kNone:
        break;
      case Hole::kNumber:
        at = past_number(line, at, true);
        break;
      case Hole::kAboveZero:
        at = past_number(line, at, false);
        break;
      case Hole::kWord:
        at = past_word(line, at, step.literal);
        break;
      case Hole::kEnd:
        if (at != line.size()) return kNone;
        break;
      case Hole::kSet:
        at = step.set->past(line, at);
        break;
    }
    if (at == kNone) return kNone;
    if (line.substr(at, step.literal.size()) != step.literal) return kNone;
    at += step.literal.size();
  }
  return at;
}

std::size_t Pattern::find(const Unit& unit, std::string_view line, std::size_t from) const {
  // Empty where the unit begins with a hole: then every place is tried.
  const std::string& first = unit.front().literal;
  const bool at_word = whole_words_ && !first.empty() && is_letter(first.front());
  for (std::size_t at = line.find(first, from); at != kNone; at = line.find(first, at + 1)) {
    if (at_word && at > 0 && is_letter(line[at - 1])) continue;
    const std::size_t end = match_at(unit, line, at);
    if (end != kNone) return end;
  }
  return kNone;
}

// "{fails}" alone: a unit begins with a step that has no hole, for what stands before the first.
bool Pattern::is_a_set(const Phrase& phrase) {
  if (phrase.size() != 1 || phrase.front().size() != 2) return false;
  const Unit& unit = phrase.front();
  return unit[0].literal.empty() && unit[1].set != nullptr && unit[1].literal.empty();
}

bool Pattern::matches(const Phrase& phrase, std::string_view line, SetsOfLine& sets) const {
  for (const Unit& unit : phrase) {
    const bool has_all = std::all_of(unit.begin(), unit.end(), [&](const Step& step) {
      return step.set == nullptr || sets.has(*step.set);
    });
    if (!has_all) return false;
  }
  if (is_a_set(phrase)) return true;
  std::size_t at = 0;
  for (const Unit& unit : phrase) {
    at = find(unit, line, at);
    if (at == kNone) return false;
  }
  return true;
}

std::size_t Pattern::letters() const {
  std::size_t letters = 0;
  for (const Phrase& phrase : phrases_) {
    for (const Unit& unit : phrase) {
      for (const Step& step : unit) letters += step.literal.size();
    }
  }
  return letters;
}

bool Pattern::is_literal() const {
  return !whole_words_ && phrases_.size() == 1 && phrases_.front().size() == 1 &&
         phrases_.front().front().size() == 1;
}

bool Pattern::matches(std::string_view line, SetsOfLine& sets) const {
  return std::all_of(phrases_.begin(), phrases_.end(),
                     [&](const Phrase& phrase) { return matches(phrase, line, sets); });
}

bool Pattern::matches(std::string_view line) const {
  SetsOfLine sets;
  sets.begin(line);
  return matches(line, sets);
}

std::string Pattern::shown() const {
  std::string text;
  for (std::size_t at = 0; at < text_.size();) {
    const std::size_t close = text_[at] == '{' ? text_.find('}', at) : kNone;
    if (close == kNone) {
      text += text_[at++];
      continue;
    }
    const std::string_view name = std::string_view(text_).substr(at + 1, close - at - 1);
    if (const WordSet* set = find_word_set(name)) {
      text += "<" + set->words().front() + ">";
    } else if (name != "end") {
      text += "…";
    }
    at = close + 1;
  }
  return text;
}

std::string_view one_spaced(std::string_view line, std::string& buffer) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  while (!line.empty() && line.back() == ' ') line.remove_suffix(1);
  if (line.find("  ") == kNone) return line;
  buffer.assign(line);
  const auto both_spaces = [](char a, char b) { return a == ' ' && b == ' '; };
  buffer.erase(std::unique(buffer.begin(), buffer.end(), both_spaces), buffer.end());
  return buffer;
}

std::string_view folded(std::string_view line, std::string& buffer) {
  fold(line, Spaces::kOne, buffer);
  return buffer;
}

}  // namespace gdr::explain

#include "explain/pattern.h"

#include <algorithm>

namespace gdr::explain {
namespace {

constexpr std::size_t kNone = std::string_view::npos;

// What a hole takes: with a bound, the time for a line grows with its length alone.
constexpr std::size_t kLongestHole = 128;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::size_t past_number(std::string_view line, std::size_t at) {
  const std::size_t stop = std::min(line.size(), at + kLongestHole);
  const std::size_t begin = at;
  while (at < stop && is_digit(line[at])) ++at;
  return at == begin ? kNone : at;
}

// Up to `literal`, or to the end of the word where that is empty.
std::size_t past_word(std::string_view line, std::size_t at, std::string_view literal) {
  const std::string_view rest = line.substr(at, kLongestHole + literal.size());
  const std::size_t stop = std::min(rest.find(' '), rest.size());
  const std::size_t end = literal.empty() ? stop : rest.find(literal, 1);
  return end == kNone || end == 0 || end > stop ? kNone : at + end;
}

}  // namespace

Pattern::Pattern(std::string_view text) {
  units_.emplace_back();
  units_.back().push_back({Hole::kNone, ""});
  while (!text.empty()) {
    Unit& unit = units_.back();
    const auto skip = [&](std::string_view word) {
      if (!text.starts_with(word)) return false;
      text.remove_prefix(word.size());
      return true;
    };
    if (skip("{}")) {
      units_.push_back({{Hole::kNone, ""}});
    } else if (skip("{number}")) {
      unit.push_back({Hole::kNumber, ""});
    } else if (skip("{word}")) {
      unit.push_back({Hole::kWord, ""});
    } else if (skip("{end}")) {
      unit.push_back({Hole::kEnd, ""});
    } else {
      unit.back().literal += text.front();
      text.remove_prefix(1);
    }
  }
  for (const Unit& unit : units_) {
    for (const Step& step : unit) {
      if (step.literal.size() > anchor_.size()) anchor_ = step.literal;
    }
  }
}

std::size_t Pattern::match_at(const Unit& unit, std::string_view line, std::size_t at) {
  for (const Step& step : unit) {
    if (step.hole == Hole::kEnd) {
      if (at != line.size()) return kNone;
    } else if (step.hole == Hole::kNumber) {
      at = past_number(line, at);
    } else if (step.hole == Hole::kWord) {
      at = past_word(line, at, step.literal);
    }
    if (at == kNone) return kNone;
    if (line.substr(at, step.literal.size()) != step.literal) return kNone;
    at += step.literal.size();
  }
  return at;
}

std::size_t Pattern::find(const Unit& unit, std::string_view line, std::size_t from) {
  // Every unit begins with a literal, which may be empty behind "{}".
  const std::string& first = unit.front().literal;
  for (std::size_t at = line.find(first, from); at != kNone; at = line.find(first, at + 1)) {
    const std::size_t end = match_at(unit, line, at);
    if (end != kNone) return end;
  }
  return kNone;
}

bool Pattern::matches(std::string_view line) const {
  std::size_t at = 0;
  for (const Unit& unit : units_) {
    at = find(unit, line, at);
    if (at == kNone) return false;
  }
  return true;
}

std::string Pattern::shown() const {
  std::string text;
  for (const Unit& unit : units_) {
    if (&unit != &units_.front()) text += "…";
    for (const Step& step : unit) {
      if (step.hole == Hole::kNumber || step.hole == Hole::kWord) text += "…";
      text += step.literal;
    }
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

}  // namespace gdr::explain

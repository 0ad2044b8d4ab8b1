#include "text/nearest.h"

#include <algorithm>
#include <cctype>

namespace gdr::text {
namespace {

constexpr std::size_t kLongest = 64;  // nobody mistypes a longer word of ours

std::string plain(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  std::string text(word);
  for (char& letter : text) {
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

}  // namespace

std::size_t edit_distance(std::string_view one, std::string_view other) {
  // Optimal string alignment: rows of the table for the last two letters of `one`.
  std::vector<std::size_t> before(other.size() + 1), last(other.size() + 1), row(other.size() + 1);
  for (std::size_t j = 0; j <= other.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= other.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (one[i - 1] == other[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(row);
  }
  return last[other.size()];
}

std::vector<std::string> nearest(std::string_view typed, const std::vector<std::string>& words) {
  std::vector<std::string> found;
  const std::string wanted = plain(typed);
  if (wanted.size() < 2 || wanted.size() > kLongest) return found;
  std::size_t least = (wanted.size() + 2) / 3;
  for (const std::string& word : words) {
    const std::string candidate = plain(word);
    if (candidate.size() < 2) continue;  // a single letter is near to everything
    const std::size_t distance = edit_distance(wanted, candidate);
    if (distance > least) continue;
    if (distance < least) found.clear();
    least = distance;
    found.push_back(word);
  }
  if (!found.empty()) return found;
  for (const std::string& word : words) {
    if (plain(word).starts_with(wanted)) found.push_back(word);
  }
  return found;
}

}  // namespace gdr::text

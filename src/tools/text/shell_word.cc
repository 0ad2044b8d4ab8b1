#include "text/shell_word.h"

#include <string_view>

namespace gdr::text {

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,.:/+@%";
  // zsh looks for a program behind an equals sign that begins a word.
  const bool plain =
      !word.empty() && word.front() != '=' && word.find_first_not_of(kPlain) == std::string::npos;
  if (plain) return word;
  std::string quoted = "'";
  for (const char one : word) {
    // Within quotes fish reads a backslash, and csh an exclamation mark.
    const bool outside = one == '\'' || one == '\\' || one == '!';
    quoted += outside ? std::string("'\\") + one + "'" : std::string(1, one);
  }
  return quoted + "'";
}

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + shell_word(word);
  return text;
}

}  // namespace gdr::text

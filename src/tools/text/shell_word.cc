#include "text/shell_word.h"

#include <string_view>

namespace gdr::text {

std::string shell_word(const std::string& word) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=,.:/+@%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string quoted = "'";
  for (const char one : word) quoted += one == '\'' ? "'\\''" : std::string(1, one);
  return quoted + "'";
}

}  // namespace gdr::text

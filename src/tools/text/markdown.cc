#include "text/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/environment.h"
#include "base/printable.h"

namespace gdr::text {
namespace {

// "10.0.0.7" or "10.0.0.7:18515", with what ends a sentence. Behind a hyphen it is a version
// ("OFED 5.8-1.0.1.1"), and addresses of the own machine stand for no host.
bool is_ipv4(std::string_view run, char before) {
  run = run.substr(0, run.find(':'));
  while (run.ends_with('.')) run.remove_suffix(1);
  if (before == '-' || run.starts_with("127.") || run == "0.0.0.0") return false;
  const std::vector<std::string_view> numbers = split(run, '.');
  return numbers.size() == 4 && std::ranges::all_of(numbers, [](std::string_view number) {
           return !number.empty() && number.size() <= 3 &&
                  number.find_first_not_of("0123456789") == number.npos &&
                  (number.size() < 3 || number <= "255");
         });
}

}  // namespace

std::string without_addresses(std::string_view given) {
  constexpr std::size_t kMostColons = 4, kShortest = 6;
  constexpr std::string_view kLetters = "0123456789abcdefABCDEF:.";
  std::string text;
  for (std::size_t at = 0; at < given.size();) {
    const std::size_t end = std::min(given.find_first_not_of(kLetters, at), given.size());
    const std::string_view run = given.substr(at, end - at);
    const auto colons = static_cast<std::size_t>(std::ranges::count(run, ':'));
    const bool is_address = colons > kMostColons || run.find("::") != run.npos;
    const bool is_left_out =
        (is_address && run.size() >= kShortest) || is_ipv4(run, at > 0 ? given[at - 1] : ' ');
    text += is_left_out ? std::string("(left-out)") : std::string(run);
    if (end < given.size()) text += given[end];
    at = end + 1;
  }
  return text;
}

std::string escape_markdown(std::string_view given) {
  std::string text;
  const std::string clean = without_addresses(printable(given));
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const char one = clean[i];
    const auto is_word = [&](std::size_t at) {
      return at < clean.size() && std::isalnum(static_cast<unsigned char>(clean[at])) != 0;
    };
    if (one == '&') {
      text += "&amp;";
    } else if (one == '<') {
      text += "&lt;";
    } else if (one == '@') {
      text += "&#64;";
    } else if (one == '#') {
      text += "&#35;";
    } else if (clean.compare(i, 3, "://") == 0) {
      text += "&#58;";  // no link by itself
    } else if (std::string_view("\\`*[]|~>").find(one) != std::string_view::npos ||
               (one == '_' && !(i > 0 && is_word(i - 1) && is_word(i + 1)))) {
      text += '\\';
      text += one;
    } else {
      text += one;
    }
  }
  return text;
}

std::string fenced_markdown(const std::string& language, const std::string& content) {
  std::size_t longest = 2, run = 0;
  for (const char c : content) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`');
  std::string text = fence + language + "\n";
  for (const std::string_view line : split(content, '\n'))
    text += without_addresses(printable(line)) + "\n";
  while (text.ends_with("\n\n")) text.pop_back();
  return text + fence + "\n";
}

std::string folded_markdown(const std::string& title, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n\n{}\n</details>\n\n", title, content);
}

}  // namespace gdr::text

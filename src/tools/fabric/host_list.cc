#include "fabric/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/printable.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kMostDigits = 18;     // that surely fit into 64 bits
constexpr std::size_t kLongestName = 255;   // of a host, as the kernel and DNS have it
constexpr std::size_t kLongestQuoted = 60;  // of what an error repeats
constexpr std::string_view kBlanks = " \t\r\n";

Error bad_list(std::string_view part, const std::string& why) {
  const std::string shown = printable(part.substr(0, kLongestQuoted));
  return Error{
      EINVAL, fmt::format("list of hosts: \"{}\": {}; write it as n[01-08,12],login1", shown, why)};
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool read_number(std::string_view text, std::uint64_t* number) {
  if (text.empty() || text.size() > kMostDigits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// One part of what brackets hold: "7", "01-03", "0-10:2".
Result<void> expand_range(std::string_view part, std::vector<std::string>* into) {
  std::string_view range = part;
  std::uint64_t step = 1;
  if (const std::size_t colon = range.find(':'); colon != std::string_view::npos) {
    if (!read_number(range.substr(colon + 1), &step) || step == 0) {
      return bad_list(part, "the step is no positive number");
    }
    range = range.substr(0, colon);
  }
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
  std::uint64_t first = 0, last = 0;
  if (!read_number(low, &first) || !read_number(high, &last)) {
    return bad_list(part, "brackets hold numbers and ranges of numbers");
  }
  if (last < first) return bad_list(part, "the range ends before it begins");
  if ((last - first) / step >= kMostListedHosts - std::min(into->size(), kMostListedHosts)) {
    return bad_list(part, fmt::format("more than {} hosts", kMostListedHosts));
  }
  for (std::uint64_t number = first; number <= last; number += step) {
    into->push_back(fmt::format("{:0{}}", number, low.size()));
  }
  return {};
}

// What is in the brackets that begin at text[0]; `text` is moved behind them.
Result<std::vector<std::string>> take_brackets(std::string_view* text) {
  const std::size_t end = text->find(']');
  if (end == std::string_view::npos) return bad_list(*text, "no ] after [");
  std::string_view inside = text->substr(1, end - 1);
  text->remove_prefix(end + 1);
  std::vector<std::string> numbers;
  while (true) {
    const std::size_t comma = inside.find(',');
    if (Result<void> taken = expand_range(inside.substr(0, comma), &numbers); !taken) {
      return taken.error();
    }
    if (comma == std::string_view::npos) return numbers;
    inside.remove_prefix(comma + 1);
  }
}

// One item of a list: a name with any number of brackets.
Result<std::vector<std::string>> expand_item(std::string_view item) {
  std::vector<std::string> names{""};
  std::string_view rest = item;
  while (!rest.empty()) {
    if (rest.front() == ']') return bad_list(item, "] without [");
    std::vector<std::string> tails;
    if (rest.front() == '[') {
      Result<std::vector<std::string>> numbers = take_brackets(&rest);
      if (!numbers) return numbers.error();
      tails = *std::move(numbers);
    } else {
      const std::size_t plain = std::min(rest.find_first_of("[]"), rest.size());
      tails.emplace_back(rest.substr(0, plain));
      rest.remove_prefix(plain);
    }
    if (names.size() * tails.size() > kMostListedHosts) {
      return bad_list(item, fmt::format("more than {} hosts", kMostListedHosts));
    }
    if (names.front().size() + tails.front().size() > kLongestName) {
      return bad_list(item, fmt::format("a name of more than {} characters", kLongestName));
    }
    std::vector<std::string> longer;
    longer.reserve(names.size() * tails.size());
    for (const std::string& name : names) {
      for (const std::string& tail : tails) longer.push_back(name + tail);
    }
    names = std::move(longer);
  }
  return names;
}

// The first item of `text`, up to a comma or blank outside of brackets; `text` is moved behind it.
std::string_view take_item(std::string_view* text) {
  bool inside = false;
  std::size_t end = 0;
  for (; end < text->size(); ++end) {
    const char letter = (*text)[end];
    if (letter == '[') inside = true;
    if (letter == ']') inside = false;
    if (!inside && (letter == ',' || kBlanks.find(letter) != std::string_view::npos)) break;
  }
  const std::string_view item = text->substr(0, end);
  text->remove_prefix(std::min(end + 1, text->size()));
  return item;
}

// Numbers of one prefix, by the number of digits that they are filled up to with zeros; 0: not
// filled up.
using Numbers = std::map<std::size_t, std::vector<std::uint64_t>>;

Numbers sorted_by_width(const std::vector<std::string_view>& digits) {
  Numbers numbers;
  const auto value = [](std::string_view text) {
    std::uint64_t number = 0;
    (void)read_number(text, &number);
    return number;
  };
  for (const std::string_view text : digits) {
    if (text.size() > 1 && text.front() == '0') numbers[text.size()].push_back(value(text));
  }
  // "10" belongs to "09" where that is there, else to "9".
  for (const std::string_view text : digits) {
    if (text.size() > 1 && text.front() == '0') continue;
    numbers[text.size() > 1 && numbers.contains(text.size()) ? text.size() : 0].push_back(
        value(text));
  }
  for (auto& [width, same] : numbers) std::ranges::sort(same);
  return numbers;
}

// "01-03,07"; `single`: it is one number, which needs no brackets.
std::string ranges_text(const Numbers& numbers, bool* single) {
  std::string text;
  *single = numbers.size() == 1 && numbers.begin()->second.size() == 1;
  for (const auto& [width, same] : numbers) {
    for (std::size_t first = 0; first < same.size();) {
      std::size_t last = first;
      while (last + 1 < same.size() && same[last + 1] == same[last] + 1) ++last;
      if (!text.empty()) text += ',';
      text += fmt::format("{:0{}}", same[first], width);
      if (last > first) text += fmt::format("-{:0{}}", same[last], width);
      first = last + 1;
    }
  }
  return text;
}

}  // namespace

Result<std::vector<std::string>> expand_host_list(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::string_view item = take_item(&text);
    if (item.empty()) continue;
    Result<std::vector<std::string>> more = expand_item(item);
    if (!more) return more.error();
    if (names.size() + more->size() > kMostListedHosts) {
      return bad_list(item, fmt::format("more than {} hosts with those before", kMostListedHosts));
    }
    std::ranges::move(*more, std::back_inserter(names));
  }
  return names;
}

std::string compress_host_list(std::vector<std::string> names) {
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  // Whole names and prefixes are apart, so that "n" comes before "n1" and is no prefix of it.
  std::map<std::string_view, std::vector<std::string_view>> digits_by_prefix;
  std::map<std::string_view, bool> whole;
  for (const std::string& name : names) {
    std::size_t prefix = name.size();
    while (prefix > 0 && is_digit(name[prefix - 1])) --prefix;
    const std::string_view view = name;
    if (prefix == name.size() || name.size() - prefix > kMostDigits) {
      whole[view] = true;
    } else {
      digits_by_prefix[view.substr(0, prefix)].push_back(view.substr(prefix));
    }
  }
  std::vector<std::pair<std::string_view, std::string>> items;
  for (const auto& [name, there] : whole) items.emplace_back(name, name);
  for (const auto& [prefix, digits] : digits_by_prefix) {
    bool single = false;
    const std::string ranges = ranges_text(sorted_by_width(digits), &single);
    items.emplace_back(prefix, single ? fmt::format("{}{}", prefix, ranges)
                                      : fmt::format("{}[{}]", prefix, ranges));
  }
  std::ranges::stable_sort(items, {}, [](const auto& item) { return item.first; });
  std::string text;
  for (const auto& [key, item] : items) text += (text.empty() ? "" : ",") + item;
  return text;
}

}  // namespace gdr::fabric

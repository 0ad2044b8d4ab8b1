#include "manual/help_text.h"

#include <algorithm>
#include <utility>

#include "manual/variables.h"
#include "text/wrap.h"

namespace gdr::manual {
namespace {

// Longer commands have their notes on the next line.
constexpr std::size_t kLongestBesideNote = 40;

// Where notes begin: two spaces behind the longest of those that have one beside them.
template <typename Lines, typename TextOf>
std::size_t column_of(const Lines& lines, TextOf text_of) {
  std::size_t longest = 0;
  for (const auto& line : lines) {
    const std::size_t length = std::string_view(text_of(line)).size();
    if (length <= kLongestBesideNote) longest = std::max(longest, length);
  }
  return longest + 4;
}

std::string exit_status_text(const Page& page, std::size_t columns) {
  std::string text = "\nExit status:\n";
  const std::string note = page.exit_note;
  if (!note.empty()) text += text::wrap("  " + note, columns, 2) + "\n";
  const std::size_t column = column_of(page.exit_status, [](auto& entry) { return entry.term; });
  for (const Entry& entry : page.exit_status) {
    text += described(entry.term, entry.text, columns, column);
  }
  return text;
}

std::string examples_text(const Page& page, std::size_t columns) {
  std::string text = "\nExamples:\n";
  const std::size_t column = column_of(page.examples, [](auto& one) { return one.command; });
  for (const Example& example : page.examples) {
    // A command stays on its line, so that it can be pasted.
    text += *example.note == '\0' ? std::string("  ") + example.command + "\n"
                                  : described(example.command, example.note, columns, column);
  }
  return text;
}

}  // namespace

std::string described(const std::string& name, const std::string& description, std::size_t columns,
                      std::size_t described_from) {
  std::string head = "  " + name;
  // text::wrap indents by half of a narrow terminal at most.
  described_from = std::min(described_from, columns / 2);
  // Two spaces at least.
  const bool is_beside = head.size() + 2 <= described_from;
  std::string above = is_beside ? "" : std::exchange(head, "") + "\n";
  head.resize(described_from, ' ');
  return above + text::wrap(head + description, columns, described_from) + "\n";
}

std::string usage_text(const Page& page, std::size_t columns) {
  constexpr std::string_view kFirst = "Usage: ";
  const std::size_t column =
      column_of(page.usages, [](auto& usage) { return usage.words; }) + kFirst.size();
  std::string text;
  for (const Usage& usage : page.usages) {
    std::string line =
        (text.empty() ? std::string(kFirst) : std::string(kFirst.size(), ' ')) + usage.words;
    if (*usage.note != '\0') {
      line.resize(std::max(column, line.size() + 2), ' ');
      line += usage.note;
    }
    text += text::wrap(line, columns, kFirst.size() + 4) + "\n";
  }
  return text;
}

std::string help_footer(const Page& page, std::size_t columns) {
  std::string text;
  for (const char* paragraph : page.help) text += "\n" + text::wrap(paragraph, columns, 0) + "\n";
  text += exit_status_text(page, columns);
  if (!page.variables.empty()) text += "\nEnvironment:\n";
  for (const char* name : page.variables) {
    const Variable* variable = find_variable(name);
    if (variable != nullptr) {
      text += described(assignment_of(*variable), brief_of(*variable), columns);
    }
  }
  text += examples_text(page, columns);
  return text.substr(1);  // the caller separates it from the options
}

}  // namespace gdr::manual

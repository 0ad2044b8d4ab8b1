// Text in mdoc(7), the language of manual pages that both mandoc and groff read.
//
//   Mdoc page;
//   page.macro("Sh", "EXIT STATUS");
//   page.prose("0 is success. Everything else is none.");
//   page.literal({"gdr prove --json"});
//   fputs(page.take().c_str(), file);
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gdr::manual {

// So that `text` is shown as it is, dashes included, which others may turn into hyphens.
std::string escape(std::string_view text);

// An argument of a macro: escaped, and in quotes where it is more than one word.
std::string argument(std::string_view text);

class Mdoc {
 public:
  // ".Name rest"; `rest` is escaped already.
  void macro(std::string_view name, std::string_view rest = {});
  // Sentences begin on lines of their own, as mdoc wants it.
  void prose(std::string_view text);
  // Lines that are shown as they are.
  void literal(const std::vector<std::string>& lines);

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

// A list of terms and what they mean, between begin and end: .It lines are the caller's.
void begin_list(Mdoc& page);
void end_list(Mdoc& page);

}  // namespace gdr::manual

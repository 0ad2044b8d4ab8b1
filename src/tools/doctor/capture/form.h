// Form: how a word or a line must look to be known, as an extended regular expression (regex(7)).
//
//   Form("[0-9]{1,5}").is("4096")
#pragma once

#include <regex.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace gdr::doctor {

class Form {
 public:
  explicit Form(const std::string& expression);

  // Matches the whole text. A text above 1 KiB, or with a zero byte, matches no form.
  bool is(std::string_view text) const { return group(text, 0).has_value(); }
  // Matches the whole text; returns the group of this number, at most 4.
  std::optional<std::string> group(std::string_view text, unsigned number) const;
  // The first part of this form.
  std::optional<std::string> found_in(std::string_view text) const;

 private:
  struct Free {
    void operator()(regex_t* compiled) const;
  };
  using Compiled = std::unique_ptr<regex_t, Free>;
  static Compiled compile(const std::string& expression);

  Compiled whole_, part_;
};

}  // namespace gdr::doctor

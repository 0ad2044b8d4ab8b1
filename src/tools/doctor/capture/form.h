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

  // As a whole. Nothing that is longer than 1 KiB or has a zero in it is of any form.
  bool is(std::string_view text) const { return group(text, 0).has_value(); }
  // As a whole; of it what the group of this number, at most 4, stands for.
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

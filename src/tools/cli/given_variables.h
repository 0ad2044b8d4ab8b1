// Variables for a program that is to be run: set for it, or left as the user has them, with the
// words for both.
//
//   GivenVariables variables([](const char* name) { return gdr::environment(name); });
//   variables.set_if_unset("NCCL_DEBUG", "INFO");
//   say(variables.set_words() + variables.kept_words());
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gdr::cli {

// A variable's value; nothing when it is unset or empty.
using Environment = std::function<std::optional<std::string>(const char*)>;
using Variables = std::vector<std::pair<std::string, std::string>>;

class GivenVariables {
 public:
  explicit GivenVariables(const Environment& environment) : environment_(environment) {}

  void set(std::string name, std::string value);
  void set_if_unset(const char* name, const std::string& value);
  // Whether the user has set it, which is then told.
  bool keeps(const char* name);

  // As the program will have it: the user's, or what is set here; nothing: neither.
  std::optional<std::string> value(const std::string& name) const;

  const Variables& to_set() const { return to_set_; }
  std::string set_words() const;   // "set NCCL_DEBUG=INFO", or "nothing set"
  std::string kept_words() const;  // "; kept your NCCL_DEBUG=WARN", or ""

 private:
  const Environment& environment_;
  Variables to_set_, kept_;
};

// "NAME=value"
std::string assignment(const std::pair<std::string, std::string>& variable);

}  // namespace gdr::cli

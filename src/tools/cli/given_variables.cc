#include "cli/given_variables.h"

namespace gdr::cli {
namespace {

std::string list(const Variables& variables) {
  std::string text;
  for (const auto& variable : variables) text += (text.empty() ? "" : ", ") + assignment(variable);
  return text;
}

}  // namespace

std::string assignment(const std::pair<std::string, std::string>& variable) {
  return variable.first + "=" + variable.second;
}

void GivenVariables::set(std::string name, std::string value) {
  to_set_.emplace_back(std::move(name), std::move(value));
}

void GivenVariables::set_if_unset(const char* name, const std::string& value) {
  if (!keeps(name)) set(name, value);
}

bool GivenVariables::keeps(const char* name) {
  const std::optional<std::string> own = environment_(name);
  if (own) kept_.emplace_back(name, *own);
  return own.has_value();
}

std::optional<std::string> GivenVariables::value(const std::string& name) const {
  if (std::optional<std::string> own = environment_(name.c_str())) return own;
  for (const auto& [set, value] : to_set_) {
    if (set == name) return value;
  }
  return std::nullopt;
}

std::string GivenVariables::set_words() const {
  return to_set_.empty() ? "nothing set" : "set " + list(to_set_);
}

std::string GivenVariables::kept_words() const {
  return kept_.empty() ? "" : "; kept your " + list(kept_);
}

}  // namespace gdr::cli

#include "doctor/capture/form.h"

#include <array>

namespace gdr::doctor {
namespace {

constexpr std::size_t kLongest = 1024;
constexpr unsigned kMostGroups = 4;

bool has_form(std::string_view text) {
  return text.size() <= kLongest && text.find('\0') == std::string_view::npos;
}

}  // namespace

void Form::Free::operator()(regex_t* compiled) const {
  regfree(compiled);
  delete compiled;
}

Form::Compiled Form::compile(const std::string& expression) {
  auto compiled = std::make_unique<regex_t>();
  // One that is not well formed, which only a programmer can write, matches nothing.
  if (regcomp(compiled.get(), expression.c_str(), REG_EXTENDED) != 0) return nullptr;
  return Compiled(compiled.release());
}

Form::Form(const std::string& expression)
    : whole_(compile("^(" + expression + ")$")), part_(compile(expression)) {}

std::optional<std::string> Form::group(std::string_view text, unsigned number) const {
  // The first group is the one around all.
  std::array<regmatch_t, kMostGroups + 2> found{};
  const std::string copy(text);
  if (!whole_ || !has_form(text) || number > kMostGroups ||
      regexec(whole_.get(), copy.c_str(), found.size(), found.data(), 0) != 0) {
    return std::nullopt;
  }
  const regmatch_t& part = found.at(number + 1);
  if (part.rm_so < 0) return std::string();
  return copy.substr(static_cast<std::size_t>(part.rm_so),
                     static_cast<std::size_t>(part.rm_eo - part.rm_so));
}

std::optional<std::string> Form::found_in(std::string_view text) const {
  regmatch_t found{};
  const std::string copy(text);
  if (!part_ || !has_form(text) || regexec(part_.get(), copy.c_str(), 1, &found, 0) != 0) {
    return std::nullopt;
  }
  return copy.substr(static_cast<std::size_t>(found.rm_so),
                     static_cast<std::size_t>(found.rm_eo - found.rm_so));
}

}  // namespace gdr::doctor

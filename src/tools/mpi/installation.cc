#include "mpi/installation.h"

#include <cctype>

namespace gdr::mpi {
namespace {

bool is_digit(char character) { return std::isdigit(static_cast<unsigned char>(character)) != 0; }

// Past a number, which counts no further than what a version can be.
unsigned take_number(const std::string& text, std::size_t& at) {
  unsigned value = 0;
  for (; at < text.size() && is_digit(text[at]); ++at) {
    if (value < 1'000'000) value = value * 10 + static_cast<unsigned>(text[at] - '0');
  }
  return value;
}

}  // namespace

const char* name_of(Family family) {
  constexpr const char* kNames[] = {"unknown MPI", "Open MPI",  "MPICH",
                                    "MVAPICH",     "Intel MPI", "Cray MPICH"};
  return kNames[static_cast<std::size_t>(family)];
}

Version parse_version(const std::string& text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at]) || (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '.')))
      continue;
    std::size_t end = at;
    Version version;
    version.major = take_number(text, end);
    if (end + 1 >= text.size() || text[end] != '.' || !is_digit(text[end + 1])) continue;
    version.minor = take_number(text, ++end);
    if (end + 1 < text.size() && text[end] == '.' && is_digit(text[end + 1])) {
      version.patch = take_number(text, ++end);
    }
    return version;
  }
  return {};
}

Version Installation::number() const {
  return product == "IBM Spectrum MPI" ? Version{4, 0, 0} : parse_version(version);
}

bool Installation::has(const std::string& framework, const std::string& component) const {
  const auto found = components.find(framework);
  return found != components.end() && found->second.contains(component);
}

std::string Installation::parameter(const std::string& name) const {
  const auto found = parameters.find(name);
  return found == parameters.end() ? std::string() : found->second.value;
}

Tri Installation::flag(const std::string& name) const {
  const std::string value = parameter(name);
  if (value == "true" || value == "1" || value == "yes" || value == "on") return Tri::kYes;
  return value.empty() ? Tri::kUnknown : Tri::kNo;
}

std::string Installation::title() const {
  return (product.empty() ? name_of(family) : product) +
         (version.empty() ? ", unknown version" : " " + version);
}

}  // namespace gdr::mpi

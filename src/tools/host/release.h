// A release of a kernel, a driver or a library, as far as it decides what works.
//
//   if (parse_release("6.8.0-45-generic") < Release{6, 11}) ...
#pragma once

#include <cstdio>
#include <string>

namespace gdr::host {

// {0, 0}: unknown.
struct Release {
  unsigned major = 0, minor = 0;
  bool known() const { return major > 0; }
  bool operator==(const Release&) const = default;
  bool operator<(const Release& other) const {
    return major != other.major ? major < other.major : minor < other.minor;
  }
};

inline Release parse_release(const std::string& text) {
  Release release;
  if (std::sscanf(text.c_str(), "%5u.%5u", &release.major, &release.minor) != 2) return {};
  return release;
}

}  // namespace gdr::host

#include "host/plain_path.h"

#include <algorithm>
#include <cctype>

namespace gdr::host {

bool is_plain_path(const std::string& path) {
  if (path.empty() || path[0] != '/' || path.size() > 255) return false;
  const bool letters = std::ranges::all_of(path, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '/' || c == '.' || c == '_' || c == '-' || c == '+';
  });
  return letters && (path + "/").find("/../") == std::string::npos;
}

}  // namespace gdr::host

#include "manual/command.h"

#include <algorithm>

namespace gdr::manual {

std::string page_name(const std::string& command_name) {
  std::string name = command_name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

}  // namespace gdr::manual

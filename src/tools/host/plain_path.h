// Paths that may stand in commands and journals: a stranger's capture, or a damaged file, names
// others too.
#pragma once

#include <string>

namespace gdr::host {

// Absolute, of letters that no shell and no log reads as anything else, and no way out:
// "/run/nvidia/driver".
bool is_plain_path(const std::string& path);

}  // namespace gdr::host

// What only scripts and the build call: `gdr __complete -- WORDS...`, `gdr __manual DIR` and
// `gdr __write FILE`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace gdr::cli {

// The exit status; nothing: `words` are for people's commands.
std::optional<int> run_hidden(const std::vector<std::string>& words);

}  // namespace gdr::cli

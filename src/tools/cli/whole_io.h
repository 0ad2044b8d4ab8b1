// Reading to the end, past interruptions and short reads.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gdr::cli {

// Everything that `fd` gives, in pieces, to `sink`.
Result<void> read_whole(int fd, const std::function<void(std::string_view)>& sink);

// The same of a log, whose length nobody knows: where it takes more than two seconds and standard
// error is a terminal, a line there says how far `command` is.
Result<void> read_log(int fd, const std::string& command,
                      const std::function<void(std::string_view)>& sink);

// A file's content. EINVAL: it cannot be read, with the reason.
Result<std::string> read_file(const std::string& name);

}  // namespace gdr::cli

// Reading and writing to the end, past interruptions and short writes.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace gdr::cli {

// Everything that `fd` gives, in pieces, to `sink`.
Result<void> read_whole(int fd, const std::function<void(std::string_view)>& sink);

// Replaces the file's content. The error names the file.
Result<void> write_file(const std::string& path, std::string_view bytes);

// Whether all of it went out.
bool write_whole(int fd, std::string_view bytes);

}  // namespace gdr::cli

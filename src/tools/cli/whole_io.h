// Reading to the end, past interruptions and short reads.
#pragma once

#include <functional>
#include <string_view>

#include "base/result.h"

namespace gdr::cli {

// Everything that `fd` gives, in pieces, to `sink`.
Result<void> read_whole(int fd, const std::function<void(std::string_view)>& sink);

}  // namespace gdr::cli

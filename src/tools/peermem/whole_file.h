// Whole files of this machine: those that the user named, and those of a build. They are written by
// base/output_file.h.
//
//   Result<std::string> bytes = read_whole_file("nvidia-peermem.ko");
#pragma once

#include <string>

#include "base/result.h"

namespace gdr::peermem {

// At most 512 MiB. The error's line names the file.
Result<std::string> read_whole_file(const std::string& path);
// Whether a file could be put there.
Result<void> check_writable(const std::string& path);

}  // namespace gdr::peermem

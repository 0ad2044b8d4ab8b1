// Whole files of this machine, read and written: those that the user named, and those of a build.
//
//   Result<void> put = replace_file("nvidia-peermem.ko", bytes);
#pragma once

#include <string>

#include "base/result.h"

namespace gdr::peermem {

// At most 512 MiB. The error's line names the file.
Result<std::string> read_whole_file(const std::string& path);
// EEXIST: there is one.
Result<void> write_new_file(const std::string& path, const std::string& bytes);
// Beside it, and then in its place: there is never half of it.
Result<void> replace_file(const std::string& path, const std::string& bytes);
// Whether a file could be put there.
Result<void> check_writable(const std::string& path);

}  // namespace gdr::peermem

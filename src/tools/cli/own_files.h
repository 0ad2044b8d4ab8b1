// Files that belong to this program: built and installed trees look alike, and have them at the
// same places beside the folder that the program is in.
//
//   Result<std::string> source = own_folder("share/gdrkit/kernel");
#pragma once

#include <string>

#include "base/result.h"

namespace gdr::cli {

// Whether or not it is there.
Result<std::string> own_folder(const std::string& name);

}  // namespace gdr::cli

// Where the stand-ins are, and whether they can be used as the environment configures them.
//
//   Result<std::string> folder = stand_in_folder();
//   if (folder) {
//     if (Result<void> usable = check_soft_nic(*folder); !usable) return refuse(usable.error());
//   }
#pragma once

#include <string>

#include "base/result.h"

namespace gdr::cli {

// ../lib/gdrkit beside the folder of this program: built and installed trees look alike.
Result<std::string> stand_in_folder();

// ENOENT where the stand-in is missing; EINVAL where one of its variables is wrong, with one line
// that names the value and what is allowed.
Result<void> check_soft_nic(const std::string& folder);
Result<void> check_soft_gpu(const std::string& folder);
Result<void> check_observer(const std::string& folder);

// The library that `gdr watch` preloads.
std::string watcher_in(const std::string& folder);
Result<void> check_watcher(const std::string& folder);

}  // namespace gdr::cli

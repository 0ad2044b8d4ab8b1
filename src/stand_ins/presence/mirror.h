// Around a place in the PCI tree, what the machine has: for a program that the preloaded library
// has led into the tree, and that goes up or aside from there ("device/../class"). Where the tree
// is mounted the machine's own folders are there.
//
//   Result<void> done = mirror_machine("/tmp/devices", "");
#pragma once

#include <string>

#include "base/result.h"

namespace gdr::presence {

// In each folder below FOLDER/sys that the machine has as well: a link to each entry that only the
// machine has. `root`: what lies in front of the machine's /sys.
Result<void> mirror_machine(const std::string& folder, const std::string& root);

}  // namespace gdr::presence

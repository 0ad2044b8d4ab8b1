// Where the stand-ins come from: packages of gdrkit leave them to one of their own.
//
//   if (!exists(library)) return Error{ENOENT, missing_stand_in(library)};
#pragma once

#include <string>

#include "text/command.h"

namespace gdr::participants {

// What to type to have the stand-ins. `root` holds the package managers' databases; `program` is
// where this program lies.
text::Command command_for_stand_ins(const std::string& root, const std::string& program);
text::Command command_for_stand_ins();

// One line about a file of theirs that is not there.
std::string missing_stand_in(const std::string& path);

}  // namespace gdr::participants

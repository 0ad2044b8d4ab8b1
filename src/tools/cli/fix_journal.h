// The journal of gdr fix, for all that change a machine.
//
//   const std::string reason = obstacle(*journal, machine, file);
#pragma once

#include <string>

#include "fix/journal.h"
#include "fix/machine.h"

namespace gdr::cli {

inline constexpr const char* kJournalFolder = "/var/lib/gdrkit/fix";

// Why nothing can be changed now, in one line; empty if nothing is in the way.
std::string obstacle(const fix::Journal& journal, const fix::Machine& machine,
                     const std::string& file);

}  // namespace gdr::cli

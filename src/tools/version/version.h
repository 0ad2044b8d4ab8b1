// Which gdr this is. The build writes the values (cmake/Version.cmake) into one source file of this
// layer, so a commit compiles nothing else anew.
//
//   document["version"] = program_version();   // "0.2.0+g7a19af9"
#pragma once

#include <string>

namespace gdr {

// What documents and other hosts are told: the release ("0.2.0"), or what was built since or before
// it
// ("0.2.0+5.g7a19af9", "0.2.0+g7a19af9.dirty"; without git only the number).
std::string program_version();

// What --version prints: a line with the number, the commit and its date, and a line about the
// build.
std::string described_version();

}  // namespace gdr

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

// "7a19af9", "7a19af9-dirty"; "unknown" where the build had no git.
std::string program_commit();

struct BuildFacts {
  std::string number;       // "0.2.0", without the commit
  std::string commit_date;  // "2026-11-22"; empty: not known
  std::string build_type;   // "Release"
  std::string compiler;     // "GCC 12.2.0"
  std::string processor;    // "x86_64"
  std::string glibc;        // the oldest that it works with: "2.34"
};
BuildFacts build_facts();

// What --version prints: a line with the number, the commit and its date, and a line about the
// build.
std::string described_version();

}  // namespace gdr

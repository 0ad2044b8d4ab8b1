// The decision of `gdr watch`: whether a program can be watched, and what LD_PRELOAD it gets. A
// function of its inputs alone.
//
//   Result<std::string> preload = watch_preload(program, "/usr/lib/gdrkit/watch/libgdr-watch.so",
//                                               environment("LD_PRELOAD").value_or(""));
#pragma once

#include <string>

#include "base/result.h"
#include "cli/run_program_file.h"

namespace gdr::cli {

// `library` in front of what is preloaded already: what is behind it in LD_PRELOAD, it watches.
// EINVAL where the program would not start with it.
Result<std::string> watch_preload(const ProgramFile& program, const std::string& library,
                                  const std::string& preloaded);

}  // namespace gdr::cli

// Spellings of options that gdr had before its first release. Whoever still types one is told what
// to type now, in one line.
//
//   removed_option(program.app, {"perf", "--json", "out.json"}, 3)
//   // "gdr perf: --json takes no file; type: gdr perf --report out.json"
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

namespace gdr::cli {

// `words`: all behind "gdr". Only the first `own` of them are gdr's; the rest belong to a program
// that it is to start.
std::optional<std::string> removed_option(const CLI::App& program,
                                          const std::vector<std::string>& words, std::size_t own);

}  // namespace gdr::cli

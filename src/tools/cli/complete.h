// Words that a shell offers for the one that is being typed (gdr __complete).
//
//   Completion offered = complete(program, {"doctor", "--only", "gpus,io"});
//   // {"gpus,iommu", "IOMMU between GPU and NIC"}
//
// It reads names of devices from sysfs, but starts nothing, and is called at each press of a key.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "cli/complete_values.h"

namespace gdr::cli {

// The shell completes these by itself, behind the candidates.
enum class Also { kNothing, kFiles, kFolders, kProgram };

struct Completion {
  std::vector<Candidate> candidates;
  Also also = Also::kNothing;
  std::size_t program_at = 0;  // kProgram: which of the words is the program
};

// `words`: all behind "gdr"; the last one, which may be empty, is being typed.
Completion complete(const CLI::App& program, const std::vector<std::string>& words);

// A candidate a line, with a tab before its description; then, if there is more to complete,
// ":files", ":folders" or ":program N".
std::string to_lines(const Completion& completion);

// `words` behind __complete. It always succeeds: a shell must not be disturbed.
int run_complete(std::vector<std::string> words);

}  // namespace gdr::cli

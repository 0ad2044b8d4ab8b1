// The parts of `gdr peermem`, and what they have in common.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/subcommands.h"
#include "peermem/survey.h"

namespace gdr::cli {

struct PeermemOptions {
  peermem::Choices choices;
  std::string root = "/";
  bool json = false;
};

// Which kernel, driver and RDMA stack; --root and --json.
void add_peermem_options(CLI::App& command, PeermemOptions& options);
// Throws for what cannot be.
void check_peermem_options(const PeermemOptions& options);

Result<peermem::Survey> take_survey(const PeermemOptions& options);

// What build makes and install takes, where nobody names a file.
inline constexpr const char* kBuiltModule = "nvidia-peermem.ko";

void add_peermem_build(CLI::App& peermem, Action& chosen);
void add_peermem_install(CLI::App& peermem, Action& chosen);
void add_peermem_remove(CLI::App& peermem, Action& chosen);
void add_peermem_status(CLI::App& peermem, Action& chosen);

}  // namespace gdr::cli

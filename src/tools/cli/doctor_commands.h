// The subcommands of `gdr doctor`, each defined in the file of its name.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/subcommands.h"

namespace gdr::cli {

void add_doctor_capture(CLI::App& doctor, Action& chosen);

}  // namespace gdr::cli

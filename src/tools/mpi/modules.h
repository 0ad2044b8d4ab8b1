// The environment modules of a machine that lead to an MPI: files of Tcl (Environment Modules) and
// Lua (Lmod) below MODULEPATH. Nothing of them is carried out: what is read is which folders they
// put into PATH.
//
//   for (const Module& module : mpi_modules(machine)) look_into(module.bin);
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpi/machine.h"

namespace gdr::mpi {

struct Module {
  std::string name;  // what `module load` takes: "openmpi/4.1.5"
  std::string file;
  std::string bin;  // the folder that it puts into PATH
};

std::vector<Module> mpi_modules(const Machine& machine);

// The folders that the text of one module file puts into PATH, with its own variables replaced.
// Folders that depend on anything else are left out.
std::vector<std::string> folders_of_module(std::string_view text);

}  // namespace gdr::mpi

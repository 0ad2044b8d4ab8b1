// Finds the file that the loader takes for a library that another one needs.
//
//   find_library(machine, "/opt/hpcx/ompi/lib/openmpi/mca_pml_ucx.so", "libucp.so.0")
//   // "/opt/hpcx/ucx/lib/libucp.so.0"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mpi/installation.h"
#include "mpi/machine.h"
#include "mpi/shared_object.h"

namespace gdr::mpi {

// A library of the machine, found by its path.
std::optional<SharedObject> read_library(const Machine& machine, const std::string& path);

// The folders in which the file at `path` has its libraries looked for. The loader means the folder
// by which a library was reached, and links in it are common: `path` has none.
std::vector<std::string> run_path_of(const SharedObject& object, const std::string& path);

// The first that `names` start with and that `from` needs. `first`: folders that are looked in
// first, since a module would put them into LD_LIBRARY_PATH. Empty: it needs none, or it is in none
// of the folders.
std::string find_needed(const Machine& machine, const std::string& from, std::string_view name,
                        const std::vector<std::string>& first = {});

// "/usr/lib/x86_64-linux-gnu/libucp.so.0" -> "/usr": above the folder of libraries.
std::string prefix_of_library(const std::string& library);

// The first file in `folder` whose name starts with `name`; empty: there is none.
std::string file_starting(const Machine& machine, const std::string& folder, std::string_view name);

// Fills in whether the installation's library has MPIX_Query_cuda_support, and what that returns.
void ask_query_function(const Machine& machine, Installation& one);

// Folders where the loader looks for all programs: of this machine's kind, and of
// /etc/ld.so.conf.d.
std::vector<std::string> system_folders(const Machine& machine);

}  // namespace gdr::mpi

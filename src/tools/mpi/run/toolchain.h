// The MPI that is tried: its launcher and its compiler, which belong together, and the program made
// with them.
//
//   Result<Toolchain> mpi = find_toolchain(wishes, folder);
//   Result<std::string> program = compile(*mpi, "/usr/share/gdrkit/mpi/gdr-mpi.c", folder);
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace gdr::mpi_run {

enum class Family { kUnknown, kOpenMpi, kMpich, kIntel };

// Whose a tool is: "Open MPI 4.1.4".
struct Identity {
  Family family = Family::kUnknown;
  std::string version;
  std::string text() const;
  bool operator==(const Identity&) const = default;
};

// From what `mpirun --version` prints.
Identity identity_of_launcher(std::string_view version_text);
// From the macros that <mpi.h> defines, as `mpicc -E -dM` prints them.
Identity identity_of_compiler(std::string_view macros);
// Whether ranks of the one can be started by the other. MVAPICH and others that are made from MPICH
// have versions of their own and MPICH's launcher.
bool belong_together(const Identity& launcher, const Identity& compiler);

enum class Launcher { kMpirun, kSrun };

struct ToolchainWishes {
  Launcher launcher = Launcher::kMpirun;
  std::string mpirun, mpicc;  // as typed; empty: chosen
  // A program's file by its name, along PATH. EPERM: it is there and must not be started.
  std::function<Result<std::string>(const std::string& name)> find;
};

struct Toolchain {
  std::string launcher, compiler;  // files
  Identity identity;
};

// ENOENT: a tool is missing; EINVAL: they do not belong together. `folder` is for a moment's file.
Result<Toolchain> find_toolchain(const ToolchainWishes& wishes, const std::string& folder);

// The program's file, in `folder`.
Result<std::string> compile(const Toolchain& mpi, const std::string& source,
                            const std::string& folder);

}  // namespace gdr::mpi_run

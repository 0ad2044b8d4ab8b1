// Reads what a shared library or program tells the loader: which libraries it needs, where
// they are looked for, and whether it has a symbol for others. The file may be anybody's: every
// offset is checked, and of a large one only the tables are read.
//
//   if (const auto object = read_shared_object(files, "usr/lib/libmpi.so.40")) object->needed;
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "host/files.h"

namespace gdr::mpi {

struct SharedObject {
  std::vector<std::string> needed;    // "libucp.so.0"
  std::vector<std::string> run_path;  // folders, $ORIGIN still in them
  bool run_path_is_weak = false;      // RUNPATH, behind LD_LIBRARY_PATH; else RPATH, before it
  bool names_complete = false;        // all names of symbols could be read
  std::string names;                  // the table of names, each between two NULs

  bool needs(std::string_view start) const;
  // A symbol that it has, or wants: the table of names does not tell.
  bool mentions(const std::string& symbol) const;
};

// `path` below the root. Nothing: it is no such file of 64-bit little-endian machines.
std::optional<SharedObject> read_shared_object(const host::Files& files, const std::string& path);

}  // namespace gdr::mpi

// Who besides root and this account could change a file, and so decide what this process runs,
// loads or compiles.
//
//   if (const auto stranger = who_else_can_change("/opt/mpi/bin/ompi_info")) {
//     return Error{EPERM, stranger->text()};  // "/opt/mpi belongs to bob"
//   }
//
// The file, every folder above it and the folder of every link on the way are looked at, each by a
// descriptor of its own. A path that passes stays as it is: nobody else could put another file at
// it, so it may be used by its name afterwards.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace gdr::process {

struct Stranger {
  std::string place;          // the file, link or folder
  std::optional<uid_t> user;  // whose it is; nothing: it is the others' right to write
  std::string others;         // "everybody", "the group team"
  // "/opt/mpi belongs to bob", "/srv can be written by everybody"
  std::string text() const;
  // "bob", or "#1234", as sudo takes it; empty: not a single account.
  std::string account() const;
};

// Nothing: nobody. In a sticky folder, such as /tmp, what belongs to root or this account is safe.
std::optional<Stranger> who_else_can_change(const std::string& path);

// As above, and nobody else can put something into the folder either: for folders in which
// programs, libraries or headers are looked for.
std::optional<Stranger> who_else_can_add_to(const std::string& folder);

// As above, of everything in the folder: for what a build reads and runs. A link in it is followed
// once, to what it leads to.
std::optional<Stranger> who_else_can_change_in(const std::string& folder);

}  // namespace gdr::process

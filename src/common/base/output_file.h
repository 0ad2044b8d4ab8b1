// Files that a user has named for output. Anything that can be written to will do: a file, a pipe,
// /dev/stdout, what a shell makes of >(program). But in /tmp and its like anybody can put something
// at that name first, and so have a file of the user's overwritten, or read what is written.
//
//   if (Result<void> written = write_output("report.json", text); !written) ...
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr {

enum class Existing { kReplace, kKeep, kRefuse };

// In a folder that others may write, a link on the way or a thing at its end is taken only where it
// belongs to this account or to the folder's owner, and only where it has no second name: what
// Linux asks of sticky folders with fs.protected_symlinks, protected_fifos, protected_regular and
// protected_hardlinks, here whatever these are set to. In a folder that belongs to another account,
// root takes neither links nor pipes at all, and a file only as above. EPERM: it is not so. EEXIST:
// `kRefuse`, and there is something.
Result<UniqueFd> open_output(const std::string& path, Existing existing, mode_t mode = 0644);

// Replaces the file, or writes to what else is there. A file appears whole or not at all: it is
// written beside its place and takes the name when it is on disk (file_beside.h). What was there
// stays where that fails, on a full disk for example. Its content is replaced in place only where
// no other file can take its place: it has a second name, its folder may not be written, its owner
// cannot be kept, or it is a mount. Room for the new content is taken first even then.
Result<void> write_output(const std::string& path, std::string_view bytes,
                          Existing existing = Existing::kReplace, mode_t mode = 0644);

// Whether write_output() could write to `path`; leaves nothing behind.
Result<void> check_output(const std::string& path);

// A folder for files to be made in, by their names below the descriptor: made with mode 0700 where
// there is none, by a path as above. EPERM: another account owns it or can write to it.
Result<UniqueFd> open_output_folder(const std::string& path);

// Whether all of it went out.
bool write_whole(int file, std::string_view bytes);

}  // namespace gdr

// A kill -9 would leave behind for ever what a process makes for a while. So its maker holds it
// locked (flock(2)) for as long as it needs it, and whoever makes the next one of its kind sweeps
// those that nobody holds.
//
//   sweep_leftovers(folder, ".gdr-new-", Leftover::kFile);
//   UniqueFd made(openat(folder, (".gdr-new-" + random_ending()).c_str(), O_CREAT | O_EXCL | ...));
//   if (!hold(made.get())) ...   // swept before it was locked: make another one
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace gdr {

enum class Leftover { kFile, kFolder };

// The mode that a folder is made with to be swept one day: its sticky bit tells it from a folder of
// the user's that has such a name, as gdr-mpi-output.
inline constexpr mode_t kSweptFolder = 01700;

// Six letters and digits, to be put behind the prefix.
std::string random_ending();

// Until the descriptor is closed. False: somebody has swept it.
bool hold(int made);

// In the folder that is open: this account's own only, of one name, and on a file system of this
// host. A folder of the mode above goes with all that is in it, and only from where nobody else can
// have put it.
void sweep_leftovers(int folder, std::string_view prefix, Leftover kind);

}  // namespace gdr

// A file that this process and others of its account write together, at a path that a variable
// names. That may lie in /tmp or /dev/shm, where anybody can put something first.
//
//   Result<UniqueFd> file = open_own_file("/tmp/run.pcap", O_RDWR | O_APPEND);
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr {

// Made with mode 0600 where there is none, and locked (flock(2), exclusively) in either case. No
// link is followed, nothing but a regular file taken, and one that is there only where it belongs
// to this account, has no other name and can be written by nobody else: who can shorten a file that
// is mapped can end the process. EBUSY: somebody has held the lock for two seconds.
Result<UniqueFd> open_own_file(const std::string& path, int flags);
// Bytes that a file of this process may have (RLIMIT_FSIZE). Whoever writes beyond them is ended by
// a signal.
std::uint64_t most_bytes_of_file();
// The first bytes of an empty file: all of them or none, so that it stays a new one. False: errno.
bool write_first_bytes(int file, std::span<const std::byte> bytes);
// Such a file once more, until flock(LOCK_UN). EBUSY as above; `path` is for the error's line.
Result<void> lock_own_file(int file, const std::string& path);

}  // namespace gdr

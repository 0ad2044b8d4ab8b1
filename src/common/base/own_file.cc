#include "base/own_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/clock.h"
#include "base/output_walk.h"

namespace gdr {
namespace {

constexpr Nanoseconds kPatience = 2 * kSecond;
constexpr useconds_t kPause = 10'000;
constexpr int kAttempts = 3;  // somebody may remove it between two looks

Result<void> check_owner(int file, const std::string& path) {
  struct stat status {};
  if (fstat(file, &status) != 0) return from_errno(path);
  if (!S_ISREG(status.st_mode)) {
    return Error{EINVAL, path + " is not a regular file; remove it or name another"};
  }
  if (status.st_uid != geteuid() || others_write(status)) {
    return Error{EPERM, path + " is writable by other users; remove it or name another"};
  }
  if (status.st_nlink > 1) {
    return Error{EPERM, path + " has a second name (a hard link); remove it or name another"};
  }
  return {};
}

}  // namespace

std::uint64_t most_bytes_of_file() {
  rlimit limit{};
  return getrlimit(RLIMIT_FSIZE, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
}

bool write_first_bytes(int file, std::span<const std::byte> bytes) {
  if (bytes.size() > most_bytes_of_file()) return errno = EFBIG, false;
  errno = ENOSPC;  // a part is written without an error
  if (pwrite(file, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()))
    return true;
  const int error = errno;
  static_cast<void>(ftruncate(file, 0));
  errno = error;
  return false;
}

// Others of the account hold it for microseconds; whoever can read the file can hold it for good.
Result<void> lock_own_file(int file, const std::string& path) {
  for (const Nanoseconds end = now() + kPatience; flock(file, LOCK_EX | LOCK_NB) != 0;) {
    if (errno != EWOULDBLOCK && errno != EINTR) return from_errno(path);
    if (now() > end) return Error{EBUSY, path + " is locked by another process; name another"};
    usleep(kPause);
  }
  return {};
}

Result<UniqueFd> open_own_file(const std::string& path, int flags) {
  flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
  for (int i = 0; i < kAttempts; ++i) {
    UniqueFd file(open(path.c_str(), flags | O_CREAT | O_EXCL, 0600));
    const bool is_new = static_cast<bool>(file);
    if (!is_new && errno == EEXIST) file.reset(open(path.c_str(), flags));
    if (!file && errno == ENOENT && i + 1 < kAttempts) continue;
    if (!file && errno == ELOOP) {
      return Error{ELOOP, path + " is a symbolic link; name the file itself"};
    }
    if (!file) return from_errno(path);
    // A new one is this account's, whatever owner a network's file system shows.
    if (Result<void> own = is_new ? Result<void>() : check_owner(file.get(), path); !own) {
      return own.error();
    }
    if (Result<void> locked = lock_own_file(file.get(), path); !locked) return locked.error();
    return file;
  }
  return from_errno(path);
}

}  // namespace gdr

#include "base/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/output_walk.h"
#include "base/random.h"
#include "base/unique_fd.h"

namespace gdr {
namespace {

constexpr std::size_t kEnding = 6;

std::vector<std::string> names_with(int folder, std::string_view prefix) {
  std::vector<std::string> names;
  UniqueFd again(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(again ? fdopendir(again.get()) : nullptr,
                                                    &closedir);
  if (!listing) return names;
  static_cast<void>(again.release());
  while (const dirent* entry = readdir(listing.get())) {
    const std::string_view name = entry->d_name;
    if (name.size() == prefix.size() + kEnding && name.starts_with(prefix))
      names.emplace_back(name);
  }
  return names;
}

// A file system of this host alone. On one of several hosts a lock may count for its own host only,
// and what another host works with would be swept.
bool has_locks_for_all(int folder) {
  constexpr unsigned kLocal[] = {EXT4_SUPER_MAGIC,      XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                 OVERLAYFS_SUPER_MAGIC, TMPFS_MAGIC,     RAMFS_MAGIC};
  struct statfs system {};
  return fstatfs(folder, &system) == 0 &&
         std::ranges::find(kLocal, static_cast<unsigned>(system.f_type)) != std::end(kLocal);
}

// Whether only this account and root can move a folder here.
bool is_closed_to_others(int folder) {
  struct stat status {};
  return fstat(folder, &status) == 0 && (status.st_uid == geteuid() || status.st_uid == 0) &&
         (!others_write(status) || (status.st_mode & S_ISVTX) != 0);
}

bool is_own(const struct stat& status, Leftover kind) {
  if (status.st_uid != geteuid()) return false;
  if (kind == Leftover::kFile) return S_ISREG(status.st_mode) && status.st_nlink == 1;
  return S_ISDIR(status.st_mode) && (status.st_mode & 01777) == kSweptFolder;
}

}  // namespace

std::string random_ending() {
  constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::string ending(kEnding, '0');
  std::uint64_t random = random_u64();
  for (char& digit : ending) {
    digit = kDigits[random % kDigits.size()];
    random /= kDigits.size();
  }
  return ending;
}

bool hold(int made) {
  struct stat status {};
  // Nobody sweeps on a file system without locks.
  if (flock(made, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
  return fstat(made, &status) == 0 && status.st_nlink > 0;
}

void sweep_leftovers(int folder, std::string_view prefix, Leftover kind) {
  if (!has_locks_for_all(folder)) return;
  if (kind == Leftover::kFolder && !is_closed_to_others(folder)) return;
  for (const std::string& name : names_with(folder, prefix)) {
    struct stat status {};
    // Looked at before it is opened: a device or a pipe of somebody's is left alone.
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || !is_own(status, kind)) {
      continue;
    }
    const UniqueFd found(
        openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
    if (!found || fstat(found.get(), &status) != 0 || !is_own(status, kind) ||
        flock(found.get(), LOCK_EX | LOCK_NB) != 0) {
      continue;
    }
    if (kind == Leftover::kFile) {
      unlinkat(folder, name.c_str(), 0);
    } else {
      std::error_code ignored;
      std::filesystem::remove_all("/proc/self/fd/" + std::to_string(folder) + "/" + name, ignored);
    }
  }
}

}  // namespace gdr

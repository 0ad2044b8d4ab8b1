#include "base/file_beside.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>

#include "base/leftovers.h"

namespace gdr {
namespace {

constexpr const char* kBesidePrefix = ".gdr-new-";  // short: the file's own name may be long
constexpr int kMostNames = 16;

std::string name_beside() { return kBesidePrefix + random_ending(); }

bool has_no_nameless_files(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == ENOENT || error == EINVAL;
}

}  // namespace

Result<FileBeside> FileBeside::make(int folder, mode_t mode) {
  sweep_leftovers(folder, kBesidePrefix, Leftover::kFile);
  FileBeside made(folder);
  made.file_.reset(openat(folder, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  if (made.file_) {
    hold(made.file_.get());
    return made;
  }
  if (!has_no_nameless_files(errno)) return from_errno("");
  for (int i = 0; i < kMostNames; ++i) {
    const std::string name = name_beside();
    made.file_.reset(
        openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (!made.file_ && errno == EEXIST) continue;
    if (!made.file_) return from_errno("");
    if (!hold(made.file_.get())) continue;
    made.temporary_ = name;
    return made;
  }
  return from_errno("");
}

FileBeside::~FileBeside() {
  if (!temporary_.empty()) unlinkat(folder_, temporary_.c_str(), 0);
}

int FileBeside::link_as(const std::string& name) const {
  const std::string file = "/proc/self/fd/" + std::to_string(file_.get());
  return linkat(AT_FDCWD, file.c_str(), folder_, name.c_str(), AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

Result<void> FileBeside::take_name(const std::string& name, bool replaces) {
  if (temporary_.empty()) {
    int error = link_as(name);
    if (error == 0) return {};
    for (int i = 0; error == EEXIST && replaces && temporary_.empty() && i < kMostNames; ++i) {
      const std::string free = name_beside();
      error = link_as(free);
      if (error == 0) temporary_ = free;
    }
    if (error != 0) return errno = error, from_errno("");
  }
  const unsigned flags = replaces ? 0 : RENAME_NOREPLACE;
  if (renameat2(folder_, temporary_.c_str(), folder_, name.c_str(), flags) == 0) {
    temporary_.clear();
    return {};
  }
  // Network file systems have no such rename, but second names.
  const bool linked = !replaces && errno == EINVAL &&
                      linkat(folder_, temporary_.c_str(), folder_, name.c_str(), 0) == 0;
  return linked ? Result<void>() : from_errno("");
}

}  // namespace gdr

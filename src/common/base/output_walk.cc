#include "base/output_walk.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "base/environment.h"

namespace gdr {
namespace {

constexpr int kMostLinks = 40;  // as the kernel
// As whom the kernel shows all accounts that a user namespace does not know.
constexpr uid_t kUnknownAccount = 65534;

const char* kind_of(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return "link";
  if (S_ISFIFO(status.st_mode)) return "pipe";
  return "file";
}

// Where root writes for another account, that account must not choose the file. An ordinary user
// trusts the owners of the folders that he names. Whoever owns "/" decides about every path: root,
// or whom a user namespace shows in its place.
bool is_foreign(uid_t owner) {
  struct stat top {};
  return geteuid() == 0 && owner != 0 && !(stat("/", &top) == 0 && top.st_uid == owner);
}

}  // namespace

bool others_write(const struct stat& status) { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

Result<void> OutputWalk::go() {
  if (path_.empty()) return Error{ENOENT, "a file without a name"};
  if (!turn(path_)) return from_errno(path_);
  while (!left_.empty()) {
    name_ = std::move(left_.front());
    left_.pop_front();
    ended_in_proc_ = false;
    if (left_.empty() && end_ == End::kFile) {
      thing_ = UniqueFd(openat(folder_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      if (!thing_ && errno == ENOENT) return {};
      if (!thing_) return from_errno(path_);
      if (Result<bool> at_end = look(); !at_end || *at_end) return without_value(at_end);
    } else if (Result<void> entered = enter(); !entered) {
      return entered;
    }
  }
  if (!thing_) thing_ = UniqueFd(dup(folder_.get()));
  return {};
}

bool OutputWalk::turn(const std::string& target) {
  const std::vector<std::string_view> names = split(target, '/');
  std::deque<std::string> first;
  for (const std::string_view name : names) {
    if (!name.empty() && name != ".") first.emplace_back(name);
  }
  left_.insert(left_.begin(), first.begin(), first.end());
  if (!folder_ || target.starts_with('/')) {
    const char* start = target.starts_with('/') ? "/" : ".";
    folder_ = UniqueFd(open(start, O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  return static_cast<bool>(folder_);
}

// O_DIRECTORY: what is mounted when it is used is mounted now.
UniqueFd OutputWalk::folder_below() const {
  return UniqueFd(
      openat(folder_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
}

Result<void> OutputWalk::enter() {
  UniqueFd next = folder_below();
  if (!next && errno == ENOENT && end_ == End::kFolder) {
    const mode_t mode = left_.empty() ? 0700 : 0755;
    if (mkdirat(folder_.get(), name_.c_str(), mode) != 0 && errno != EEXIST) {
      return from_errno(path_);
    }
    next = folder_below();
  }
  if (next) {
    folder_ = std::move(next);
    return {};
  }
  if (errno != ENOTDIR) return from_errno(path_);
  thing_ = UniqueFd(openat(folder_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!thing_) return from_errno(path_);
  const Result<bool> seen = look();
  if (seen && *seen) folder_ = std::move(thing_);  // of procfs; or a file, which has no names
  thing_.reset();
  return without_value(seen);
}

Result<bool> OutputWalk::look() {
  struct stat status {};
  if (fstat(thing_.get(), &status) != 0) return from_errno(path_);
  if (S_ISDIR(status.st_mode)) return true;
  if (Result<void> ours = check(status); !ours) return ours.error();
  if (!S_ISLNK(status.st_mode)) return true;
  if (++links_ > kMostLinks) return Error{ELOOP, path_ + ": too many links"};
  struct statfs system {};
  if (fstatfs(thing_.get(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC) {
    // The kernel's own, such as /proc/self/fd/63: their texts are not where they lead.
    thing_.reset(openat(folder_.get(), name_.c_str(), O_PATH | O_CLOEXEC));
    ended_in_proc_ = true;
    return thing_ ? Result<bool>(true) : from_errno(path_);
  }
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlinkat(thing_.get(), "", target.data(), target.size());
  thing_.reset();
  if (size <= 0 || !turn({target.data(), static_cast<std::size_t>(size)})) {
    return from_errno(path_);
  }
  return false;
}

Result<void> OutputWalk::check(const struct stat& thing) const {
  struct stat folder {};
  if (fstat(folder_.get(), &folder) != 0) return from_errno(path_);
  const bool foreign = is_foreign(folder.st_uid);
  if (!others_write(folder) && !foreign) return {};
  const std::string what = path_ + ": the " + kind_of(thing) + " '" + name_ + "' ";
  const char* const remedy = "; remove it or name another file";
  // The owner of a folder moves what lies in it, links of other accounts included.
  if (foreign && !S_ISREG(thing.st_mode)) {
    return Error{EPERM, what + "lies in a folder of another account" + remedy};
  }
  const bool is_owners = thing.st_uid == folder.st_uid && folder.st_uid != kUnknownAccount;
  if (thing.st_uid != geteuid() && !is_owners) {
    return Error{EPERM,
                 what + "belongs to another account, in a folder that others can write" + remedy};
  }
  if (thing.st_nlink > 1) {
    return Error{
        EPERM,
        what + "has a second name (a hard link), in a folder that others can write" + remedy};
  }
  return {};
}

}  // namespace gdr

#include "base/output_file.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <deque>

#include "base/environment.h"

namespace gdr {
namespace {

constexpr int kMostLinks = 40;  // as the kernel
constexpr int kLooks = 3;       // somebody may put something there between two looks
// As whom the kernel shows all accounts that a user namespace does not know.
constexpr uid_t kUnknownAccount = 65534;

bool others_write(const struct stat& status) { return (status.st_mode & (S_IWGRP | S_IWOTH)) != 0; }

const char* kind_of(const struct stat& status) {
  if (S_ISLNK(status.st_mode)) return "link";
  if (S_ISFIFO(status.st_mode)) return "pipe";
  return "file";
}

// Goes along a path as the kernel would, name by name, and looks at what is no folder before it is
// followed or opened.
class Walk {
 public:
  enum class End { kFile, kFolder };  // a folder is made where there is none

  Walk(const std::string& path, End end) : path_(path), end_(end) {}

  // Then folder() holds the last name, or is the last one for End::kFolder.
  Result<void> go() {
    if (path_.empty()) return Error{ENOENT, "a file without a name"};
    if (!turn(path_)) return from_errno(path_);
    while (!left_.empty()) {
      name_ = std::move(left_.front());
      left_.pop_front();
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

  int folder() const { return folder_.get(); }
  const std::string& name() const { return name_; }
  const UniqueFd& thing() const { return thing_; }  // empty: there is none
  bool went_by_link() const { return links_ > 0; }

 private:
  static Result<void> without_value(const Result<bool>& result) {
    return result ? Result<void>() : result.error();
  }

  bool turn(const std::string& target) {
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
  UniqueFd folder_below() const {
    return UniqueFd(
        openat(folder_.get(), name_.c_str(), O_PATH | O_NOFOLLOW | O_DIRECTORY | O_CLOEXEC));
  }

  Result<void> enter() {
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

  // False: it was a link, and the way goes on where that leads.
  Result<bool> look() {
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

  Result<void> check(const struct stat& thing) const {
    struct stat folder {};
    if (fstat(folder_.get(), &folder) != 0) return from_errno(path_);
    if (!others_write(folder)) return {};
    const bool is_ours = thing.st_uid == geteuid() ||
                         (thing.st_uid == folder.st_uid && folder.st_uid != kUnknownAccount);
    if (!is_ours) {
      return Error{EPERM, path_ + ": the " + kind_of(thing) + " '" + name_ +
                              "' belongs to another account, in a folder that others can write; "
                              "remove it or name another file"};
    }
    if (S_ISREG(thing.st_mode) && thing.st_nlink > 1) {
      return Error{EPERM, path_ +
                              ": the file has a second name (a hard link), in a folder that others "
                              "can write; remove it or name another file"};
    }
    return {};
  }

  std::string path_;
  End end_;
  UniqueFd folder_, thing_;
  std::string name_ = ".";
  std::deque<std::string> left_;
  int links_ = 0;
};

// The very thing that was looked at, whatever has its name by now.
UniqueFd opened(const UniqueFd& thing, int flags) {
  const std::string name = "/proc/self/fd/" + std::to_string(thing.get());
  return UniqueFd(open(name.c_str(), flags | O_CLOEXEC | O_NOCTTY));
}

// The file under a name of its own in the same folder, and then renamed. False: nothing is changed,
// and it has to be written in place.
bool write_beside(const Walk& walk, std::string_view bytes) {
  mode_t mode = 0644;
  if (walk.thing()) {
    struct stat status {};
    // Owner, rights and second names of a file are kept: only a plain one of this account is
    // replaced by another. A link leads elsewhere, and stays one.
    if (walk.went_by_link() || fstat(walk.thing().get(), &status) != 0 ||
        !S_ISREG(status.st_mode) || status.st_nlink != 1 || status.st_uid != geteuid() ||
        status.st_gid != getegid() || faccessat(walk.folder(), walk.name().c_str(), W_OK, 0) != 0) {
      return false;
    }
    mode = status.st_mode & 0777;
  }
  const std::string name = "." + walk.name() + "." + std::to_string(getpid());
  const int folder = walk.folder();
  UniqueFd file(openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                       walk.thing() ? 0600 : mode));
  if (!file) return false;
  const bool well = (!walk.thing() || fchmod(file.get(), mode) == 0) &&
                    write_whole(file.get(), bytes) && fsync(file.get()) == 0 &&
                    close(file.release()) == 0 &&
                    renameat(folder, name.c_str(), folder, walk.name().c_str()) == 0;
  if (!well) unlinkat(folder, name.c_str(), 0);
  return well;
}

}  // namespace

Result<UniqueFd> open_output(const std::string& path, Existing existing, mode_t mode) {
  if (path.ends_with('/')) return Error{EISDIR, path + ": is a folder; name a file"};
  for (int i = 0; i < kLooks; ++i) {
    Walk walk(path, Walk::End::kFile);
    if (Result<void> gone = walk.go(); !gone) return gone.error();
    if (walk.thing() && existing == Existing::kRefuse) {
      return Error{EEXIST, path + ": file exists; choose another name"};
    }
    const int truncate = existing == Existing::kReplace ? O_TRUNC : 0;
    UniqueFd file =
        walk.thing() ? opened(walk.thing(), O_WRONLY | truncate)
                     : UniqueFd(openat(walk.folder(), walk.name().c_str(),
                                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (file) return file;
    if (errno != EEXIST) return from_errno(path);
  }
  return from_errno(path);
}

Result<void> write_output(const std::string& path, std::string_view bytes) {
  Walk walk(path, Walk::End::kFile);
  // open_output() says what is wrong with the path.
  if (!path.ends_with('/') && walk.go() && write_beside(walk, bytes)) return {};
  Result<UniqueFd> file = open_output(path, Existing::kReplace);
  if (!file) return Error{file.error().code, "cannot write " + file.error().message};
  if (!write_whole(file->get(), bytes)) return from_errno("cannot write " + path);
  // Some file systems tell of a full disk only now.
  if (close(file->release()) != 0) return from_errno("cannot write " + path);
  return {};
}

Result<void> check_output(const std::string& path) {
  Walk walk(path, Walk::End::kFile);
  if (!path.ends_with('/') && walk.go() && !walk.thing()) {
    if (faccessat(walk.folder(), ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
    return from_errno("cannot write " + path);
  }
  const Result<UniqueFd> file = open_output(path, Existing::kKeep);
  if (!file) return Error{file.error().code, "cannot write " + file.error().message};
  return {};
}

Result<UniqueFd> open_output_folder(const std::string& path) {
  Walk walk(path, Walk::End::kFolder);
  if (Result<void> gone = walk.go(); !gone) return gone.error();
  UniqueFd folder(openat(walk.folder(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  struct stat status {};
  if (!folder || fstat(folder.get(), &status) != 0) return from_errno(path);
  if (status.st_uid != geteuid()) {
    return Error{EPERM, path + ": the folder belongs to another account; choose a new name"};
  }
  if (others_write(status)) {
    return Error{EPERM, path +
                            ": others can write to the folder; choose a new name, or type: "
                            "chmod go-w " +
                            path};
  }
  return folder;
}

bool write_whole(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace gdr

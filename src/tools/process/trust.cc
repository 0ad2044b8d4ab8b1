#include "process/trust.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <filesystem>

#include "base/environment.h"
#include "base/printable.h"
#include "base/unique_fd.h"
#include "process/accounts.h"

namespace gdr::process {
namespace {

constexpr int kMostLinks = 40;  // as the kernel

// With an access control list the group's bits are the most that anybody in the list has.
bool has_access_list(int fd) {
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  return getxattr(name.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

// Empty: nobody else.
std::string who_else_writes(int fd, const struct stat& status) {
  if ((status.st_mode & S_IWOTH) != 0) return "everybody";
  if ((status.st_mode & S_IWGRP) == 0) return {};
  if (has_access_list(fd)) return "others, by its access control list";
  if (has_trusted_members_only(status.st_gid)) return {};
  return "the group " + printable(name_of_group(status.st_gid));
}

// Goes along a path as the kernel would, name by name.
class Walk {
 public:
  // True: to the end of it, or to where it leads to nothing.
  bool go(const std::string& path) {
    turn(path.starts_with('/') ? path
                               : std::filesystem::current_path(ignored_).string() + "/" + path);
    bool safe = look();
    while (safe && !left_.empty()) {
      const std::string name = std::move(left_.front());
      left_.pop_front();
      safe = step(name);
    }
    return safe;
  }
  // What is in a folder to which nobody else can add.
  bool go_below(const std::filesystem::directory_entry& entry) {
    if (entry.is_symlink(ignored_)) return go(entry.path());
    at_.reset(open(entry.path().c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    place_ = entry.path();
    return look();
  }
  // Where the walk has ended: others can put something there, but not take away what is there.
  bool is_shared() const { return !shared_with_.empty(); }
  void refuse_sharing() { stranger_ = {shown(), {}, shared_with_}; }
  const Stranger& stranger() const { return stranger_; }

 private:
  std::string shown() const { return place_.empty() ? "/" : printable(place_); }

  void turn(const std::string& target) {
    std::deque<std::string> first;
    for (const std::string_view name : split(target, '/')) {
      if (!name.empty() && name != ".") first.emplace_back(name);
    }
    left_.insert(left_.begin(), first.begin(), first.end());
    if (!target.starts_with('/')) return;
    at_.reset(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
    place_.clear();
  }

  bool step(const std::string& name) {
    if (name == "..") {
      at_.reset(openat(at_.get(), "..", O_PATH | O_CLOEXEC));
      place_.resize(std::min(place_.rfind('/'), place_.size()));
      return look();
    }
    UniqueFd next(openat(at_.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!next || fstat(next.get(), &status) != 0) return end(name);
    struct statfs system {};
    if (S_ISLNK(status.st_mode) && fstatfs(next.get(), &system) == 0 &&
        system.f_type == PROC_SUPER_MAGIC) {
      // The kernel's own, such as /proc/7/root: their texts are not where they lead, and nobody can
      // put anything else there.
      next.reset(openat(at_.get(), name.c_str(), O_PATH | O_CLOEXEC));
      if (!next) return end(name);
    } else if (S_ISLNK(status.st_mode)) {
      return follow(name, status);
    }
    at_ = std::move(next);
    place_ += "/" + name;
    return look();
  }

  // What is not there is safe where nobody else can put it there.
  bool end(const std::string& name) {
    left_.clear();
    if (errno != ENOENT && errno != ENOTDIR) {
      stranger_ = {shown() + "/" + printable(name), {}, ""};
      return false;
    }
    if (is_shared()) refuse_sharing();
    return !is_shared();
  }

  // Nobody can change a link, but in a shared folder its owner can put another one in its place.
  bool follow(const std::string& name, const struct stat& link) {
    std::array<char, PATH_MAX> target;
    const ssize_t size = readlinkat(at_.get(), name.c_str(), target.data(), target.size());
    if (is_shared() && !is_trusted(link.st_uid)) {
      place_ += "/" + name;
      return belongs_to(link.st_uid);
    }
    if (size <= 0 || ++links_ > kMostLinks) {
      errno = ELOOP;
      return end(name);
    }
    turn({target.data(), static_cast<std::size_t>(size)});
    return look();
  }

  bool belongs_to(uid_t user) {
    stranger_ = {shown(), user, {}};
    return false;
  }

  // At the folder or file that the walk has come to.
  bool look() {
    struct stat status {};
    shared_with_.clear();
    if (fstat(at_.get(), &status) != 0) return end("");
    if (!is_trusted(status.st_uid)) return belongs_to(status.st_uid);
    // A device is neither run nor loaded, whoever may write to it.
    if (!S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode)) return true;
    shared_with_ = who_else_writes(at_.get(), status);
    if (!is_shared() || (S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0)) return true;
    refuse_sharing();
    return false;
  }

  UniqueFd at_;
  std::string place_;  // of at_, without links; empty: "/"
  std::deque<std::string> left_;
  std::string shared_with_;
  int links_ = 0;
  Stranger stranger_;
  std::error_code ignored_;
};

}  // namespace

std::string Stranger::text() const {
  if (user) {
    const std::string name = printable(name_of_account(*user));
    return place + " belongs to " + (name.empty() ? "account " + std::to_string(*user) : name);
  }
  if (others.empty()) return place + " cannot be looked at";
  return place + " can be written by " + others;
}

std::string Stranger::account() const {
  if (!user) return {};
  const std::string name = printable(name_of_account(*user));
  return name.empty() ? "#" + std::to_string(*user) : name;
}

std::optional<Stranger> who_else_can_change(const std::string& path) {
  Walk walk;
  if (walk.go(path)) return {};
  return walk.stranger();
}

std::optional<Stranger> who_else_can_add_to(const std::string& folder) {
  Walk walk;
  if (!walk.go(folder)) return walk.stranger();
  if (!walk.is_shared()) return {};
  walk.refuse_sharing();
  return walk.stranger();
}

std::optional<Stranger> who_else_can_change_in(const std::string& folder) {
  if (auto stranger = who_else_can_add_to(folder)) return stranger;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    Walk walk;
    const bool safe = walk.go_below(*at);
    if (safe && walk.is_shared()) walk.refuse_sharing();
    if (!safe || walk.is_shared()) return walk.stranger();
  }
  return {};
}

}  // namespace gdr::process

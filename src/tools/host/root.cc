#include "host/root.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <string_view>

#include "base/environment.h"
#include "host/archive.h"

namespace gdr::host {
namespace {

constexpr int kMostLinks = 40;         // as the kernel
constexpr std::size_t kDeepest = 200;  // each folder on the way is a descriptor

UniqueFd open_in_root(int folder, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.resolve = RESOLVE_IN_ROOT;
  return UniqueFd(static_cast<int>(syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how)));
}

// EAGAIN: something was renamed meanwhile, and the kernel cannot tell whether ".." stayed inside.
bool kernel_does_not_resolve(int error) {
  return error == ENOSYS || error == EPERM || error == EAGAIN;
}

// Follows a path without asking the kernel for more than one name at a time, and never for "..".
class Walk {
 public:
  explicit Walk(int root) : root_(root) {}

  bool follow(const std::string& path, bool last_link_too) {
    last_link_too |= path.ends_with('/');
    put_in_front(path);
    while (!left_.empty()) {
      const std::string name = std::move(left_.front());
      left_.pop_front();
      if (name == "..") {
        if (!steps_.empty()) steps_.pop_back();
        continue;
      }
      if (!step_into(name, last_link_too)) return false;
    }
    return true;
  }

  UniqueFd open(int flags) const {
    if (steps_.empty()) return UniqueFd(openat(root_, ".", flags | O_CLOEXEC));
    const int parent = steps_.size() > 1 ? steps_[steps_.size() - 2].place.get() : root_;
    return UniqueFd(openat(parent, steps_.back().name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
  }

  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const Step& step : steps_) all.push_back(step.name);
    return all;
  }

 private:
  struct Step {
    std::string name;
    UniqueFd place;
  };

  int here() const { return steps_.empty() ? root_ : steps_.back().place.get(); }

  void put_in_front(std::string_view path) {
    std::deque<std::string> parts;
    for (const std::string_view part : split(path, '/')) {
      if (!part.empty() && part != ".") parts.emplace_back(part);
    }
    left_.insert(left_.begin(), parts.begin(), parts.end());
  }

  bool step_into(const std::string& name, bool last_link_too) {
    if (steps_.size() >= kDeepest) return errno = ENAMETOOLONG, false;
    UniqueFd place(openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!place || fstat(place.get(), &status) != 0) return false;
    if (S_ISLNK(status.st_mode) && (last_link_too || !left_.empty())) return turn(place.get());
    if (!left_.empty() && !S_ISDIR(status.st_mode)) return errno = ENOTDIR, false;
    steps_.push_back({name, std::move(place)});
    return true;
  }

  bool turn(int link) {
    if (++links_ > kMostLinks) return errno = ELOOP, false;
    std::string target(PATH_MAX, '\0');
    const ssize_t size = readlinkat(link, "", target.data(), target.size());
    if (size <= 0) return errno = ENOENT, false;
    target.resize(static_cast<std::size_t>(size));
    if (target[0] == '/') steps_.clear();
    put_in_front(target);
    return true;
  }

  int root_, links_ = 0;
  std::deque<std::string> left_;
  std::vector<Step> steps_;
};

}  // namespace

Root::Root(const std::string& place)
    : is_whole_(place == "/"), folder_(::open(place.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  if (folder_) return;
  if (errno != ENOTDIR) {
    problem_ =
        "no folder " + place + "; give a folder that holds sys and proc, or a tar archive of it";
    return;
  }
  Result<std::shared_ptr<const ArchiveTree>> archive = read_archive(place);
  if (archive) {
    archive_ = *std::move(archive);
  } else {
    problem_ = archive.error().message;
  }
}

UniqueFd Root::open_archived(const std::string& path, int flags) const {
  const ArchiveTree::Node* node = archive_->find(path, (flags & O_NOFOLLOW) == 0);
  if (node == nullptr) return {};
  if (node->kind == FileKind::kLink) return errno = ELOOP, UniqueFd();
  if (node->kind == FileKind::kFolder) return errno = EISDIR, UniqueFd();
  if (node->kind != FileKind::kRegular) return errno = ENXIO, UniqueFd();
  UniqueFd file(memfd_create("captured", MFD_CLOEXEC));
  for (std::size_t done = 0; file && done < node->content.size();) {
    const ssize_t wrote = write(file.get(), &node->content[done], node->content.size() - done);
    if (wrote <= 0) return {};
    done += static_cast<std::size_t>(wrote);
  }
  if (file && lseek(file.get(), 0, SEEK_SET) != 0) return {};
  return file;
}

UniqueFd Root::open(const std::string& path, int flags) const {
  if (archive_) return open_archived(path, flags);
  if (!folder_) return errno = ENOENT, UniqueFd();
  const std::string asked = path.empty() ? "." : path;
  if (is_whole_) return UniqueFd(openat(folder_.get(), asked.c_str(), flags | O_CLOEXEC));
  UniqueFd file = open_in_root(folder_.get(), asked, flags);
  if (file || !kernel_does_not_resolve(errno)) return file;
  Walk walk(folder_.get());
  if (!walk.follow(path, (flags & O_NOFOLLOW) == 0)) return {};
  return walk.open(path.ends_with('/') ? flags | O_DIRECTORY : flags);
}

std::optional<std::vector<std::string>> Root::real_path(const std::string& path) const {
  if (archive_) return archive_->real_path(path);
  Walk walk(folder_.get());
  if (!folder_ || !walk.follow(path, true)) return std::nullopt;
  return walk.names();
}

}  // namespace gdr::host

#include "host/root.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "host/archive.h"
#include "host/walk.h"

namespace gdr::host {
namespace {

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

// The kernel is asked for one name at a time, and never for "..".
struct Folders {
  using Place = UniqueFd;
  int root;

  UniqueFd enter(const UniqueFd* folder, const std::string& name) const {
    const int from = folder == nullptr ? root : folder->get();
    return UniqueFd(openat(from, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  }
  static FileKind kind_of(const UniqueFd& place) {
    struct stat status {};
    if (fstat(place.get(), &status) != 0) return FileKind::kAbsent;
    if (S_ISLNK(status.st_mode)) return FileKind::kLink;
    return S_ISDIR(status.st_mode) ? FileKind::kFolder : FileKind::kOther;
  }
  static std::string target_of(const UniqueFd& link) {
    std::string target(PATH_MAX, '\0');
    const ssize_t size = readlinkat(link.get(), "", target.data(), target.size());
    target.resize(static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
    return target;
  }
};

UniqueFd open_at_end(const Walk<Folders>& walk, int root, int flags) {
  const std::vector<std::string> names = walk.names();
  if (names.empty()) return UniqueFd(openat(root, ".", flags | O_CLOEXEC));
  const UniqueFd* parent = walk.place(1);
  return UniqueFd(openat(parent == nullptr ? root : parent->get(), names.back().c_str(),
                         flags | O_NOFOLLOW | O_CLOEXEC));
}

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
  Walk walk(Folders{folder_.get()});
  if (!walk.follow(path, (flags & O_NOFOLLOW) == 0)) return {};
  return open_at_end(walk, folder_.get(), path.ends_with('/') ? flags | O_DIRECTORY : flags);
}

std::optional<std::vector<std::string>> Root::real_path(const std::string& path) const {
  if (archive_) return archive_->real_path(path);
  Walk walk(Folders{folder_.get()});
  if (!folder_ || !walk.follow(path, true)) return std::nullopt;
  return walk.names();
}

}  // namespace gdr::host

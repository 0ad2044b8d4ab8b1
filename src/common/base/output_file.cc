#include "base/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/file_beside.h"
#include "base/output_walk.h"
#include "base/own_file.h"

namespace gdr {
namespace {

constexpr int kLooks = 3;  // somebody may put something there between two looks

// The very thing that was looked at, whatever has its name by now.
UniqueFd opened(const UniqueFd& thing, int flags) {
  const std::string name = "/proc/self/fd/" + std::to_string(thing.get());
  return UniqueFd(open(name.c_str(), flags | O_CLOEXEC | O_NOCTTY));
}

// Whether another file may take its place: not that of one that this account may not write, nor of
// one whose second name would go on to show the old content.
bool is_replaceable(const OutputWalk& walk, const struct stat& status) {
  return S_ISREG(status.st_mode) && !walk.ended_in_proc() && status.st_nlink == 1 &&
         faccessat(walk.folder(), walk.name().c_str(), W_OK, AT_EACCESS) == 0;
}

// The folder may not be written (EACCES, EROFS), a file system is mounted over the file (EBUSY), or
// its owner cannot be given to another one (EPERM). Of anything else, such as a full disk, the file
// that is there must not suffer.
bool takes_no_file(int error) {
  return error == EACCES || error == EROFS || error == EBUSY || error == EPERM;
}

// With the owner and the rights of the old one, if there is one.
Result<void> write_beside(const OutputWalk& walk, const struct stat* old, std::string_view bytes,
                          Existing existing, mode_t mode) {
  Result<FileBeside> file = FileBeside::make(walk.folder(), old != nullptr ? 0600 : mode);
  if (!file) return file.error();
  const int descriptor = file->descriptor();
  if (old != nullptr) {
    struct stat made {};
    if (fstat(descriptor, &made) != 0) return from_errno("");
    const bool same_owner = made.st_uid == old->st_uid && made.st_gid == old->st_gid;
    if (!same_owner && fchown(descriptor, old->st_uid, old->st_gid) != 0) return from_errno("");
    if (fchmod(descriptor, old->st_mode & 0777) != 0) return from_errno("");
  }
  if (!write_whole(descriptor, bytes) || fsync(descriptor) != 0) return from_errno("");
  return file->take_name(walk.name(), existing != Existing::kRefuse);
}

// Room for `size` bytes, which then are no more than a file may have.
bool takes_room(int file, off_t size) {
  if (static_cast<std::uint64_t>(size) > most_bytes_of_file()) {
    errno = EFBIG;
    return false;
  }
  // Not every file system can promise it.
  return size == 0 || fallocate(file, FALLOC_FL_KEEP_SIZE, 0, size) == 0 || errno == EOPNOTSUPP ||
         errno == ENOSYS;
}

// Room for all of it is taken before the first byte of the old content goes.
Result<void> write_in_place(const OutputWalk& walk, std::string_view bytes) {
  UniqueFd file = opened(walk.thing(), O_WRONLY);
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return from_errno("");
  const bool is_file = S_ISREG(status.st_mode);
  const auto size = static_cast<off_t>(bytes.size());
  if (is_file && !takes_room(file.get(), size)) return from_errno("");
  if (!write_whole(file.get(), bytes) || (is_file && ftruncate(file.get(), size) != 0)) {
    return from_errno("");
  }
  // Some file systems tell of a full disk only now.
  return close(file.release()) == 0 ? Result<void>() : from_errno("");
}

}  // namespace

Result<UniqueFd> open_output(const std::string& path, Existing existing, mode_t mode) {
  if (path.ends_with('/')) return Error{EISDIR, path + ": is a folder; name a file"};
  for (int i = 0; i < kLooks; ++i) {
    OutputWalk walk(path, OutputWalk::End::kFile);
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

Result<void> write_output(const std::string& path, std::string_view bytes, Existing existing,
                          mode_t mode) {
  const auto failed = [](const Error& error, const std::string& what) {
    return Error{error.code, "cannot write " + what + error.message};
  };
  if (path.ends_with('/')) return failed({EISDIR, ": is a folder; name a file"}, path);
  OutputWalk walk(path, OutputWalk::End::kFile);
  if (Result<void> gone = walk.go(); !gone) return failed(gone.error(), "");
  struct stat old {};
  const bool is_there = static_cast<bool>(walk.thing());
  if (is_there && fstat(walk.thing().get(), &old) != 0) return from_errno("cannot write " + path);
  if (is_there && existing == Existing::kRefuse) {
    return Error{EEXIST, path + ": file exists; choose another name"};
  }
  Result<void> written;
  const bool is_beside = !is_there || is_replaceable(walk, old);
  if (is_beside) written = write_beside(walk, is_there ? &old : nullptr, bytes, existing, mode);
  if (is_there && (!is_beside || (!written && takes_no_file(written.error().code)))) {
    written = write_in_place(walk, bytes);
  }
  return written ? written : failed(written.error(), path);
}

Result<void> check_output(const std::string& path) {
  OutputWalk walk(path, OutputWalk::End::kFile);
  if (!path.ends_with('/') && walk.go() && !walk.thing()) {
    if (faccessat(walk.folder(), ".", W_OK | X_OK, AT_EACCESS) == 0) return {};
    return from_errno("cannot write " + path);
  }
  const Result<UniqueFd> file = open_output(path, Existing::kKeep);
  if (!file) return Error{file.error().code, "cannot write " + file.error().message};
  return {};
}

Result<UniqueFd> open_output_folder(const std::string& path) {
  OutputWalk walk(path, OutputWalk::End::kFolder);
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

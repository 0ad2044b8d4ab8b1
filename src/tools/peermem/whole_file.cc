#include "peermem/whole_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/unique_fd.h"
#include "fix/on_disk.h"

namespace gdr::peermem {
namespace {

constexpr std::size_t kLargestFile = std::size_t{512} << 20;

std::string folder_around(const std::string& path) {
  const std::size_t end = path.rfind('/');
  if (end == std::string::npos) return ".";
  return end == 0 ? "/" : path.substr(0, end);
}

Result<void> write_file(const std::string& path, const std::string& bytes, int flags) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644));
  if (!file) return from_errno(path);
  return fix::write_to_disk(file.get(), bytes, path);
}

}  // namespace

Result<std::string> read_whole_file(const std::string& path) {
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0) return from_errno(path);
  if (!S_ISREG(status.st_mode)) return Error{EINVAL, path + " is not a regular file"};
  std::string bytes;
  char piece[64 * 1024];
  for (;;) {
    const ssize_t got = read(file.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return from_errno(path);
    if (got == 0) return bytes;
    bytes.append(piece, static_cast<std::size_t>(got));
    if (bytes.size() > kLargestFile) return Error{EFBIG, path + " is larger than 512 MiB"};
  }
}

Result<void> write_new_file(const std::string& path, const std::string& bytes) {
  return write_file(path, bytes, O_EXCL | O_NOFOLLOW);
}

Result<void> replace_file(const std::string& path, const std::string& bytes) {
  const std::string beside = path + ".gdr-new";
  unlink(beside.c_str());  // of a gdr that was killed
  Result<void> done = write_new_file(beside, bytes);
  if (done && rename(beside.c_str(), path.c_str()) != 0) done = from_errno(path);
  if (!done) unlink(beside.c_str());
  return done;
}

Result<void> check_writable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return Error{EINVAL, path + " is not a regular file"};
  }
  if (access(folder_around(path).c_str(), W_OK | X_OK) != 0) return from_errno(folder_around(path));
  return {};
}

}  // namespace gdr::peermem

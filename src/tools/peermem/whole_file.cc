#include "peermem/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output_file.h"
#include "base/unique_fd.h"

namespace gdr::peermem {
namespace {

constexpr std::size_t kLargestFile = std::size_t{512} << 20;

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

Result<void> check_writable(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    return Error{EINVAL, path + " is not a regular file"};
  }
  return check_output(path);
}

}  // namespace gdr::peermem

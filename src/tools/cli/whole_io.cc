#include "cli/whole_io.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/unique_fd.h"

namespace gdr::cli {

Result<void> read_whole(int fd, const std::function<void(std::string_view)>& sink) {
  std::array<char, 65536> buffer;
  for (;;) {
    const ssize_t got = read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{errno, std::strerror(errno)};
    if (got == 0) return {};
    sink(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!file || !write_whole(file.get(), bytes)) return from_errno("cannot write " + path);
  // Some file systems tell of a full disk only now.
  if (close(file.release()) != 0) return from_errno("cannot write " + path);
  return {};
}

bool write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

}  // namespace gdr::cli

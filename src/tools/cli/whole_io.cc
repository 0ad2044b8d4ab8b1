#include "cli/whole_io.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>

#include "cli/reading_progress.h"
#include "text/live_line.h"

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

Result<void> read_log(int fd, const std::string& command,
                      const std::function<void(std::string_view)>& sink) {
  // What somebody types is shown by the terminal already.
  if (isatty(fd) == 1) return read_whole(fd, sink);
  struct stat status {};
  std::optional<std::uint64_t> whole;
  if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
    whole = static_cast<std::uint64_t>(status.st_size);
  }
  text::LiveLine line(stderr);
  ReadingProgress progress(line, command, whole);
  return read_whole(fd, [&](std::string_view bytes) {
    sink(bytes);
    progress.on_read(bytes.size());
  });
}

Result<std::string> read_file(const std::string& name) {
  errno = 0;
  std::ifstream file(name, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  // Of a folder it reads nothing, and says no error but this.
  if (!file || errno == EISDIR) return Error{EINVAL, from_errno(name).message};
  return text.str();
}

}  // namespace gdr::cli

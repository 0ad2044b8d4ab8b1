#include "cli/whole_io.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

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

bool print_document(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

}  // namespace gdr::cli

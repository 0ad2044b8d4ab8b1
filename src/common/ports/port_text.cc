#include "ports/port_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace gdr::ports {

std::size_t value_text(std::uint64_t value, char (&text)[kMostValueText]) {
  char backwards[kMostValueText];
  std::size_t digits = 0;
  do {
    backwards[digits++] = static_cast<char>('0' + value % 10);
    value /= 10;
  } while (value != 0);
  for (std::size_t i = 0; i < digits; ++i) text[i] = backwards[digits - 1 - i];
  text[digits] = '\n';
  return digits + 1;
}

// Made beside the folders of counters, where no reader looks for files.
bool write_value(int folder, const char* file, std::uint64_t value) {
  const int error = errno;
  // One at a time of each thread: its number is its own.
  char made[kMostValueText + 8] = ".new-";
  char number[kMostValueText];
  const std::size_t digits =
      value_text(static_cast<std::uint64_t>(syscall(SYS_gettid)), number) - 1;
  std::memcpy(made + 5, number, digits);
  made[5 + digits] = '\0';
  const long opened =
      syscall(SYS_openat, folder, made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  // One that a killed process has left, of a number that has come round.
  if (opened < 0 && errno == EEXIST) syscall(SYS_unlinkat, folder, made, 0);
  bool done = false;
  if (opened >= 0) {
    char text[kMostValueText];
    const std::size_t length = value_text(value, text);
    const int descriptor = static_cast<int>(opened);
    done = write(descriptor, text, length) == static_cast<ssize_t>(length) &&
           fchmod(descriptor, 0444) == 0;
    close(descriptor);
    done = done && syscall(SYS_renameat, folder, made, folder, file) == 0;
    if (!done) syscall(SYS_unlinkat, folder, made, 0);
  }
  errno = error;
  return done;
}

}  // namespace gdr::ports

#include "ports/port_reader.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ports/port_file.h"

namespace gdr::ports {
namespace {

constexpr std::size_t kChunk = sizeof(Stripe);

bool may_be_in_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-' || c == '.';
}

bool is_own(int file) {
  struct stat status {};
  return fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

bool add_up(int file, PortValues* values) {
  const std::uint32_t processors = processors_of(file);
  if (processors == 0) return false;
  for (std::uint32_t i = 0; i < kSharedStripes + processors; ++i) {
    std::uint64_t counts[kStripeCounts];
    static_assert(sizeof counts == kChunk);
    const auto at = static_cast<off_t>(sizeof(PortFileHeader) + i * sizeof(Stripe));
    if (pread(file, counts, sizeof counts, at) != sizeof counts) return false;
    for (std::uint32_t count = 0; count < kPortCounts; ++count) values->of[count] += counts[count];
  }
  return true;
}

}  // namespace

bool make_file_name(const char* name, std::uint64_t guid, char (&text)[kMostFileName]) {
  std::size_t length = 0;
  for (; name[length] != '\0'; ++length) {
    if (length == kMostDeviceName || !may_be_in_name(name[length])) return false;
    text[length] = name[length];
  }
  if (length == 0) return false;
  text[length++] = '-';
  for (int shift = 60; shift >= 0; shift -= 4) {
    text[length++] = "0123456789abcdef"[guid >> shift & 15];
  }
  text[length] = '\0';
  return true;
}

std::uint32_t processors_of(int file) {
  struct stat status {};
  PortFileHeader header{};
  if (fstat(file, &status) != 0 || pread(file, &header, sizeof header, 0) != sizeof header) {
    return 0;
  }
  const bool is_sound = std::memcmp(header.magic, kPortMagic, sizeof kPortMagic) == 0 &&
                        header.counts == kPortCounts && header.processors <= kMostProcessors &&
                        status.st_size == static_cast<off_t>(port_file_bytes(header.processors));
  return is_sound ? header.processors : 0;
}

bool read_port(const char* folder, const char* file, PortValues* values) {
  *values = {};
  char path[PATH_MAX];
  const std::size_t length = std::strlen(folder), more = std::strlen(file);
  if (more == 0 || length + more + 2 > sizeof path) return false;
  char* end = std::copy_n(folder, length, path);
  *end++ = '/';
  std::copy_n(file, more + 1, end);
  const int error = errno;
  const long opened = syscall(SYS_openat, AT_FDCWD, path,
                              O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  bool read = false;
  if (opened >= 0) {
    const int descriptor = static_cast<int>(opened);
    read = is_own(descriptor) && add_up(descriptor, values);
    close(descriptor);
  }
  if (!read) *values = {};
  errno = error;
  return read;
}

}  // namespace gdr::ports

// Reading sysfs files: what librdmacm and programs such as ibv_devinfo use for attributes that have
// no verb. The devices of the software NIC have no directory there, so they find nothing.
#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

#include "base/unique_fd.h"
#include "verbs/abi.h"

namespace {

constexpr std::size_t kLongestPath = 255;

// SYSFS_PATH without its last slashes, unless the process runs with another user's rights.
std::string sysfs_root() {
  const char* root = getuid() == geteuid() ? getenv("SYSFS_PATH") : nullptr;
  if (root == nullptr) return "/sys";
  std::string path(root, strnlen(root, kLongestPath));
  while (!path.empty() && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

GDR_EXPORT const char* ibv_get_sysfs_path() {
  static const std::string* const root = new std::string(sysfs_root());  // outlives every caller
  return root->c_str();
}

// The bytes read, without the last line's end and terminated; -1 also when they do not fit.
GDR_EXPORT int ibv_read_sysfs_file(const char* directory, const char* file, char* buffer,
                                   std::size_t size) {
  const std::string path = std::string(directory) + '/' + file;
  const gdr::UniqueFd descriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor) return -1;
  ssize_t length = read(descriptor.get(), buffer, size);
  if (length <= 0) return static_cast<int>(length);
  if (buffer[length - 1] == '\n') {
    --length;
  } else if (static_cast<std::size_t>(length) == size) {
    errno = ENOSPC;
    return -1;
  }
  buffer[length] = '\0';
  return static_cast<int>(length);
}

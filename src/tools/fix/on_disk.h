// What has to outlast a loss of power: bytes, and the names of files in their folder.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::fix {

inline Result<void> write_to_disk(int file, std::string_view bytes, const std::string& name) {
  while (!bytes.empty()) {
    const ssize_t put = write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return from_errno(name);
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  if (fsync(file) != 0) return from_errno(name);
  return {};
}

inline Result<void> flush_folder(const std::string& folder) {
  const UniqueFd file(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!file || fsync(file.get()) != 0) return from_errno(folder);
  return {};
}

}  // namespace gdr::fix

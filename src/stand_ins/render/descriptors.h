// Descriptors by system calls: the C library's close() and open() are the ones that this library
// stands in front of.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gdr::render {

// Which file a descriptor is of, however often it was duplicated. No two files that live at a time
// share it.
struct FileIdentity {
  dev_t device = 0;
  ino_t inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

inline bool identify(int descriptor, FileIdentity& identity, mode_t* mode = nullptr) {
  struct stat status {};
  if (fstatat(descriptor, "", &status, AT_EMPTY_PATH) != 0) return false;
  identity = {status.st_dev, status.st_ino};
  if (mode != nullptr) *mode = status.st_mode;
  return true;
}

// A program may close descriptors that it did not open, and the number is then another file's.
inline bool is_still(int descriptor, const FileIdentity& identity) {
  FileIdentity found;
  return descriptor >= 0 && identify(descriptor, found) && found == identity;
}

inline void close_descriptor(int descriptor) { syscall(SYS_close, descriptor); }

}  // namespace gdr::render

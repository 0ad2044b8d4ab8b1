// How many descriptors this process has open, to see that none stays behind.
#pragma once

#include <dirent.h>

namespace gdr::test {

inline int open_descriptors() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return -1;  // there are too many
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

}  // namespace gdr::test

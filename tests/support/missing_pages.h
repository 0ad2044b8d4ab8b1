// Memory that is mapped and not there: who touches it gets SIGBUS, the kernel EFAULT, as behind the
// end of a file that has become shorter. Nothing else of the process can come to lie there, as it
// could where memory was unmapped.
//
//   take_pages_away(memory, 8192);   // false: not possible here
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace gdr::test {

// Whole pages.
inline bool take_pages_away(void* at, std::size_t bytes) {
  const int empty = memfd_create("missing pages", MFD_CLOEXEC);
  if (empty < 0) return false;
  const void* mapped =
      mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, empty, 0);
  close(empty);
  return mapped == at;
}

}  // namespace gdr::test

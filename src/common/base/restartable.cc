#include "base/restartable.h"

#include <dlfcn.h>

namespace gdr::restartable {
namespace {

constexpr std::ptrdiff_t kSequenceInArea = 8;  // rseq_cs of struct rseq

// By name, so that the library still loads where glibc is older.
std::ptrdiff_t find_sequence() {
#ifdef GDR_RESTARTABLE_SEQUENCES
  const auto* size = static_cast<const unsigned*>(dlsym(RTLD_DEFAULT, "__rseq_size"));
  const auto* offset = static_cast<const std::ptrdiff_t*>(dlsym(RTLD_DEFAULT, "__rseq_offset"));
  if (size != nullptr && offset != nullptr && *size != 0) return *offset + kSequenceInArea;
#endif
  return 0;
}

}  // namespace

const std::ptrdiff_t kSequence = find_sequence();

}  // namespace gdr::restartable

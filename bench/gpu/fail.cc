#include "fail.h"

#include <unistd.h>

#include <cstdarg>
#include <cstdio>

namespace gdr::bench {

void fail(const char* format, ...) {
  std::fflush(stdout);
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "%s: %s\n", kProgram, message);
  // No destructors: the other process may be what failed, and none of them may wait for it.
  _exit(1);
}

}  // namespace gdr::bench

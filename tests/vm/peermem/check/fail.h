// fail: ends the program with what went wrong and, where there is one, errno.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>

namespace peermem_check {

[[noreturn]] inline void fail(const std::string& what) {
  printf("FAILED: %s%s%s\n", what.c_str(), errno ? ": " : "", errno ? strerror(errno) : "");
  exit(1);
}

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  errno = 0;
  fail(what);
}

}  // namespace peermem_check

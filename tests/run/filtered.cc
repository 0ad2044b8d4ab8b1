// filtered EPERM|ENOSYS COMMAND...: runs a command as under a container's filter of system calls
// that refuses, with that error, what profiles have refused: see refuse_calls.h.
// filtered COUNT COMMAND...: runs it with room for that many descriptors, none of them inherited
// beside the three standard ones, so that the count means the same under every test runner.
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "refuse_calls.h"

namespace {

bool limit_descriptors(unsigned long count) {
  const rlimit limit{count, count};
  return close_range(3, ~0U, 0) == 0 && setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "filtered: usage: filtered EPERM|ENOSYS|COUNT COMMAND...\n");
    return 2;
  }
  const unsigned long descriptors = std::strtoul(argv[1], nullptr, 10);
  if (descriptors > 0) {
    if (!limit_descriptors(descriptors)) {
      std::perror("filtered: the limit of descriptors");
      return 77;
    }
  } else if (!gdr::test::refuse_calls(gdr::test::kStrictest,
                                      std::strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM)) {
    std::perror("filtered: the filter");
    return 77;
  }
  execvp(argv[2], argv + 2);
  std::perror("filtered: the command");
  return 2;
}

// filtered ERROR COMMAND...: runs a command as under a container's filter of system calls that
// refuses, with EPERM or ENOSYS, what profiles have refused: see refuse_calls.h.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "refuse_calls.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "filtered: usage: filtered EPERM|ENOSYS COMMAND...\n");
    return 2;
  }
  const int error = std::strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : EPERM;
  if (!gdr::test::refuse_calls(gdr::test::kStrictest, error)) {
    std::perror("filtered: the filter");
    return 77;
  }
  execvp(argv[2], argv + 2);
  std::perror("filtered: the command");
  return 2;
}

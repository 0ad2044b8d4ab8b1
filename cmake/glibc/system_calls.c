// gettid (glibc 2.30) and getcpu (2.29) are system calls.
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

pid_t gettid(void) { return (pid_t)syscall(SYS_gettid); }

int getcpu(unsigned* processor, unsigned* node) {
  return (int)syscall(SYS_getcpu, processor, node, (void*)0);
}

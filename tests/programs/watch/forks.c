/* Opens a device by dlopen and dlvsym, as NCCL does, in three processes: itself, a child of fork(),
   and what another child becomes. */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#undef ibv_reg_mr

static int use_device(void) {
  static char memory[4096];
  void* library = dlopen("libibverbs.so.1", RTLD_NOW);
  if (library == NULL) return 2;
  struct ibv_device** (*list)(int*) = dlvsym(library, "ibv_get_device_list", "IBVERBS_1.1");
  struct ibv_context* (*open)(struct ibv_device*) =
      dlvsym(library, "ibv_open_device", "IBVERBS_1.1");
  struct ibv_pd* (*protect)(struct ibv_context*) = dlvsym(library, "ibv_alloc_pd", "IBVERBS_1.1");
  struct ibv_mr* (*enter)(struct ibv_pd*, void*, size_t, int) =
      dlvsym(library, "ibv_reg_mr", "IBVERBS_1.1");
  if (list == NULL || open == NULL || protect == NULL || enter == NULL) return 3;
  struct ibv_device** devices = list(NULL);
  struct ibv_context* context = devices != NULL ? open(devices[0]) : NULL;
  struct ibv_pd* pd = context != NULL ? protect(context) : NULL;
  return pd != NULL && enter(pd, memory, sizeof memory, IBV_ACCESS_LOCAL_WRITE) != NULL ? 0 : 4;
}

/* Its exit status; 100: it did not exit. */
static int wait_for(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : 100;
}

int main(int count, char** words) {
  if (count > 1 && strcmp(words[1], "again") == 0) return use_device();
  pid_t child = fork();
  if (child == 0) _exit(use_device());
  int failed = wait_for(child);
  child = fork();
  if (child == 0) {
    execl("/proc/self/exe", words[0], "again", (char*)NULL);
    _exit(5);
  }
  failed |= wait_for(child);
  return failed | use_device();
}

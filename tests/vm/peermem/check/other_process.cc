#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "fail.h"
#include "gpu_memory.h"
#include "loopback.h"

namespace peermem_check {

// Without queues, whose memory would keep the device open.
void leaves_the_device_to_a_child(const char* go_on) {
  const GpuMemory gpu(kAddress, 4 * kGpuPage);
  ibv_device** list = ibv_get_device_list(nullptr);
  ibv_context* context = list && *list ? ibv_open_device(*list) : nullptr;
  ibv_pd* pd = context ? ibv_alloc_pd(context) : nullptr;
  if (!pd || !ibv_reg_mr(pd, gpu.data(), gpu.bytes(), kRights)) fail("ibv_reg_mr");
  int closed[2];
  if (pipe(closed) != 0) fail("pipe");
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    close(closed[1]);
    char byte = 0;
    if (read(closed[0], &byte, 1) != 0) _exit(1);  // the parent has closed its end
    _exit(0);
  }
  close(context->cmd_fd);
  close(closed[1]);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) fail("the child");
  for (int i = 0; i < 600 && access(go_on, F_OK) != 0; ++i) usleep(100'000);
  gpu.free();
  printf("a child has ended the registration, and then the memory was freed\n");
  fflush(stdout);
  _exit(0);  // its verbs context has lost its descriptor
}

}  // namespace peermem_check

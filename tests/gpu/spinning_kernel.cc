// Is a kernel that waits for the network given its bytes?
//
//   cmake --preset test && cmake --build --preset test --target spinning_kernel
//   builds/gpu/spinning_kernel               # needs a GPU and its driver, and no nvcc
//   GDR_SOFT_PATH=packets builds/gpu/spinning_kernel    # the same by packets
//
// The software NIC is linked in; the driver is libcuda.so.1, or what GDR_TEST_CUDA names. Some
// seconds; bounded by a minute for each of the four settings: with the driver's usual number of
// channels and with one (CUDA_DEVICE_MAX_CONNECTIONS), a kernel of one block and one that fills the
// GPU. In each:
// 1. Copies of the driver beside the kernel, by shape and by context: the kernel's own (the
//    application's) and another (as the library has one). Only measured: "stuck" is a shape that
//    ends with the kernel and not before.
// 2. RDMA writes into the GPU's memory, 1 byte to 16 MiB, from the host and, beside the kernel of
// one
//    block, from the same GPU. The last one sets the word that the kernel spins on. This passes or
//    fails.
// Exit status 0: all writes arrived while the kernel ran. 1: they did not. 77: no GPU that runs
// kernels. See docs/software-gpu.md for what the software GPU makes of this.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "copy_shapes.h"
#include "kernel.h"
#include "rdma_writes.h"

namespace gdr::test {
namespace {

constexpr int kPassed = 0, kFailed = 1, kSkipped = 77;
constexpr unsigned kMostSeconds = 60;

int run(const char* channels, bool whole) {
  std::printf("\nCUDA_DEVICE_MAX_CONNECTIONS=%s, a kernel %s\n", channels,
              whole ? "that fills the GPU" : "of one block");
  const char* path = getenv("GDR_TEST_CUDA");
  const Result<const cuda::Driver*> loaded =
      cuda::Driver::load(path != nullptr ? path : "libcuda.so.1");
  if (!loaded) {
    std::printf("skipped: %s\n", loaded.error().message.c_str());
    return kSkipped;
  }
  const cuda::Driver& driver = **loaded;
  cuda::CUcontext primary = nullptr;
  if (driver.init(0) != cuda::CUDA_SUCCESS ||
      driver.device_primary_ctx_retain(&primary, 0) != cuda::CUDA_SUCCESS ||
      driver.ctx_set_current(primary) != cuda::CUDA_SUCCESS || !Kernel::can_run(driver)) {
    std::printf("skipped: there is no GPU that runs kernels\n");
    return kSkipped;
  }
  Kernel kernel(driver, whole);
  print_copy_shapes(driver, kernel);
  return rdma_writes_arrive(driver, kernel, !whole) ? kPassed : kFailed;
}

// A process for each setting: the driver reads the variable once.
int run_in_child(const char* channels, bool whole) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kMostSeconds);
    setenv("CUDA_DEVICE_MAX_CONNECTIONS", channels, 1);
    int status = kFailed;
    try {
      status = run(channels, whole);
    } catch (const std::exception& failure) {
      std::printf("FAIL: %s\n", failure.what());
    }
    std::fflush(stdout);
    _exit(status);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return kFailed;
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::printf("FAIL: ended by signal %d (%s)\n", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return kFailed;
}

}  // namespace
}  // namespace gdr::test

int main() {
  using namespace gdr::test;
  int worst = kPassed;
  for (const char* channels : {"8", "1"}) {
    for (const bool whole : {false, true}) {
      const int status = run_in_child(channels, whole);
      if (status == kSkipped) return kSkipped;
      if (status != kPassed) worst = kFailed;
    }
  }
  std::printf("\n%s\n", worst == kPassed ? "PASS: every write arrived while the kernel waited"
                                         : "FAIL: see above");
  return worst;
}

// A program that opens the stand-in at run time and closes it again.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>
#include <sys/wait.h>
#include <unistd.h>

namespace gdr::test {
namespace {

// Loads, opens the first device, closes it and unloads. 0, or the number of the step that failed.
int use_once() {
  void* library = dlopen(GDR_SOFT_NIC_LIBRARY, RTLD_NOW);
  if (library == nullptr) return 1;
  const auto list = reinterpret_cast<ibv_device** (*)(int*)>(dlsym(library, "ibv_get_device_list"));
  const auto free_list =
      reinterpret_cast<void (*)(ibv_device**)>(dlsym(library, "ibv_free_device_list"));
  const auto open =
      reinterpret_cast<ibv_context* (*)(ibv_device*)>(dlsym(library, "ibv_open_device"));
  const auto close = reinterpret_cast<int (*)(ibv_context*)>(dlsym(library, "ibv_close_device"));
  if (list == nullptr || free_list == nullptr || open == nullptr || close == nullptr) return 2;
  int count = 0;
  ibv_device** devices = list(&count);
  if (devices == nullptr || count == 0) return 3;
  ibv_context* context = open(devices[0]);
  free_list(devices);
  if (context == nullptr) return 4;
  if (close(context) != 0) return 5;
  return dlclose(library) == 0 ? 0 : 6;
}

TEST(Unload, LeavesAProgramAliveWhenAnotherProcessCallsAtIt) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the thread sanitizer knows no threads in the child of a process with threads";
#endif
  ASSERT_EQ(use_once(), 0);
  // The new process calls at every slot, this one's too: its thread answers.
  for (int i = 0; i < 3; ++i) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) _exit(use_once());
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  usleep(100'000);  // it notices their deaths
}

TEST(Unload, CanBeFollowedByLoadingAgain) {
  ASSERT_EQ(use_once(), 0);
  EXPECT_EQ(use_once(), 0);
}

}  // namespace
}  // namespace gdr::test

#include "base/quiet_thread.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <future>
#include <string>

namespace gdr {
namespace {

TEST(QuietThread, HasItsNameAndTakesNoSignalOfTheProgram) {
  struct Seen {
    std::string name;
    sigset_t blocked;
  };
  std::promise<Seen> promise;
  const Result<void> started = start_quiet_thread("gdr-test", [&] {
    Seen seen;
    char name[16] = {};
    pthread_getname_np(pthread_self(), name, sizeof name);
    seen.name = name;
    pthread_sigmask(SIG_SETMASK, nullptr, &seen.blocked);
    promise.set_value(seen);
  });
  ASSERT_TRUE(started) << started.error().message;
  const Seen seen = promise.get_future().get();
  EXPECT_EQ(seen.name, "gdr-test");
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD, SIGRTMIN}) {
    EXPECT_EQ(sigismember(&seen.blocked, signal), 1) << strsignal(signal);
  }
  // Its own mistakes still end the process where they are made.
  EXPECT_EQ(sigismember(&seen.blocked, SIGSEGV), 0);
}

TEST(QuietThread, LeavesTheSignalMaskOfItsStarterAlone) {
  sigset_t before, after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  ASSERT_TRUE(start_quiet_thread("gdr-test", [] {}));
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < SIGRTMIN; ++signal) {
    EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal)) << strsignal(signal);
  }
}

TEST(QuietThread, IsAnErrorWhereNoThreadCanBeHad) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer cannot live with bounded address space";
#endif
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const rlimit none{1, 1};
    setrlimit(RLIMIT_AS, &none);  // no new stack; a few of ended threads may be kept
    for (int i = 0; i < 100; ++i) {
      const Result<void> started = start_quiet_thread("gdr-test", [] { pause(); });
      if (started) continue;
      const bool told =
          started.error().message.starts_with("the thread gdr-test cannot be started");
      _exit(started.error().code == EAGAIN && told ? 0 : 2);
    }
    _exit(1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gdr

// What a sentinel tells of signals, also of a process that loses its processor while it waits.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/clock.h"
#include "cli/run_sentinel.h"
#include "soon.h"

namespace gdr::cli {
namespace {

// In a process of its own, and a group of its own.
template <typename Ask>
pid_t ask_apart(Ask ask) {
  const pid_t child = fork();
  if (child != 0) return child;
  alarm(600);
  setpgid(0, 0);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, nullptr);
  Sentinel sentinel;
  _exit(ask(sentinel) ? 0 : 1);
}

TEST(Sentinel, TellsASignalOfTheGroupFromOneOfTheProcess) {
  const pid_t child = ask_apart([](Sentinel& sentinel) {
    kill(getpid(), SIGUSR1);
    const bool alone = !sentinel.has_had(SIGUSR1);
    kill(0, SIGUSR1);
    return alone && test::soon([&] {
             kill(0, SIGUSR1);
             return sentinel.has_had(SIGUSR1);
           });
  });
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Sentinel, WaitsNoLongerThanAMomentThoughItsProcessIsStoppedMeanwhile) {
  const pid_t child = ask_apart([](Sentinel& sentinel) {
    for (int i = 0; i < 10; ++i) {
      if (sentinel.has_had(SIGUSR1)) return false;
    }
    return true;
  });
  int status = -1;
  pid_t ended = 0;
  for (const Nanoseconds end = now() + test::kLastResort; ended == 0 && now() < end;) {
    usleep(20'000);
    kill(child, SIGSTOP);
    usleep(80'000);  // longer than it waits for a signal
    kill(child, SIGCONT);
    ended = waitpid(child, &status, WNOHANG);
  }
  EXPECT_EQ(ended, child) << "it waits for ever";
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace gdr::cli

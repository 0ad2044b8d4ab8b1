#include "process/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace gdr::process {
namespace {

constexpr std::size_t kMost = 64 * 1024;

ChildEnd run(const std::function<void(int output)>& work, Nanoseconds limit) {
  int ends[2] = {-1, -1};
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    close(ends[0]);
    work(ends[1]);
    _exit(0);
  }
  close(ends[1]);
  return read_child(pid, UniqueFd(ends[0]), limit, kMost);
}

void say(int output, const char* text) {
  if (write(output, text, strlen(text)) < 0) _exit(9);
}

TEST(Child, IsReadToItsEnd) {
  const ChildEnd end = run(
      [](int output) {
        say(output, "first ");
        usleep(100000);
        say(output, "last");
        _exit(3);
      },
      10 * kSecond);
  EXPECT_EQ(end.output, "first last");
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(status_text(end.status), "exit status 3");
}

TEST(Child, IsKilledAtItsLimitHoweverMuchItWrites) {
  const Nanoseconds start = now();
  const ChildEnd end = run(
      [](int output) {
        for (;;) say(output, "again and again\n");
      },
      kSecond / 4);
  EXPECT_TRUE(end.timed_out);
  EXPECT_EQ(end.output.size(), kMost);
  EXPECT_LT(now() - start, 10 * kSecond);
  EXPECT_EQ(status_text(end.status), "signal 9 (Killed)");
}

TEST(Child, MayCloseItsOutputAndWorkOn) {
  const ChildEnd end = run(
      [](int output) {
        close(output);
        usleep(200000);
        _exit(4);
      },
      10 * kSecond);
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(WEXITSTATUS(end.status), 4);
}

TEST(Child, IsNotWaitedForBecauseOfADaemonThatKeepsItsOutput) {
  const Nanoseconds start = now();
  const ChildEnd end = run(
      [](int output) {
        if (fork() == 0) {
          for (int i = 0; i < 100; ++i) usleep(100000);
          _exit(0);
        }
        say(output, "started");
      },
      60 * kSecond);
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(end.output, "started");
  EXPECT_LT(now() - start, 8 * kSecond);
}

}  // namespace
}  // namespace gdr::process

#include "process/child.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

#include "soon.h"

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
      test::kLastResort);
  EXPECT_EQ(end.output, "first last");
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(status_text(end.status), "exit status 3");
}

TEST(Child, IsKilledAtItsLimitHoweverMuchItWrites) {
  ChildEnd end;
  for (Nanoseconds limit = kSecond / 4; end.output.size() < kMost && limit < test::kLastResort;
       limit *= 2) {
    end = run(
        [](int output) {
          for (;;) say(output, "again and again\n");
        },
        limit);
    EXPECT_TRUE(end.timed_out);
  }
  EXPECT_EQ(end.output.size(), kMost);
  EXPECT_EQ(status_text(end.status), "signal 9 (Killed)");
}

TEST(Child, MayCloseItsOutputAndWorkOn) {
  const ChildEnd end = run(
      [](int output) {
        close(output);
        usleep(200000);
        _exit(4);
      },
      test::kLastResort);
  EXPECT_FALSE(end.timed_out);
  EXPECT_EQ(WEXITSTATUS(end.status), 4);
}

TEST(Child, IsNotWaitedForBecauseOfADaemonThatKeepsItsOutput) {
  const ChildEnd end = run(
      [](int output) {
        const pid_t daemon = fork();
        if (daemon == 0) {
          for (;;) pause();
        }
        say(output, std::to_string(daemon).c_str());
      },
      test::kLastResort);
  EXPECT_FALSE(end.timed_out);
  ASSERT_NE(end.output, "");
  EXPECT_EQ(kill(std::stoi(end.output), SIGKILL), 0) << "it is still there";
}

}  // namespace
}  // namespace gdr::process

// Which descriptors of another process are opened to wake its program, and which are left alone.
#include "peers/event_pipes.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace gdr::peers {
namespace {

class EventPipesTest : public testing::Test {
 protected:
  int put(const rnic::EventPipeName& name, std::uint32_t queue) {
    int error = EIO;
    const bool opened = pipes_.with(name, [&](int pipe) {
      error = rnic::put_event(pipe, name.inode, queue);
      return true;
    });
    return opened ? error : ENOENT;
  }
  static rnic::EventPipeName name_of(int descriptor) {
    struct stat status {};
    EXPECT_EQ(fstat(descriptor, &status), 0);
    return {descriptor, static_cast<std::uint32_t>(status.st_ino)};
  }

  EventPipes pipes_{getpid()};
};

TEST_F(EventPipesTest, WhatIsPutIsTaken) {
  const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  ASSERT_TRUE(pipe);
  EXPECT_EQ(put(pipe->name(), 7), 0);
  EXPECT_EQ(put(pipe->name(), 8), 0);
  std::uint32_t queue = 0;
  EXPECT_EQ(pipe->take_now(&queue), 0);
  EXPECT_EQ(queue, 7u);
  EXPECT_EQ(pipe->wait(&queue), 0);
  EXPECT_EQ(queue, 8u);
  EXPECT_EQ(pipe->take_now(&queue), EAGAIN);
}

TEST_F(EventPipesTest, AFullPipeKeepsNobodyWaiting) {
  const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  ASSERT_TRUE(pipe);
  int error = 0;
  int count = 0;
  while ((error = put(pipe->name(), 1)) == 0) ++count;
  EXPECT_EQ(error, EAGAIN);
  EXPECT_GE(count, 1024);
}

TEST_F(EventPipesTest, OnlyThePipeOfThatNameIsOpened) {
  const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  ASSERT_TRUE(pipe);
  rnic::EventPipeName wrong = pipe->name();
  ++wrong.inode;
  EXPECT_EQ(put(wrong, 1), ENOENT);
  const UniqueFd file(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_EQ(put(name_of(file.get()), 1), ENOENT);
  EXPECT_EQ(put({-1, 1}, 1), ENOENT);
  EXPECT_EQ(put({}, 1), ENOENT);
}

TEST_F(EventPipesTest, ANamedPipeIsNotOpened) {
  char folder[] = "/tmp/event_pipes_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const std::string path = std::string(folder) + "/fifo";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const UniqueFd fifo(open(path.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
  EXPECT_EQ(unlink(path.c_str()), 0);
  EXPECT_EQ(rmdir(folder), 0);
  ASSERT_TRUE(fifo);
  EXPECT_EQ(put(name_of(fifo.get()), 1), ENOENT);
}

TEST_F(EventPipesTest, AnotherChannelUnderTheSameNumberIsOpenedAnew) {
  for (int i = 0; i < 3; ++i) {
    const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
    ASSERT_TRUE(pipe);
    EXPECT_EQ(put(pipe->name(), 5), 0);
    std::uint32_t queue = 0;
    EXPECT_EQ(pipe->take_now(&queue), 0);
    EXPECT_EQ(queue, 5u);
  }
}

TEST_F(EventPipesTest, NothingIsWrittenToAFileThatTookThePipesPlaceHere) {
  const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  ASSERT_TRUE(pipe);
  char path[] = "/tmp/event_pipes_XXXXXX";
  const UniqueFd file(mkstemp(path));
  ASSERT_TRUE(file);
  EXPECT_EQ(unlink(path), 0);
  EXPECT_TRUE(pipes_.with(pipe->name(), [&](int own) { return dup2(file.get(), own) == own; }));
  EXPECT_EQ(put(pipe->name(), 1), EBADF);
  struct stat status {};
  ASSERT_EQ(fstat(file.get(), &status), 0);
  EXPECT_EQ(status.st_size, 0);
}

// 0, or the number of the step that failed.
int use_without_proc(const char* folder) {
  if (chroot(folder) != 0) return 1;
  const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  if (!pipe) return 2;
  std::uint32_t queue = 0;
  if (pipe->name().inode != 0 || pipe->take_now(&queue) != EAGAIN) return 3;
  if (pipe->put(9) != 0 || pipe->put(10) != 0) return 4;
  if (pipe->take_now(&queue) != 0 || queue != 9) return 5;
  if (pipe->wait(&queue) != 0 || queue != 10) return 6;
  // The program closes its end: no SIGPIPE.
  close(pipe->descriptor());
  return pipe->put(11) == 0 ? 0 : 7;
}

TEST_F(EventPipesTest, WithoutProcAPipeServesItsOwnProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to change the root folder";
  char folder[] = "/tmp/event_pipes_XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(use_without_proc(folder));
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "step " << WEXITSTATUS(status);
  EXPECT_EQ(rmdir(folder), 0);
}

TEST_F(EventPipesTest, TheProgramMayCloseItsEnd) {
  const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  ASSERT_TRUE(pipe);
  const int number = pipe->descriptor();
  const UniqueFd spare(dup(number));
  close(number);
  EXPECT_EQ(pipe->put(1), 0);  // no SIGPIPE
  EXPECT_EQ(put(pipe->name(), 2), 0);
  EXPECT_FALSE(pipe->is_shown());
  dup2(spare.get(), number);
  EXPECT_TRUE(pipe->is_shown());
}

TEST_F(EventPipesTest, TheProgramsFlagsAreItsOwn) {
  const Result<rnic::EventPipe> pipe = rnic::EventPipe::make();
  ASSERT_TRUE(pipe);
  EXPECT_TRUE(pipes_.with(pipe->name(), [](int own) {
    return fcntl(own, F_SETFL, 0) == 0 && (fcntl(own, F_GETFL) & O_NONBLOCK) == 0;
  }));
  EXPECT_EQ(fcntl(pipe->descriptor(), F_GETFL) & (O_NONBLOCK | O_ACCMODE), O_RDONLY);
  ASSERT_EQ(fcntl(pipe->descriptor(), F_SETFL, O_NONBLOCK), 0);
  std::uint32_t queue = 0;
  EXPECT_EQ(pipe->wait(&queue), EAGAIN);
  EXPECT_EQ(pipe->take_now(&queue), EAGAIN);
}

}  // namespace
}  // namespace gdr::peers

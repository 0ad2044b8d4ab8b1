#include "process/worker.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>

#include "scratch_folder.h"
#include "soon.h"

namespace gdr::process {
namespace {

TEST(Worker, HasItsSocketAsDescriptorThreeAndEndsWhenTheOtherEndIsClosed) {
  pid_t pid = 0;
  const test::ScratchFolder folder;
  {
    // Reads to the end of its socket, as a worker does.
    Result<Worker> worker =
        Worker::start("/bin/sh", {"-c", "cat <&3 >/dev/null; : >" + folder.root() + "/asked"});
    ASSERT_TRUE(worker) << worker.error().message;
    pid = worker->pid();
    EXPECT_EQ(kill(pid, 0), 0);
  }
  EXPECT_EQ(kill(pid, 0), -1) << "reaped";
  EXPECT_EQ(errno, ESRCH);
  EXPECT_TRUE(std::filesystem::exists(folder.root() + "/asked")) << "asked, not killed";
}

TEST(Worker, ThatDoesNotListenIsKilledAndReaped) {
  pid_t pid = 0;
  {
    Result<Worker> worker = Worker::start("/bin/sleep", {"1000"});
    ASSERT_TRUE(worker);
    pid = worker->pid();
  }
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(errno, ESRCH);
}

TEST(Worker, IsKeptFromTheTerminalsInterruptWhichIsForItsParent) {
  Result<Worker> worker = Worker::start("/bin/sh", {"-c", "kill -INT $$; exec cat <&3 >/dev/null"});
  ASSERT_TRUE(worker);
  const std::string ended = Worker::post_mortem(worker->pid());
  EXPECT_EQ(ended, "");
}

TEST(Worker, ThatHasEndedIsSaidToHaveSoByItsStatusOrSignal) {
  Result<Worker> worker = Worker::start("/bin/sh", {"-c", "exit 3"});
  ASSERT_TRUE(worker);
  const auto dead = [&] { return Worker::post_mortem(worker->pid()) != ""; };
  EXPECT_TRUE(test::soon(dead));
  EXPECT_EQ(Worker::post_mortem(worker->pid()), "it exited with status 3");
  Result<Worker> killed = Worker::start("/bin/sleep", {"1000"});
  ASSERT_TRUE(killed);
  kill(killed->pid(), SIGKILL);
  EXPECT_EQ(Worker::post_mortem(killed->pid()), "killed by signal 9 (Killed)");
}

TEST(Worker, ThatIsNoProgramIsAnErrorAtOnce) {
  const Result<Worker> worker = Worker::start("/no/such/program", {});
  ASSERT_FALSE(worker);
  EXPECT_EQ(worker.error().code, ENOENT);
}

}  // namespace
}  // namespace gdr::process

// The stand-in's own threads, in a program that does not know of them.
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class Threads : public VerbsTest {
 protected:
  // Name -> mask of blocked signals, of this process's threads that are the stand-in's.
  static std::map<std::string, std::uint64_t> blocked() {
    std::map<std::string, std::uint64_t> found;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::ifstream status(task.path() / "status");
      std::string name;
      for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Name:\t")) name = line.substr(6);
        if (line.starts_with("SigBlk:\t") && name.starts_with("gdr-")) {
          found[name] = std::stoull(line.substr(8), nullptr, 16);
        }
      }
    }
    return found;
  }
};

TEST_F(Threads, TakeNoSignalOfTheProgram) {
  std::map<std::string, std::uint64_t> masks = blocked();
  // A new thread takes its name itself.
  (void)soon([&] { return (masks = blocked()).size() == 2; });
  ASSERT_EQ(masks.size(), 2u);
  for (const auto& [name, mask] : masks) {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGALRM, SIGCHLD}) {
      EXPECT_TRUE(mask >> (signal - 1) & 1) << name << ": " << strsignal(signal);
    }
  }
}

TEST_F(Threads, LeaveABlockedSignalToTheProgramsSigwait) {
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);  // would end the process on a thread that takes it
  usleep(50'000);
  const timespec patience{100, 0};
  EXPECT_EQ(sigtimedwait(&set, nullptr, &patience), SIGTERM);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace
}  // namespace gdr::test

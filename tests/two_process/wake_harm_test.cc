// Completion events between processes when somebody dies on the way, cannot reach the channel's
// pipe, or does to it what it should not.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

#include "alone.h"
#include "base/clock.h"
#include "become.h"
#include "channel_target.h"
#include "waits.h"

namespace gdr::test {
namespace {

// That pipe, opened by each descriptor of that process that is an end of it.
std::vector<UniqueFd> open_pipes_of(pid_t pid, std::uint64_t inode, int flags) {
  std::vector<UniqueFd> found;
  for (int number = 3; number < 256; ++number) {
    const std::string path = "/proc/" + std::to_string(pid) + "/fd/" + std::to_string(number);
    struct stat status {};
    if (stat(path.c_str(), &status) != 0 || !S_ISFIFO(status.st_mode) || status.st_ino != inode) {
      continue;
    }
    found.emplace_back(open(path.c_str(), flags | O_CLOEXEC));
  }
  return found;
}

class HarmedWakeUps : public AloneTest {};

class EventDeaths : public testing::TestWithParam<const char*> {};

TEST_P(EventDeaths, OfTheInitiatorLoseNoEvent) {
#ifndef GDR_FAULT_HOOKS
  GTEST_SKIP() << "built without fault hooks";
#endif
  Child target([](Wire& wire) {
    ChannelTarget own(wire);
    own.arm();
    wire.meet();
    require(own.is_readable(kLastResortMs), "told of within some ticks");
    require(own.wait() == 0, "an event");
    own.take_completion();
    require(!own.is_readable(2500), "one");
  });
  Child victim([](Wire& wire) {
    setenv("GDR_KILL", (std::string(GetParam()) + ":1").c_str(), 1);
    Sender sender(wire);
    wire.meet();
    sender.send();
  });
  relay(victim.wire(), target.wire());
  target.wire().meet();
  victim.wire().meet();
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(victim.pid()), &ended, WEXITED | WNOWAIT), 0);
  EXPECT_EQ(ended.si_status, SIGKILL) << "it dies there";
  target.finish();
}

INSTANTIATE_TEST_SUITE_P(, EventDeaths, testing::Values("event_due", "event_claimed"),
                         [](const auto& point) { return std::string(point.param); });

TEST_F(HarmedWakeUps, JunkInThePipeIsNoEventAndHidesNone) {
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.make_non_blocking();
    target.arm();
    wire.send(target.inode());
    wire.meet();
    // As full as it gets, with bytes that are not even whole records.
    require(target.is_readable(0), "there is junk");
    wire.meet();
    int error = 0, junk = 0;
    while ((error = target.try_wait()) == EAGAIN && target.is_readable(kLastResortMs)) ++junk;
    require(error == 0, "the event behind or before it, found " + std::to_string(error));
    while (target.is_readable(0)) require(target.try_wait() == EAGAIN, "no second one");
    target.empty();
    target.arm();
    wire.meet();
    require(target.is_readable(kLastResortMs) && target.try_wait() == 0, "the next event");
  });
  Sender sender(child.wire());
  const std::vector<UniqueFd> pipes =
      open_pipes_of(child.pid(), child.wire().receive<std::uint64_t>(), O_WRONLY | O_NONBLOCK);
  ASSERT_FALSE(pipes.empty());
  const std::string junk(1021, 'j');
  while (write(pipes[0].get(), junk.data(), junk.size()) > 0) continue;
  while (write(pipes[0].get(), junk.data(), 1) > 0) continue;
  child.wire().meet();
  sender.send();
  child.wire().meet();
  child.wire().meet();
  sender.send();
  child.finish();
}

TEST_F(HarmedWakeUps, AnEventWhoseRecordSomebodyTookAwayIsToldAgain) {
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.arm();
    wire.send(target.inode());
    wire.meet();
    wire.meet();
    require(target.is_readable(kLastResortMs), "told again within some ticks");
    target.take_message();
  });
  Sender sender(child.wire());
  const std::vector<UniqueFd> pipes =
      open_pipes_of(child.pid(), child.wire().receive<std::uint64_t>(), O_RDONLY | O_NONBLOCK);
  ASSERT_FALSE(pipes.empty());
  child.wire().meet();
  sender.send();
  char bytes[64];
  ASSERT_GT(read(pipes[0].get(), bytes, sizeof bytes), 0);
  child.wire().meet();
  child.finish();
}

// As a process that may not be debugged any more: no other one looks into /proc/PID/fd.
TEST_F(HarmedWakeUps, ATargetWhosePipeCannotBeOpenedIsWokenByItsServiceThread) {
  constexpr int kMessages = 10;
  constexpr uid_t kAccount = 54'361;
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be an account without its rights";
  Child child([](Wire& wire) {
    become(kAccount);
    ChannelTarget target(wire);
    require(prctl(PR_SET_DUMPABLE, 0) == 0, "closed to others");
    Waits waits;
    for (int i = 0; i < kMessages; ++i) {
      target.arm();
      wire.send(getpid());
      waits.add([&] { target.take_message(); });
    }
    waits.require_quicker_than_ticks();
  });
  Child other([](Wire& wire) {
    become(kAccount);
    Sender sender(wire);
    for (int i = 0; i < kMessages; ++i) {
      const std::string folder = "/proc/" + std::to_string(wire.receive<pid_t>()) + "/fd/0";
      require(open(folder.c_str(), O_PATH | O_CLOEXEC) == -1 && errno == EACCES, "is closed");
      sender.send();
    }
  });
  relay(other.wire(), child.wire());
  for (int i = 0; i < kMessages; ++i) other.wire().send(child.wire().receive<pid_t>());
  other.finish();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

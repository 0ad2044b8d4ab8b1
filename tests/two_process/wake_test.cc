// A process wakes another one's program by the completion channel's own descriptor: what programs
// do with that descriptor. What harm can be done to it: wake_harm_test.cc.
#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "alone.h"
#include "base/clock.h"
#include "channel_target.h"
#include "waits.h"

namespace gdr::test {
namespace {

// How often threads of that name in this process have slept.
long sleeps_of(const std::string& name) {
  long sleeps = 0;
  DIR* tasks = opendir("/proc/self/task");
  while (const dirent* entry = readdir(tasks)) {
    const std::string folder = std::string("/proc/self/task/") + entry->d_name;
    std::string found, word;
    std::ifstream(folder + "/comm") >> found;
    if (found != name) continue;
    std::ifstream status(folder + "/status");
    while (status >> word) {
      long count = 0;
      if (word == "voluntary_ctxt_switches:" && status >> count) sleeps += count;
    }
  }
  closedir(tasks);
  return sleeps;
}

class WakeUps : public AloneTest {};

TEST_F(WakeUps, ServiceThreadsSleepWhileProgramsWakeEachOther) {
  constexpr int kMessages = 2000;
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.arm();
    wire.meet();
    target.take_message();  // the first may take other ways
    const long before = sleeps_of("gdr-service");
    for (int i = 1; i < kMessages; ++i) {
      wire.send('n');
      target.take_message();
    }
    const long slept = sleeps_of("gdr-service") - before;
    require(before > 0, "the service thread is found");
    require(slept < kMessages / 20, std::to_string(slept) + " wake-ups of the service thread");
    wire.meet();
  });
  Sender sender(child.wire());
  child.wire().meet();
  sender.send();
  for (int i = 1; i < kMessages; ++i) {
    (void)child.wire().receive<char>();
    sender.send();
  }
  child.wire().meet();
  child.finish();
}

TEST_F(WakeUps, TwoEventsWakeTwoThreadsThatSleepOnOneChannel) {
  constexpr int kRounds = 200;
  Child child([](Wire& wire) {
    ChannelTarget target(wire, 2);
    for (int round = 0; round < kRounds; ++round) {
      target.arm();
      std::atomic<unsigned> woken{0};
      const auto wait = [&] { woken.fetch_or(1u << target.wait()); };
      std::thread one(wait), other(wait);
      wire.meet();
      one.join();
      other.join();
      require(woken.load() == 3, "each queue's event wakes one of them");
      target.empty();
    }
  });
  Sender sender(child.wire(), 2);
  for (int round = 0; round < kRounds; ++round) {
    child.wire().meet();
    sender.send(0);
    sender.send(1);
  }
  child.finish();
}

TEST_F(WakeUps, AnEdgeTriggeredPollSeesEachEvent) {
  constexpr int kRounds = 500;
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    const UniqueFd epoll(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event{.events = EPOLLIN | EPOLLET, .data = {}};
    require(epoll_ctl(epoll.get(), EPOLL_CTL_ADD, target.descriptor(), &event) == 0, "watched");
    for (int round = 0; round < kRounds; ++round) {
      target.arm();
      wire.meet();
      require(epoll_wait(epoll.get(), &event, 1, 5000) == 1, "an edge");
      // Another event comes before the first is taken.
      target.empty();
      target.arm();
      wire.meet();
      require(epoll_wait(epoll.get(), &event, 1, 5000) == 1, "another one");
      (void)target.wait();
      (void)target.wait();
      target.empty();
      require(epoll_wait(epoll.get(), &event, 1, 0) == 0, "and no more");
    }
  });
  Sender sender(child.wire());
  for (int i = 0; i < 2 * kRounds; ++i) {
    child.wire().meet();
    sender.send();
  }
  child.finish();
}

TEST_F(WakeUps, ADescriptorIsReadableExactlyWhileAnEventWaits) {
  constexpr int kRounds = 500;
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.make_non_blocking();
    for (int round = 0; round < kRounds; ++round) {
      target.arm();
      require(target.try_wait() == EAGAIN, "no event yet");
      wire.meet();
      require(target.is_readable(kLastResortMs), "an event");
      require(target.try_wait() == 0, "is taken");
      require(!target.is_readable(0) && target.try_wait() == EAGAIN, "once");
      target.empty();
    }
  });
  Sender sender(child.wire());
  for (int i = 0; i < kRounds; ++i) {
    child.wire().meet();
    sender.send();
  }
  child.finish();
}

// More than its pipe holds.
TEST_F(WakeUps, AProgramThatTakesNoEventsKeepsNobodyWaitingAndLosesNone) {
  constexpr int kMessages = 2500;
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.make_non_blocking();
    for (int i = 0; i < kMessages; ++i) {
      target.arm();
      wire.send('n');
      target.take_completion();
    }
    target.arm();
    wire.send('n');
    int events = 0;
    while (target.is_readable(400)) {
      require(target.try_wait() == 0, "what is readable has an event");
      ++events;
    }
    // It holds 2,048; what comes while it is full is one more.
    require(events > 2048 && events <= kMessages + 1, std::to_string(events) + " events");
    target.empty();
    target.arm();
    wire.send('n');
    require(target.is_readable(kLastResortMs) && target.try_wait() == 0, "the next one");
    wire.meet();
  });
  Sender sender(child.wire());
  for (int i = 0; i < kMessages + 2; ++i) {
    (void)child.wire().receive<char>();
    sender.send();
  }
  child.wire().meet();
  child.finish();
}

TEST_F(WakeUps, AThousandChannelsEachTellOfTheirOwn) {
  constexpr int kChannels = 1000;
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  if (limit.rlim_max < 4096) GTEST_SKIP() << "fewer than 4096 descriptors are permitted here";
  Child child([](Wire& wire) {
    rlimit most{};
    getrlimit(RLIMIT_NOFILE, &most);
    most.rlim_cur = most.rlim_max;
    require(setrlimit(RLIMIT_NOFILE, &most) == 0, "descriptors");
    ChannelTarget target(wire, kChannels, ChannelTarget::Channels::kOneEach);
    for (int round = 0; round < 2; ++round) {
      target.arm();
      wire.meet();
      for (std::size_t i = 0; i < kChannels; ++i) {
        require(target.wait(i) == i, "the channel's own queue");
      }
      target.empty();
    }
  });
  Sender sender(child.wire(), kChannels);
  for (int round = 0; round < 2; ++round) {
    child.wire().meet();
    for (std::size_t i = 0; i < kChannels; ++i) sender.send(i);
  }
  child.finish();
}

TEST_F(WakeUps, AnInitiatorWithoutAFreeDescriptorWakesByTheServiceThread) {
  constexpr int kMessages = 10;
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    Waits waits;
    for (int i = 0; i < kMessages; ++i) {
      target.arm();
      wire.meet();
      waits.add([&] { target.take_message(); });
    }
    waits.require_quicker_than_ticks();
    wire.meet();
  });
  Sender sender(child.wire());
  rlimit none{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &none), 0);
  const rlimit before = none;
  none.rlim_cur = 3;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int i = 0; i < kMessages; ++i) {
    child.wire().meet();
    sender.send();
  }
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  child.wire().meet();
  child.finish();
}

TEST_F(WakeUps, AProgramThatPutsAnotherFileInItsPlaceHarmsOnlyItself) {
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.arm();
    const UniqueFd zeros(open("/dev/zero", O_RDONLY | O_CLOEXEC));
    require(dup2(zeros.get(), target.descriptor()) >= 0, "it is another file now");
    wire.meet();
    target.take_completion();
    // Its own service thread tells of it, some time behind the completion.
    int told = target.try_wait();
    for (int i = 0; i < 5000 && told == EBADF; ++i, told = target.try_wait()) usleep(1000);
    require(told == 0, "the event is there all the same");
    require(target.try_wait() == EBADF, "zeros are no events");
    require(close(target.descriptor()) == 0, "closed");
    require(target.try_wait() == EBADF, "nothing can be waited for");
    target.arm();
    wire.meet();
    target.take_completion();
    // Its destruction closes that number, which a thread of the library may have been given
    // meanwhile.
    if (fcntl(target.descriptor(), F_GETFD) == -1) {
      const UniqueFd nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
      require(dup2(nothing.get(), target.descriptor()) >= 0, "there is something to close");
    }
  });
  Sender sender(child.wire());
  child.wire().meet();
  sender.send();
  child.wire().meet();
  sender.send();
  child.finish();
}

TEST_F(WakeUps, AForksChildLeavesItsParentsEventsAlone) {
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.arm();
    wire.meet();
    require(target.is_readable(kLastResortMs), "an event");
    const pid_t copy = fork();
    if (copy == 0) _exit(target.try_wait() == EBADF ? 0 : 1);
    int status = -1;
    require(waitpid(copy, &status, 0) == copy && status == 0, "a child is given none");
    require(target.is_readable(0) && target.wait() == 0, "the parent is");
    target.empty();
    target.arm();
    wire.meet();
    target.take_message();
  });
  Sender sender(child.wire());
  for (int i = 0; i < 2; ++i) {
    child.wire().meet();
    sender.send();
  }
  child.finish();
}

}  // namespace
}  // namespace gdr::test

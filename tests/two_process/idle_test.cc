// A process that asks nothing of its device pays nothing for it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <thread>

#include "alone.h"
#include "channel_target.h"
#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::int64_t kClockTick = 10'000'000;  // nanoseconds
constexpr long kHandful = 10;

// Sum over all threads of this process.
struct Use {
  std::int64_t nanoseconds;
  long switches;
};
Use use_now() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {time.tv_sec * 1'000'000'000 + time.tv_nsec, usage.ru_nvcsw + usage.ru_nivcsw};
}

void require_idle_second() {
  usleep(50'000);  // what the meeting or a request has left to do is done
  const Use before = use_now();
  sleep(1);
  const Use after = use_now();
  const std::int64_t used = after.nanoseconds - before.nanoseconds;
  const long switches = after.switches - before.switches;
  require(used <= kClockTick, "no CPU time is used, found " + std::to_string(used) + " ns");
  require(switches <= kHandful,
          "a few context switches in a second, found " + std::to_string(switches));
}

class Idle : public AloneTest {};

TEST_F(Idle, ConnectedProcessesUseNoCpu) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      require_idle_second();
      t.wire.meet();
    });
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  require_idle_second();
  child.wire().meet();
  child.finish();
}

// Its thread sleeps in ibv_get_cq_event, and the other process can wake it without its help.
TEST_F(Idle, ProgramsThatSleepForCompletionEventsUseNoCpu) {
  Child child([](Wire& wire) {
    ChannelTarget target(wire);
    target.arm();
    wire.meet();
    target.take_message();
    std::thread sleeper([&] { target.take_message(); });
    require_idle_second();
    wire.meet();
    sleeper.join();
  });
  Sender sender(child.wire());
  child.wire().meet();
  sender.send();
  require_idle_second();
  child.wire().meet();
  sender.send();
  child.finish();
}

// Receives are posted, completion events are armed, and requests have been served.
TEST_F(Idle, ProcessesThatWaitForMessagesUseNoCpu) {
  Child child([](Wire& wire) {
    be_target(wire, {.with_channel = true}, [](TargetSide t) {
      for (int i = 0; i < 8; ++i) t.side.receive(t.qp, {t.memory.segment(0, 4096)});
      t.wire.meet();
      t.side.expect(IBV_WC_SUCCESS);
      require(ibv_req_notify_cq(t.side.queue(), 0) == 0, "armed");
      t.wire.meet();
      require_idle_second();
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.send(qp, memory, 0, 4096);
  side.write(qp, memory, 0, 4096, remote);
  side.expect(IBV_WC_SUCCESS);
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  require_idle_second();
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

// A process that asks nothing of its device pays nothing for it.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "alone.h"
#include "channel_target.h"
#include "connection.h"
#include "processor_time.h"

namespace gdr::test {
namespace {

constexpr Nanoseconds kClockTick = 10 * kMillisecond;
constexpr long kHandful = 10;

// Sum over all threads of this process.
struct Use {
  Nanoseconds nanoseconds;
  long switches;
};
Use use_now() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {processor_time(), usage.ru_nvcsw + usage.ru_nivcsw};
}

// At the latest the fifth: on a busy machine it takes a while until all is done that the meeting or
// a request has left to do.
void require_idle_second() {
  std::string seconds;
  for (int i = 0; i < 5; ++i) {
    const Use before = use_now();
    sleep(1);
    const Use after = use_now();
    const Nanoseconds used = after.nanoseconds - before.nanoseconds;
    const long switches = after.switches - before.switches;
    if (used <= kClockTick && switches <= kHandful) return;
    seconds += " " + std::to_string(used) + " ns, " + std::to_string(switches) + ";";
  }
  throw Failure("CPU time and context switches of each second:" + seconds);
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

// Two programs that poll, on one processor: each lets the other run when nothing has come.
#include <gtest/gtest.h>
#include <sched.h>

#include "base/clock.h"
#include "connection.h"
#include "processor_time.h"

namespace gdr::test {
namespace {

constexpr int kTrips = 500;

void stay_on_one_processor() {
  cpu_set_t allowed;
  require(sched_getaffinity(0, sizeof allowed, &allowed) == 0, "processors");
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(first, &one);
  require(sched_setaffinity(0, sizeof one, &one) == 0, "one processor");
}

// Without a word to the system, as programs poll.
void poll_one(ibv_cq* queue) {
  ibv_wc completion{};
  const Nanoseconds end = now() + kLastResort;
  while (ibv_poll_cq(queue, 1, &completion) == 0) require(now() < end, "it comes");
  require(completion.status == IBV_WC_SUCCESS, "it has succeeded");
}

void ping_pong(Side& side, Memory& memory, ibv_qp* qp, ibv_cq* received, bool begins) {
  for (int i = 0; i < kTrips; ++i) {
    side.receive(qp, {memory.segment(0, 64)});
    if (begins) side.send(qp, memory, 64, 8);
    poll_one(received);
    if (!begins) side.send(qp, memory, 64, 8);
    poll_one(side.queue());
  }
}

// A time slice is some milliseconds, so five hundred round trips took seconds of processor time.
TEST(OneProcessor, IsPassedOnByWhoPollsInVain) {
  const auto body = [](Wire& wire, bool begins) {
    stay_on_one_processor();
    Side side;
    Memory& memory = side.memory(4096);
    ibv_cq* received = ibv_create_cq(side.context(), 16, nullptr, nullptr, 0);
    require(received != nullptr, "a completion queue");
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC, 64, true, received);
    wire.send(side.endpoint(qp));
    side.connect(qp, wire.receive<Endpoint>());
    // The first receive has to be there before the first message.
    wire.meet();
    const Nanoseconds before = processor_time();
    ping_pong(side, memory, qp, received, begins);
    wire.send(processor_time() - before);
    wire.meet();
  };
  Child one([&](Wire& wire) { body(wire, true); });
  Child other([&](Wire& wire) { body(wire, false); });
  const auto first = one.wire().receive<Endpoint>(), second = other.wire().receive<Endpoint>();
  one.wire().send(second);
  other.wire().send(first);
  other.wire().meet();
  one.wire().meet();
  const auto used = one.wire().receive<Nanoseconds>() + other.wire().receive<Nanoseconds>();
  EXPECT_LT(used / kTrips, kMillisecond) << "processor time of a round trip, in nanoseconds";
  one.wire().meet();
  other.wire().meet();
  one.finish();
  other.finish();
}

}  // namespace
}  // namespace gdr::test

// Completion channels and overruns across processes.
#include <gtest/gtest.h>
#include <poll.h>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr int kRounds = 10'000;

void wait_for_event(Side& side) {
  pollfd wait{side.channel()->fd, POLLIN, 0};
  require(poll(&wait, 1, kLastResortMs) == 1, "the wake-up is not lost");
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  require(ibv_get_cq_event(side.channel(), &queue, &context) == 0, "an event");
  ibv_ack_cq_events(queue, 1);
}

// Receives one message, sleeping until it comes. Own send completions are taken on the way.
void take_one(Side& side, int& received) {
  while (true) {
    ibv_wc completion{};
    while (ibv_poll_cq(side.queue(), 1, &completion) == 1) {
      require(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
      received += completion.opcode == IBV_WC_RECV;
    }
    if (received > 0) break;
    wait_for_event(side);
    require(ibv_req_notify_cq(side.queue(), 0) == 0, "armed");
    while (ibv_poll_cq(side.queue(), 1, &completion) == 1) {
      require(completion.status == IBV_WC_SUCCESS, ibv_wc_status_str(completion.status));
      received += completion.opcode == IBV_WC_RECV;
    }
  }
  --received;
}

void play(Side& side, Memory& memory, ibv_qp* qp, Wire& wire, bool serves) {
  for (int i = 0; i < 4; ++i) side.receive(qp, {memory.segment(0, 64)});
  require(ibv_req_notify_cq(side.queue(), 0) == 0, "armed");
  wire.meet();
  int received = 0;
  for (int i = 0; i < kRounds; ++i) {
    if (serves) side.send(qp, memory, 64, 8);
    take_one(side, received);
    side.receive(qp, {memory.segment(0, 64)});
    if (!serves) side.send(qp, memory, 64, 8);
  }
  wire.meet();
}

TEST(Events, TenThousandPingPongsLoseNoWakeUp) {
  Child child([](Wire& wire) {
    be_target(wire, {.with_channel = true},
              [](TargetSide t) { play(t.side, t.memory, t.qp, t.wire, false); });
  });
  Side side(0, 1024, true);
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  play(side, memory, qp, child.wire(), true);
  child.finish();
}

TEST(Events, ATargetsOverrunReachesTheTarget) {
  Child child([](Wire& wire) {
    be_target(wire, {.completions = 4}, [](TargetSide t) {
      for (int i = 0; i < 8; ++i) t.side.receive(t.qp, {t.memory.segment(0, 64)});
      t.wire.meet();
      require(t.side.event() == IBV_EVENT_CQ_ERR, "the queue is in error");
      ibv_wc completions[8];
      require(ibv_poll_cq(t.side.queue(), 8, completions) == 4, "what fitted is there");
      require(ibv_poll_cq(t.side.queue(), 8, completions) < 0, "and then the error");
    });
  });
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  for (int i = 0; i < 5; ++i) side.send(qp, memory, 0, 8);
  child.finish();
}

TEST(Events, AnInitiatorsOwnOverrunReachesIt) {
  Child child([](Wire& wire) { be_target(wire, {}, [](TargetSide t) { t.wire.meet(); }); });
  Side side(0, 4);
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  for (int i = 0; i < 5; ++i) side.write(qp, memory, 0, 8, remote);
  EXPECT_EQ(side.event(), IBV_EVENT_CQ_ERR);
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

// XRC when one of the processes dies: the one whose queue is named, or one that sends to it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "base/clock.h"
#include "xrc_side.h"

namespace gdr::test {
namespace {

TEST(Xrc, DeathOfTheNamedProcessEndsTheRequest) {
  SharedFile file;
  Child first([&](Wire& wire) {
    const Receiver own(wire, file.get(), true);
    wire.meet();
  });
  Child second([&](Wire& wire) {
    const Receiver own(wire, file.get(), false);
    wire.receive<char>();
  });
  Side side;
  Memory& memory = side.memory(kReceivedBytes);
  const Destination unused(first.wire()), to(second.wire());
  ibv_qp* qp = connect_sender(side, first.wire());
  side.post(qp, xrc_request(IBV_WR_SEND, to.srq), {memory.segment(0, 64)});
  side.expect_quiet();
  const Nanoseconds start = now();
  second.kill();
  side.expect(IBV_WC_REM_INV_REQ_ERR);  // its queue is not there any more
  EXPECT_LT(now() - start, 20 * kSecond);
  first.wire().meet();
  first.finish();
}

// Killed while it holds the queue of another process: the next one takes it over.
TEST(Xrc, DeathOfASenderLeavesTheQueueToOthers) {
  SharedFile file;
  for (unsigned round = 0; round < 4; ++round) {
    Child victim([](Wire& wire) {
      Side side;
      Memory& memory = side.memory(8 << 20);
      ibv_qp* qp = xrc_queue_pair(side, IBV_QPT_XRC_SEND);
      wire.send(side.endpoint(qp));
      connect_xrc(qp, wire.receive<Endpoint>());
      const auto srq = wire.receive<std::uint32_t>();
      const auto to = wire.receive<Remote>();
      while (true) {
        side.post(qp, xrc_request(IBV_WR_RDMA_WRITE, srq, to), {memory.segment(0, 8 << 20)});
        side.expect(IBV_WC_SUCCESS);
      }
    });
    Side side;
    ibv_xrcd* xrcd = open_xrcd(side, file.get());
    ibv_srq* srq = xrc_srq(side, xrcd);
    Memory& memory = side.memory(8 << 20);
    ibv_qp* target = xrc_queue_pair(side, IBV_QPT_XRC_RECV, xrcd);
    ibv_qp* sender = xrc_queue_pair(side, IBV_QPT_XRC_SEND);
    ibv_qp* accepting = xrc_queue_pair(side, IBV_QPT_XRC_RECV, xrcd);
    const auto from = victim.wire().receive<Endpoint>();
    victim.wire().send(side.endpoint(target));
    connect_xrc(target, from);
    victim.wire().send(number_of(srq));
    victim.wire().send(memory.remote());
    connect_xrc(sender, side.endpoint(accepting));
    connect_xrc(accepting, side.endpoint(sender));
    usleep(20'000 + 1'300 * round);
    victim.kill();
    side.receive(srq, {memory.segment(0, 64)}, 9);
    side.post(sender, xrc_request(IBV_WR_SEND, number_of(srq)), {memory.segment(4096, 64)});
    side.expect(IBV_WC_SUCCESS);
    side.expect(IBV_WC_SUCCESS);
  }
}

constexpr std::uint64_t kPosted = 16;

// Sends to a queue, and may die of it.
void send_until_the_end(Wire& wire, const char* appointment) {
  if (appointment != nullptr) setenv("GDR_KILL", appointment, 1);
  Side side;
  Memory& memory = side.memory(kReceivedBytes);
  const auto srq = wire.receive<std::uint32_t>();
  ibv_qp* qp = connect_sender(side, wire);
  const auto count = wire.receive<std::uint64_t>();
  for (std::uint64_t i = 0; i < count; ++i) {
    // Carried by the completion, by the ring beside it, or moved.
    constexpr std::size_t kSizes[] = {64, 2000, 20'000};
    side.post(qp, xrc_request(IBV_WR_SEND, srq), {memory.segment(0, kSizes[i % 3])});
    side.expect(IBV_WC_SUCCESS);
  }
  wire.meet();
}

ibv_qp* accept(Side& side, ibv_xrcd* xrcd, std::uint32_t srq, Wire& wire) {
  wire.send(srq);
  ibv_qp* qp = xrc_queue_pair(side, IBV_QPT_XRC_RECV, xrcd);
  wire.send(side.endpoint(qp));
  connect_xrc(qp, wire.receive<Endpoint>());
  wire.meet();
  return qp;
}

// The victim dies with a receive in its hands; what it has not completed goes to the survivor.
void check_receives_of_the_dead(int descriptor, const std::string& appointment) {
  Child victim([&](Wire& wire) { send_until_the_end(wire, appointment.c_str()); });
  Child survivor([](Wire& wire) { send_until_the_end(wire, nullptr); });
  Side side;
  ibv_xrcd* xrcd = open_xrcd(side, descriptor);
  ibv_srq* srq = xrc_srq(side, xrcd);
  Memory& memory = side.memory(kReceivedBytes);
  std::vector<int> completed(kPosted);
  for (std::uint64_t id = 0; id < kPosted; ++id) side.receive(srq, {memory.segment(0, 20'000)}, id);
  accept(side, xrcd, number_of(srq), victim.wire());
  accept(side, xrcd, number_of(srq), survivor.wire());
  victim.wire().send(kPosted);
  siginfo_t ended{};
  require(waitid(P_PID, static_cast<id_t>(victim.pid()), &ended, WEXITED | WNOWAIT) == 0 &&
              ended.si_status == SIGKILL,
          "the victim dies as it was told to: " + appointment);
  std::uint64_t left = kPosted;
  const auto take = [&](const ibv_wc& completion) {
    require(completion.status == IBV_WC_SUCCESS, "received after " + appointment);
    require(++completed.at(completion.wr_id) == 1, "given out once, after " + appointment);
    --left;
  };
  ibv_wc completion{};
  while (ibv_poll_cq(side.queue(), 1, &completion) == 1) take(completion);
  require(left > 0, "some are left");
  survivor.wire().send(left);
  while (left != 0) take(side.completion());
  survivor.wire().meet();
  side.expect_quiet();
  survivor.finish();
  victim.kill();
}

TEST(Xrc, EachReceiveIsCompletedOnceThoughWhoTookItDies) {
#ifndef GDR_FAULT_HOOKS
  GTEST_SKIP() << "built without fault hooks";
#endif
  SharedFile file;
  for (const char* point : {"copied", "receive_taken", "pushing_receive", "receive_pushed"}) {
    for (const int passage : {1, 2, 5}) {
      const std::string appointment = std::string(point) + ":" + std::to_string(passage);
      // A process knows its appointment from its first kill point on: this one must pass none.
      Child scene([&](Wire&) { check_receives_of_the_dead(file.get(), appointment); });
      scene.finish();
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace gdr::test

// XRC: one connection into a process, shared receive queues of that process and of others behind
// it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "xrc_side.h"

namespace gdr::test {
namespace {

constexpr std::size_t kLong = 8 << 20;  // takes about a millisecond

void receive_and_check(Receiver& own, Wire& wire, std::uint64_t seed) {
  own.side.receive(own.srq, {own.memory.segment(0, 8192)}, seed);
  ibv_srq_attr limit{};
  limit.srq_limit = 1;
  require(ibv_modify_srq(own.srq, &limit, IBV_SRQ_LIMIT) == 0, "armed");
  wire.meet();
  const ibv_wc completion = own.side.expect(IBV_WC_SUCCESS);
  require(completion.wr_id == seed && completion.byte_len == 5000, "its message");
  require(own.memory.first_not_pattern(seed, 0, 5000) == -1, "its bytes");
  require(own.side.event() == IBV_EVENT_SRQ_LIMIT_REACHED, "none is left");
  wire.meet();
}

// The connection ends in the first process; the second one's queue is reached through it.
TEST(Xrc, OneConnectionReachesTheReceivesOfTwoProcesses) {
  SharedFile file;
  Child first([&](Wire& wire) {
    Receiver own(wire, file.get(), true);
    receive_and_check(own, wire, 1);
    wire.meet();
  });
  Child second([&](Wire& wire) {
    Receiver own(wire, file.get(), false);
    receive_and_check(own, wire, 2);
    wire.meet();
  });
  Side side;
  Memory& memory = side.memory(kReceivedBytes);
  const Destination to_first(first.wire()), to_second(second.wire());
  ibv_qp* qp = connect_sender(side, first.wire());
  first.wire().meet();
  second.wire().meet();
  memory.fill_pattern(2, 0, 5000);
  side.post(qp, xrc_request(IBV_WR_SEND, to_second.srq), {memory.segment(0, 5000)});
  side.expect(IBV_WC_SUCCESS);
  second.wire().meet();
  memory.fill_pattern(1, 0, 5000);
  side.post(qp, xrc_request(IBV_WR_SEND, to_first.srq), {memory.segment(0, 5000)});
  side.expect(IBV_WC_SUCCESS);
  first.wire().meet();
  first.wire().meet();
  second.wire().meet();
  first.finish();
  second.finish();
}

TEST(Xrc, WritesReadsAndAtomicsGoToTheMemoryBesideTheNamedQueue) {
  SharedFile file;
  Child first([&](Wire& wire) {
    const Receiver own(wire, file.get(), true);
    wire.meet();
  });
  Child second([&](Wire& wire) {
    Receiver own(wire, file.get(), false);
    own.side.receive(own.srq, {}, 77);
    wire.meet();
    const ibv_wc completion = own.side.expect(IBV_WC_SUCCESS);
    require(completion.opcode == IBV_WC_RECV_RDMA_WITH_IMM && completion.wr_id == 77, "immediate");
    require(own.memory.first_not_pattern(4, 0, 3000) == -1, "written");
    wire.meet();
    wire.meet();
    require(*reinterpret_cast<std::uint64_t*>(own.memory.bytes() + 4096) == 5, "added to");
  });
  Side side;
  Memory& memory = side.memory(kReceivedBytes);
  const Destination unused(first.wire()), to(second.wire());
  ibv_qp* qp = connect_sender(side, first.wire());
  second.wire().meet();
  memory.fill_pattern(4, 0, 3000);
  side.post(qp, xrc_request(IBV_WR_RDMA_WRITE_WITH_IMM, to.srq, to.memory),
            {memory.segment(0, 3000)});
  side.expect(IBV_WC_SUCCESS);
  second.wire().meet();
  side.post(qp, xrc_request(IBV_WR_RDMA_READ, to.srq, to.memory), {memory.segment(8192, 3000)});
  side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(memory.first_not_pattern(4, 8192, 3000), -1);
  ibv_send_wr add = xrc_request(IBV_WR_ATOMIC_FETCH_AND_ADD, to.srq);
  add.wr.atomic = {
      .remote_addr = to.memory.address + 4096, .compare_add = 5, .swap = 0, .rkey = to.memory.key};
  side.post(qp, add, {memory.segment(0, 8)});
  side.expect(IBV_WC_SUCCESS);
  second.wire().meet();
  second.finish();
  first.wire().meet();
  first.finish();
}

TEST(Xrc, ASendWaitsForAReceiveAndIsWokenByIt) {
  SharedFile file;
  Child child([&](Wire& wire) {
    Receiver own(wire, file.get(), true);
    wire.meet();
    usleep(20'000);
    own.side.receive(own.srq, {own.memory.segment(0, 64)}, 5);
    require(own.side.expect(IBV_WC_SUCCESS).wr_id == 5, "it comes");
    wire.meet();
  });
  Side side;
  Memory& memory = side.memory(kReceivedBytes);
  const Destination to(child.wire());
  ibv_qp* qp = connect_sender(side, child.wire());
  side.post(qp, xrc_request(IBV_WR_SEND, to.srq), {memory.segment(0, 64)});
  child.wire().meet();
  side.expect(IBV_WC_SUCCESS);
  child.wire().meet();
  child.finish();
}

// What each wrong request ends with: at the sender, and as the receiving queue pair's event.
struct Wrong {
  const char* what;
  std::function<ibv_send_wr(const Destination&, const Destination&)> request;
  ibv_wc_status status;
  ibv_event_type event;
};

void run_wrong(const Wrong& wrong) {
  SCOPED_TRACE(wrong.what);
  SharedFile file, other;
  Child first([&](Wire& wire) {
    Receiver own(wire, file.get(), true);
    require(own.side.event() == wrong.event, "the event");
    wire.meet();
  });
  Child second([&](Wire& wire) {
    const Receiver own(wire, other.get(), false);
    wire.meet();
  });
  Side side;
  Memory& memory = side.memory(kReceivedBytes);
  const Destination mine(first.wire()), foreign(second.wire());
  ibv_qp* qp = connect_sender(side, first.wire());
  side.post(qp, wrong.request(mine, foreign), {memory.segment(0, 64)});
  side.expect(wrong.status);
  first.wire().meet();
  second.wire().meet();
  first.finish();
  second.finish();
}

TEST(Xrc, RequestsThatLeaveTheDomainAreInvalid) {
  run_wrong({"a queue of another domain",
             [](const Destination&, const Destination& foreign) {
               return xrc_request(IBV_WR_SEND, foreign.srq);
             },
             IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR});
  run_wrong({"a queue that does not exist",
             [](const Destination& mine, const Destination&) {
               return xrc_request(IBV_WR_SEND, mine.srq + 1);
             },
             IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR});
  run_wrong({"a write to another process's memory through one's own queue",
             [](const Destination& mine, const Destination& foreign) {
               return xrc_request(IBV_WR_RDMA_WRITE, mine.srq, foreign.memory);
             },
             IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR});
}

TEST(Xrc, NoByteMovesAfterTheNamedProcessDeregistered) {
  SharedFile file;
  Child first([&](Wire& wire) {
    const Receiver own(wire, file.get(), true);
    wire.meet();
  });
  Child second([&](Wire& wire) {
    Receiver own(wire, file.get(), false, kLong);
    wire.meet();
    usleep(20'000);
    own.memory.deregister();
    // Where a write that is under way comes last.
    std::memset(own.memory.bytes() + kLong - 4096, 0xee, 4096);
    usleep(20'000);
    require(own.memory.first_not(0xee, kLong - 4096, 4096) == -1, "quiet after it");
    wire.meet();
  });
  Side side;
  Memory& memory = side.memory(kLong);
  const Destination unused(first.wire()), to(second.wire());
  ibv_qp* qp = connect_sender(side, first.wire());
  second.wire().meet();
  ibv_wc_status status;
  do {
    side.post(qp, xrc_request(IBV_WR_RDMA_WRITE, to.srq, to.memory), {memory.segment(0, kLong)});
    status = side.completion().status;
  } while (status == IBV_WC_SUCCESS);
  EXPECT_EQ(status, IBV_WC_REM_ACCESS_ERR);
  second.wire().meet();
  second.finish();
  first.wire().meet();
  first.finish();
}

TEST(Xrc, AnOverrunOfItsCompletionQueueEndsTheQueueAndNotTheProcess) {
  SharedFile file;
  Child child([&](Wire& wire) {
    Side side(0, 4);
    ibv_xrcd* xrcd = open_xrcd(side, file.get());
    ibv_srq* srq = xrc_srq(side, xrcd);
    Memory& memory = side.memory(kReceivedBytes);
    for (int i = 0; i < 16; ++i) side.receive(srq, {memory.segment(0, 64)});
    wire.send(number_of(srq));
    wire.send(memory.remote());
    ibv_qp* qp = xrc_queue_pair(side, IBV_QPT_XRC_RECV, xrcd);
    wire.send(side.endpoint(qp));
    connect_xrc(qp, wire.receive<Endpoint>());
    wire.meet();
    const ibv_event_type first = side.event(), second = side.event();
    require((first == IBV_EVENT_CQ_ERR && second == IBV_EVENT_SRQ_ERR) ||
                (first == IBV_EVENT_SRQ_ERR && second == IBV_EVENT_CQ_ERR),
            "both are in error");
    wire.meet();
    require(side.event() == IBV_EVENT_QP_REQ_ERR, "what names it is invalid");
    wire.meet();
  });
  Side side;
  Memory& memory = side.memory(kReceivedBytes);
  const Destination to(child.wire());
  ibv_qp* qp = connect_sender(side, child.wire());
  for (int i = 0; i < 5; ++i) {
    side.post(qp, xrc_request(IBV_WR_SEND, to.srq), {memory.segment(0, 64)});
    side.expect(IBV_WC_SUCCESS);
  }
  child.wire().meet();
  side.post(qp, xrc_request(IBV_WR_SEND, to.srq), {memory.segment(0, 64)});
  side.expect(IBV_WC_REM_INV_REQ_ERR);
  child.wire().meet();
  child.finish();
}

TEST(Xrc, DomainsAreKnownByTheirFileInEveryProcess) {
  SharedFile file;
  Child child([&](Wire& wire) {
    Side side;
    wire.meet();
    require(open_xrcd(side, file.get(), O_CREAT | O_EXCL) == nullptr && errno == EINVAL, "taken");
    ibv_xrcd* xrcd = open_xrcd(side, file.get(), 0);
    require(xrcd != nullptr, "opened without O_CREAT");
    wire.meet();
    require(ibv_close_xrcd(xrcd) == 0, "closed");
    wire.meet();
    wire.meet();
    require(open_xrcd(side, file.get(), 0) == nullptr && errno == EAGAIN, "gone");
  });
  Side side;
  errno = 0;
  EXPECT_EQ(open_xrcd(side, file.get(), 0), nullptr);
  EXPECT_EQ(errno, EAGAIN);
  ibv_xrcd* xrcd = open_xrcd(side, file.get(), O_CREAT | O_EXCL);
  ASSERT_NE(xrcd, nullptr);
  child.wire().meet();
  child.wire().meet();
  child.wire().meet();
  EXPECT_EQ(ibv_close_xrcd(xrcd), 0);
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

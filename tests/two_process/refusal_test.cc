// What must not be done is an error at the initiator, an event at the target, and no byte moves.
#include <gtest/gtest.h>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 8192;

// Another region of the target's, in a protection domain of its own if asked.
void refuse(TargetSide t, bool other_domain, unsigned access, ibv_event_type event) {
  ibv_pd* pd = other_domain ? ibv_alloc_pd(t.side.context()) : t.side.domain();
  Memory other(pd, kBytes, access);
  other.fill(0x77);
  t.memory.fill(0x77);
  t.wire.send(other.remote());
  const ibv_event_type raised = t.side.event();
  require(raised == event, std::string("its event, found ") + ibv_event_type_str(raised));
  require(other.first_not(0x77, 0, kBytes) == -1, "no byte moves in the region");
  require(t.memory.first_not(0x77, 0, t.memory.size()) == -1, "nor in the other");
  t.wire.meet();
}

void check_refused(const std::function<void(Side&, ibv_qp*, Memory&, Remote)>& request,
                   bool other_domain = false, unsigned access = kAllAccess,
                   ibv_wc_status status = IBV_WC_REM_ACCESS_ERR,
                   ibv_event_type event = IBV_EVENT_QP_ACCESS_ERR, Patience patience = {}) {
  Child child([=](Wire& wire) {
    be_target(wire, {.patience = patience},
              [=](TargetSide t) { refuse(t, other_domain, access, event); });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill(0x12);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  request(side, qp, memory, child.wire().receive<Remote>());
  side.expect(status);
  EXPECT_EQ(memory.first_not(0x12, 0, kBytes), -1);
  child.wire().meet();
  child.finish();
}

void write_all(Side& side, ibv_qp* qp, Memory& memory, Remote to) {
  side.write(qp, memory, 0, 64, to);
}

TEST(Refusal, OfAKeyThatWasNeverIssued) {
  check_refused([](Side& side, ibv_qp* qp, Memory& memory, Remote to) {
    to.key ^= 0x10;
    write_all(side, qp, memory, to);
  });
}
TEST(Refusal, OfARangeBeyondTheRegion) {
  check_refused([](Side& side, ibv_qp* qp, Memory& memory, const Remote& to) {
    side.write(qp, memory, 0, 64, to, kBytes - 63);
  });
}
TEST(Refusal, OfAnAddressThatWraps) {
  check_refused([](Side& side, ibv_qp* qp, Memory& memory, const Remote& to) {
    side.write(qp, memory, 0, 64, to, ~std::uint64_t{0} - to.address - 10);
  });
}
TEST(Refusal, OfARegionOfAnotherProtectionDomain) { check_refused(write_all, true); }
TEST(Refusal, OfAWriteWithoutItsRight) {
  check_refused(write_all, false, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}
TEST(Refusal, OfAReadWithoutItsRight) {
  check_refused([](Side& side, ibv_qp* qp, Memory& memory,
                   const Remote& from) { side.read(qp, memory, 0, 64, from); },
                false, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
}
TEST(Refusal, OfAWriteThatTheQueuePairDoesNotGrant) {
  check_refused(write_all, false, kAllAccess, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR,
                {.access = IBV_ACCESS_REMOTE_READ});
}
TEST(Refusal, OfAnAtomicOnAnOddAddress) {
  check_refused(
      [](Side& side, ibv_qp* qp, Memory& memory, const Remote& at) {
        ibv_send_wr request{};
        request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
        request.send_flags = IBV_SEND_SIGNALED;
        request.wr.atomic = {at.address + 4, 1, 0, at.key};
        side.post(qp, request, {memory.segment(0, 8)});
      },
      false, kAllAccess, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
}
TEST(Refusal, HoldsTowardsAnOpaqueProcess) {
  run_opaque([] { check_refused(write_all, true); });
}

TEST(Refusal, OfALocalKeyLeavesTheTargetAlone) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.wire.meet();
      ibv_qp_attr attr{};
      ibv_qp_init_attr init{};
      require(ibv_query_qp(t.qp, &attr, IBV_QP_STATE, &init) == 0, "query");
      require(attr.qp_state == IBV_QPS_RTS, "the target's queue pair goes on");
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {remote.address, remote.key};
  ibv_sge beyond = memory.segment(1, kBytes);
  side.post(qp, request, {beyond});
  side.expect(IBV_WC_LOC_PROT_ERR);
  child.wire().meet();
  child.finish();
}

TEST(Refusal, MessageLongerThanItsReceiveFailsOnBothSides) {
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(0x77);
      t.side.receive(t.qp, {t.memory.segment(0, 99)}, 5);
      t.side.receive(t.qp, {t.memory.segment(0, 4096)}, 6);
      t.wire.meet();
      require(t.side.expect(IBV_WC_LOC_LEN_ERR).wr_id == 5, "the receive that was too short");
      require(t.side.expect(IBV_WC_WR_FLUSH_ERR).wr_id == 6, "and the one behind it");
      require(t.side.event() == IBV_EVENT_QP_REQ_ERR, "its event");
      require(t.memory.first_not(0x77, 0, 8192) == -1, "no byte moves");
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.send(qp, memory, 0, 100);
  side.expect(IBV_WC_REM_INV_REQ_ERR);
  child.wire().meet();
  child.finish();
}

// As root only: both users' processes must be startable.
TEST(Refusal, OfAnotherUsersProcess) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root, to be another user";
  Child child([](Wire& wire) {
    require(setgid(65534) == 0 && setuid(65534) == 0, "another user");
    be_target(wire, {}, [](TargetSide t) {
      t.memory.fill(0x77);
      t.wire.meet();
      t.wire.meet();
      require(t.memory.first_not(0x77, 0, t.memory.size()) == -1, "no byte moves");
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire(), {.timeout = 10});
  child.wire().meet();
  write_all(side, qp, memory, remote);
  side.expect(IBV_WC_RETRY_EXC_ERR);
  child.wire().meet();
  child.finish();
}

}  // namespace
}  // namespace gdr::test

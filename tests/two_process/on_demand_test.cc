// Regions without pages between two processes: on-demand paging, the null region, and memory that
// the program has unmapped while it is registered.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/clock.h"
#include "connection.h"
#include "missing_pages.h"
#include "segments.h"

namespace gdr::test {
namespace {

constexpr std::size_t kBytes = 4 << 20;
constexpr unsigned kOnDemand = kAllAccess | IBV_ACCESS_ON_DEMAND;

std::size_t resident(Memory& memory) {
  std::vector<unsigned char> present(memory.size() / 4096);
  require(mincore(memory.bytes(), memory.size(), present.data()) == 0, "mincore");
  std::size_t count = 0;
  for (const unsigned char page : present) count += page & 1;
  return count;
}

void take_away(Memory& memory) {
  require(take_pages_away(memory.bytes(), memory.size()), "pages are taken away");
}

void check_pages_come_when_written() {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kBytes, .access = kOnDemand}, [](TargetSide t) {
      require(resident(t.memory) == 0, "nothing is present");
      t.wire.meet();
      t.wire.meet();
      require(t.memory.first_not_pattern(1, 0, kBytes) == -1, "all bytes are there");
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes, kOnDemand);
  memory.fill_pattern(1, 0, kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  side.write(qp, memory, 0, kBytes, remote);
  side.expect(IBV_WC_SUCCESS);
  memory.fill(0);
  side.read(qp, memory, 0, kBytes, remote);
  side.expect(IBV_WC_SUCCESS);
  EXPECT_EQ(memory.first_not_pattern(1, 0, kBytes), -1);
  child.wire().meet();
  child.finish();
}

TEST(OnDemand, PagesComeWhenTheyAreWritten) { check_pages_come_when_written(); }
TEST(OnDemand, PagesComeWhenTheirOwnerCopies) { run_opaque(check_pages_come_when_written); }

void check_gone_pages(const std::function<void(Side&, ibv_qp*, Memory&, Remote)>& request,
                      unsigned access = kOnDemand) {
  Child child([access](Wire& wire) {
    be_target(wire, {.bytes = kBytes, .access = access}, [](TargetSide t) {
      t.side.receive(t.qp, {t.memory.segment(0, 4096)}, 7);
      take_away(t.memory);
      t.wire.meet();
      const ibv_wc completion = t.side.completion();
      const bool is_message = t.wire.receive<bool>();
      require(completion.wr_id == 7, "the receive");
      require(completion.status == (is_message ? IBV_WC_LOC_PROT_ERR : IBV_WC_WR_FLUSH_ERR),
              std::string("its status, found ") + ibv_wc_status_str(completion.status));
      require(t.side.event() == IBV_EVENT_QP_REQ_ERR, "its event");
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  child.wire().meet();
  request(side, qp, memory, remote);
  const ibv_wc completion = side.expect(IBV_WC_REM_OP_ERR);
  child.wire().send(completion.opcode == IBV_WC_SEND || completion.wr_id == 3);
  child.finish();
}

void write_some(Side& side, ibv_qp* qp, Memory& memory, Remote to) {
  side.write(qp, memory, 0, 4096, to);
}
void read_some(Side& side, ibv_qp* qp, Memory& memory, Remote from) {
  side.read(qp, memory, 0, 4096, from);
}
void send_some(Side& side, ibv_qp* qp, Memory& memory, Remote /*to*/) {
  side.send(qp, memory, 0, 4096);
}

TEST(OnDemand, WritingWherePagesAreGoneIsARemoteError) { check_gone_pages(write_some); }
TEST(OnDemand, ReadingWherePagesAreGoneIsARemoteError) { check_gone_pages(read_some); }
TEST(OnDemand, AReceiveWhosePagesAreGoneFailsOnBothSides) { check_gone_pages(send_some); }
TEST(OnDemand, WritingWherePagesAreGoneIsARemoteErrorIfTheirOwnerCopies) {
  run_opaque([] { check_gone_pages(write_some); });
}

TEST(UnmappedMemory, WritingThereIsARemoteError) { check_gone_pages(write_some, kAllAccess); }
TEST(UnmappedMemory, ReadingThereIsARemoteError) { check_gone_pages(read_some, kAllAccess); }

// One page in the middle of the second of three messages.
void check_hole(bool is_read) {
  constexpr std::size_t kLength = 64 << 10, kSecond = 1 << 20, kThird = 2 << 20;
  constexpr std::size_t kHole = kSecond + kLength / 2;
  Child child([is_read](Wire& wire) {
    be_target(wire, {.bytes = kBytes}, [is_read](TargetSide t) {
      if (is_read) require(take_pages_away(t.memory.bytes() + kHole, 4096), "a hole");
      t.wire.meet();
      t.wire.meet();
      if (is_read) return;
      require(t.memory.first_not_pattern(1, 0, kLength) == -1, "the first message");
      require(t.memory.first_not(0, kThird, kLength) == -1, "nothing of the third");
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  memory.fill_pattern(1, 0, kBytes);
  if (!is_read) require(take_pages_away(memory.bytes() + kHole, 4096), "a hole");
  child.wire().meet();
  for (const std::size_t at : {std::size_t{0}, kSecond, kThird}) {
    is_read ? side.read(qp, memory, at, kLength, remote, at)
            : side.write(qp, memory, at, kLength, remote, at);
  }
  side.expect(IBV_WC_SUCCESS);
  side.expect(is_read ? IBV_WC_REM_OP_ERR : IBV_WC_LOC_PROT_ERR);
  side.expect(IBV_WC_WR_FLUSH_ERR);
  child.wire().meet();
  child.finish();
}

TEST(UnmappedMemory, InTheMiddleOfAWriteFailsThatOneAndTheNext) { check_hole(false); }
TEST(UnmappedMemory, InTheMiddleOfAReadFailsThatOneAndTheNext) { check_hole(true); }

// A NIC puts it into the pages that it has pinned. Here it goes nowhere, or ends with an error.
void check_goes_on(ibv_qp_type type) {
  Child child([type](Wire& wire) {
    be_target(wire, {.type = type, .bytes = kBytes}, [](TargetSide t) {
      t.side.receive(t.qp, {t.memory.segment(0, 4096)}, 7);
      take_away(t.memory);
      t.wire.meet();
      const ibv_wc completion = t.side.completion();
      require(completion.wr_id == 7, "the receive");
      require(completion.status == IBV_WC_SUCCESS || completion.status == IBV_WC_LOC_PROT_ERR,
              std::string("its status, found ") + ibv_wc_status_str(completion.status));
      t.memory.deregister();
      t.wire.meet();
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  ibv_qp* qp = side.queue_pair(type);
  Endpoint target{};
  (void)connect_to_target(side, qp, child.wire(), {}, &target);
  child.wire().meet();
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  if (type == IBV_QPT_UD) {
    request.wr.ud = {side.address_handle(target), target.number, kQueueKey};
  }
  side.post(qp, request, {memory.segment(0, 1000)});
  (void)side.completion();
  child.wire().meet();
  child.finish();
}

TEST(UnmappedMemory, ADatagramThatComesThereDoesNoHarm) { check_goes_on(IBV_QPT_UD); }
TEST(UnmappedMemory, AMessageThatComesThereDoesNoHarm) { check_goes_on(IBV_QPT_RC); }

void check_own_pages_gone(unsigned access = kOnDemand) {
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
  Memory& memory = side.memory(kBytes, access);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote remote = connect_to_target(side, qp, child.wire());
  take_away(memory);
  side.write(qp, memory, 0, 4096, remote);
  side.expect(IBV_WC_LOC_PROT_ERR);
  child.wire().meet();
  child.finish();
}

TEST(OnDemand, TheInitiatorsOwnMissingPagesAreALocalError) { check_own_pages_gone(); }
TEST(OnDemand, TheInitiatorsOwnMissingPagesAreALocalErrorThroughStaging) {
  run_opaque([] { check_own_pages_gone(); });
}
TEST(UnmappedMemory, OnTheInitiatorsSideIsALocalError) { check_own_pages_gone(kAllAccess); }

void check_null_region() {
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = kBytes}, [](TargetSide t) {
      ibv_mr* nothing = ibv_alloc_null_mr(t.side.domain());
      require(nothing != nullptr, "a null region");
      t.memory.fill(0x77);
      t.side.receive(t.qp, {{0, 100, nothing->lkey}, t.memory.segment(0, 1 << 20)}, 1);
      t.wire.meet();
      require(t.side.expect(IBV_WC_SUCCESS).byte_len == 200'300, "the length of the message");
      // 100 bytes dropped, 200 placed, then zeros.
      for (std::size_t i = 0; i < 200; ++i) {
        require(t.memory.bytes()[i] == pattern(5, i + 100), "byte " + std::to_string(i));
      }
      require(t.memory.first_not(0, 200, 200'000) == -1, "zeros");
      require(t.memory.first_not(0x77, 200'200, 1000) == -1, "and nothing behind them");
    });
  });
  Side side;
  Memory& memory = side.memory(kBytes);
  memory.fill_pattern(5, 0, kBytes);
  ibv_mr* nothing = ibv_alloc_null_mr(side.domain());
  ASSERT_NE(nothing, nullptr);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  connect_to_target(side, qp, child.wire());
  child.wire().meet();
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.send_flags = IBV_SEND_SIGNALED;
  side.post(qp, request, {memory.segment(0, 300), {0, 200'000, nothing->lkey}});
  side.expect(IBV_WC_SUCCESS);
  child.finish();
}

// Its lkey covers every address. Whoever asks the owner's service thread for a copy under it must
// not get at the owner's memory.
TEST(NullRegion, IsNoWayIntoItsOwnersMemory) {
  struct Prey {
    std::uint64_t address;
    std::uint32_t key, domain;
  };
  Child child([](Wire& wire) {
    be_target(wire, {}, [](TargetSide t) {
      std::vector<std::uint8_t> own(64, 0x77);  // not registered
      ibv_mr* nothing = ibv_alloc_null_mr(t.side.domain());
      t.wire.send(Prey{reinterpret_cast<std::uint64_t>(own.data()), nothing->lkey,
                       t.side.domain()->handle});
      t.wire.meet();
      require(own == std::vector<std::uint8_t>(64, 0x77), "no byte changes");
    });
  });
  Side side;
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  Endpoint target{};
  connect_to_target(side, qp, child.wire(), {}, &target);
  const auto prey = child.wire().receive<Prey>();
  const rnic::Token self = header_of(segment_of(qp->qp_num)).token;
  rnic::ServiceRequest& request = service_requests_of(segment_of(target.number))[9];
  request.key = prey.key;
  request.protection_domain = prey.domain;
  request.write = 1;
  request.address = prey.address;
  request.length = 64;
  request.staging = rnic::kArenaAt;
  request.word.store(rnic::service_word(self, rnic::ServiceState::kAsked));
  // Nobody rings: it looks once a second.
  const std::uint64_t answered = rnic::service_word(self, rnic::ServiceState::kAnswered);
  EXPECT_TRUE(soon([&] { return request.word.load() == answered; }));
  EXPECT_EQ(rnic::service_state(request.word.load()), rnic::ServiceState::kAnswered);
  EXPECT_EQ(request.result, static_cast<std::uint32_t>(EACCES));
  request.word.store(0);
  child.wire().meet();
  child.finish();
}

TEST(NullRegion, DropsAndGivesZerosBetweenProcesses) { check_null_region(); }
TEST(NullRegion, DropsAndGivesZerosWhereTheOwnerCopies) { run_opaque(check_null_region); }

}  // namespace
}  // namespace gdr::test

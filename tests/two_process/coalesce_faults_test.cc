// Errors in lists of short RDMA writes and reads, of which one system call carries several: an
// error is that of its own request, what is behind it is not placed, and whoever dies leaves a
// prefix.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdlib>

#include "base/clock.h"
#include "connection.h"
#include "missing_pages.h"
#include "request_list.h"

namespace gdr::test {
namespace {

constexpr std::size_t kPage = 4096;

enum class Wrong { kKey, kHoleThere, kHoleHere };

struct Error {
  Wrong wrong;
  std::uint32_t position;
  ibv_wr_opcode opcode;
};

std::string name_of(const testing::TestParamInfo<Error>& info) {
  static const char* const kNames[] = {"Key", "HoleThere", "HoleHere"};
  return std::string(info.param.opcode == IBV_WR_RDMA_READ ? "Read" : "Write") +
         kNames[static_cast<int>(info.param.wrong)] + "At" + std::to_string(info.param.position);
}

void make_hole(Memory& memory, std::size_t at) {
  require(take_pages_away(memory.bytes() + at, kPage), "a hole");
}

class ErrorInAList : public testing::TestWithParam<Error> {};

// Each request has a page of its own on both sides.
TEST_P(ErrorInAList, IsThatOfItsRequestAndNothingBehindItIsPlaced) {
  constexpr std::uint32_t kRequests = 12;
  const auto [wrong, position, opcode] = GetParam();
  const bool writes = opcode == IBV_WR_RDMA_WRITE;
  Child child([=](Wire& wire) {
    be_target(wire, {.bytes = kRequests * kPage}, [=](TargetSide t) {
      for (std::uint32_t i = 0; i < kRequests && !writes; ++i) t.memory.bytes()[i * kPage] = 0x33;
      if (wrong == Wrong::kHoleThere) make_hole(t.memory, position * kPage);
      t.wire.meet();
      t.wire.meet();
      for (std::uint32_t i = 0; i < kRequests && writes; ++i) {
        if (wrong == Wrong::kHoleThere && i == position) continue;
        require(t.memory.bytes()[i * kPage] == (i < position ? 0x33 : 0), "a prefix is placed");
      }
    });
  });
  Side side;
  Memory& memory = side.memory(kRequests * kPage);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  Remote there = connect_to_target(side, qp, child.wire());
  RequestList list(opcode);
  for (std::uint32_t i = 0; i < kRequests; ++i) {
    if (writes) memory.bytes()[i * kPage] = 0x33;
    Remote its = there;
    if (wrong == Wrong::kKey && i == position) its.key ^= 0x10;
    list.add(memory, i * kPage, 8, its, i * kPage);
  }
  if (wrong == Wrong::kHoleHere) make_hole(memory, position * kPage);
  child.wire().meet();
  list.post(qp, true);
  const ibv_wc_status status = wrong == Wrong::kKey         ? IBV_WC_REM_ACCESS_ERR
                               : wrong == Wrong::kHoleThere ? IBV_WC_REM_OP_ERR
                                                            : IBV_WC_LOC_PROT_ERR;
  for (std::uint32_t i = 0; i < kRequests; ++i) {
    const ibv_wc one = side.expect(i < position    ? IBV_WC_SUCCESS
                                   : i == position ? status
                                                   : IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(one.wr_id, i);
    if (writes || (wrong == Wrong::kHoleHere && i == position)) continue;
    EXPECT_EQ(memory.bytes()[i * kPage], i < position ? 0x33 : 0) << i;
  }
  child.wire().meet();
  child.finish();
}

constexpr Error kErrors[] = {
    {Wrong::kKey, 0, IBV_WR_RDMA_WRITE},        {Wrong::kKey, 1, IBV_WR_RDMA_WRITE},
    {Wrong::kKey, 7, IBV_WR_RDMA_WRITE},        {Wrong::kKey, 11, IBV_WR_RDMA_WRITE},
    {Wrong::kKey, 7, IBV_WR_RDMA_READ},         {Wrong::kHoleThere, 0, IBV_WR_RDMA_WRITE},
    {Wrong::kHoleThere, 1, IBV_WR_RDMA_WRITE},  {Wrong::kHoleThere, 7, IBV_WR_RDMA_WRITE},
    {Wrong::kHoleThere, 11, IBV_WR_RDMA_WRITE}, {Wrong::kHoleThere, 7, IBV_WR_RDMA_READ},
    {Wrong::kHoleHere, 0, IBV_WR_RDMA_WRITE},   {Wrong::kHoleHere, 7, IBV_WR_RDMA_WRITE},
    {Wrong::kHoleHere, 11, IBV_WR_RDMA_WRITE},  {Wrong::kHoleHere, 7, IBV_WR_RDMA_READ},
};
INSTANTIATE_TEST_SUITE_P(AtEachPosition, ErrorInAList, testing::ValuesIn(kErrors), name_of);

// Their places touch, and the third one's end lies on a page that is not there.
TEST(CoalescedLists, AWriteWhoseSecondPageIsMissingFailsByItself) {
  constexpr std::size_t kFirst = kPage - 20;
  Child child([](Wire& wire) {
    be_target(wire, {.bytes = 2 * kPage}, [](TargetSide t) {
      make_hole(t.memory, kPage);
      t.wire.meet();
      t.wire.meet();
      require(t.memory.first_not(0, 0, kFirst) == -1, "nothing before them");
      require(t.memory.first_not(0x33, kFirst, 16) == -1, "the first two");
    });
  });
  Side side;
  Memory& memory = side.memory(kPage);
  memory.fill(0x33);
  ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
  const Remote to = connect_to_target(side, qp, child.wire());
  RequestList list(IBV_WR_RDMA_WRITE);
  for (std::size_t i = 0; i < 6; ++i) list.add(memory, i * 64, 8, to, kFirst + i * 8);
  child.wire().meet();
  list.post(qp, true);
  for (const ibv_wc_status status : {IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_REM_OP_ERR,
                                     IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR}) {
    side.expect(status);
  }
  child.wire().meet();
  child.finish();
}
// The initiator dies at a moment of a list that several calls carry.
class DeathInAList : public testing::Test {
 protected:
  static constexpr std::uint32_t kRequests = 200;

  void SetUp() override {
#ifndef GDR_FAULT_HOOKS
    GTEST_SKIP() << "built without fault hooks";
#endif
  }
  // How many of the list are there then.
  static std::uint32_t placed_by_death_at(const char* moment) {
    Child child([moment](Wire& wire) {
      setenv("GDR_KILL", moment, 1);
      Side side;
      Memory& memory = side.memory(kPage);
      memory.fill(0x33);
      ibv_qp* qp = side.queue_pair(IBV_QPT_RC, RequestList::kMost);
      wire.send(side.endpoint(qp));
      side.connect(qp, wire.receive<Endpoint>());
      const auto to = wire.receive<Remote>();
      wire.meet();
      RequestList list(IBV_WR_RDMA_WRITE);
      for (std::size_t i = 0; i < kRequests; ++i) list.add(memory, i, 8, to, i * 64);
      list.post(qp, false);
    });
    Side side;
    Memory& memory = side.memory(kRequests * 64);
    ibv_qp* qp = side.queue_pair(IBV_QPT_RC);
    const auto there = child.wire().receive<Endpoint>();
    child.wire().send(side.endpoint(qp));
    side.connect(qp, there);
    child.wire().send(memory.remote());
    child.wire().meet();
    siginfo_t ended{};
    EXPECT_EQ(waitid(P_PID, static_cast<id_t>(child.pid()), &ended, WEXITED | WNOWAIT), 0);
    EXPECT_EQ(ended.si_status, SIGKILL);
    std::uint32_t placed = 0;
    while (placed < kRequests && memory.bytes()[placed * 64] == 0x33) ++placed;
    for (std::uint32_t i = placed; i < kRequests; ++i) EXPECT_EQ(memory.bytes()[i * 64], 0) << i;
    const Nanoseconds start = now();
    EXPECT_EQ(ibv_destroy_qp(qp), 0);
    memory.deregister();
    EXPECT_LT(now() - start, 20 * kSecond);
    child.kill();
    return placed;
  }
};

TEST_F(DeathInAList, LeavesWhatTheCallsUntilThenHaveCarriedAndHoldsUpNobody) {
  EXPECT_EQ(placed_by_death_at("locked:1"), 0u);
  const std::uint32_t by_one = placed_by_death_at("copied:1");
  EXPECT_GT(by_one, 1u);
  EXPECT_LE(by_one, 64u) << "so many are carried by one call at most";
  EXPECT_EQ(placed_by_death_at("locked:2"), by_one);
  EXPECT_EQ(placed_by_death_at("copied:2"), 2 * by_one);
}

}  // namespace
}  // namespace gdr::test
